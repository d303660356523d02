"""Scenes that pages have registered: what a live socket may open, under names nobody can guess."""

from __future__ import annotations

import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dashboard.process_state import once
from ddcl_core.errors import InputError

MAX_PANELS = 4


@dataclass(frozen=True)
class LiveScene:
    """One to four runs of one kind side by side, on the same data and seed.

    map_kind: the map the page shows first. speed: steps a second to begin with; 0 is as fast as it can.
    """

    configs: tuple[Any, ...]
    labels: tuple[str, ...]
    map_kind: str = "umap"
    speed: float = 8.0

    def __post_init__(self) -> None:
        if not 1 <= len(self.configs) <= MAX_PANELS:
            raise InputError(f"A scene has {len(self.configs)} panels; it can have 1 to {MAX_PANELS}.")
        if len(self.labels) != len(self.configs):
            raise InputError(f"There are {len(self.configs)} panels but {len(self.labels)} labels; give each one.")
        first = self.configs[0]
        if any(type(c) is not type(first) or c.data != first.data or c.seed != first.seed for c in self.configs):
            raise InputError("The panels of a scene share one map, so give them the same data and the same seed.")


class Registry:
    """Token -> LiveScene; bounded, and forgetting what has not been used for `lifetime` seconds. Thread-safe."""

    def __init__(
        self, capacity: int = 512, lifetime: float = 12 * 3600.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._scenes: OrderedDict[str, tuple[LiveScene, float]] = OrderedDict()
        self._capacity = capacity
        self._lifetime = lifetime
        self._clock = clock
        self._lock = threading.Lock()

    def register(
        self,
        configs: Sequence[Any],
        labels: Sequence[str] | None = None,
        *,
        map_kind: str = "umap",
        speed: float = 8.0,
        reuse: str | None = None,
    ) -> str:
        """Keep a scene and return its token.

        `reuse`: a token this page got before; it is returned again when its scene is the same, so that a rerun of the
        page does not start the runs anew. Raises InputError when the panels cannot share a map.
        """
        labels = tuple(labels) if labels is not None else tuple("ABCD"[: len(configs)])
        scene = LiveScene(tuple(configs), labels, map_kind, float(speed))
        with self._lock:
            self._expire()
            if reuse is not None and self._scenes.get(reuse, (None,))[0] == scene:
                self._touch(reuse, scene)
                return reuse
            token = secrets.token_urlsafe(18)
            self._touch(token, scene)
            while len(self._scenes) > self._capacity:
                self._scenes.popitem(last=False)
            return token

    def get(self, token: str) -> LiveScene | None:
        """The scene behind a token, or None when it is unknown or has expired."""
        with self._lock:
            self._expire()
            entry = self._scenes.get(token)
            if entry is None:
                return None
            self._touch(token, entry[0])
            return entry[0]

    def __len__(self) -> int:
        with self._lock:
            return len(self._scenes)

    def _touch(self, token: str, scene: LiveScene) -> None:
        self._scenes[token] = (scene, self._clock())
        self._scenes.move_to_end(token)

    def _expire(self) -> None:
        horizon = self._clock() - self._lifetime
        while self._scenes and next(iter(self._scenes.values()))[1] < horizon:
            self._scenes.popitem(last=False)


def registry() -> Registry:
    """The registry of this server process."""
    return once("registry", Registry)


def register_scene(
    configs: Sequence[Any], labels: Sequence[str] | None = None, *, reuse: str | None = None, **options: object
) -> str:
    """What a page calls: keep the scene and return the token that the live view opens it with."""
    return registry().register(configs, labels, reuse=reuse, **options)
