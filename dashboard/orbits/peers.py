"""The usual methods on the page's features: begun once for each scene and K, computed aside, asked for without waiting."""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from concurrent.futures import Future
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np

from dashboard.engine import tasks
from dashboard.engine.client import Engine, get_engine
from dashboard.engine.handles import EngineError
from dashboard.process_state import once
from ddcl_core.config import RunConfig
from ddcl_core.orbits import REGIMES, Catalogue, features

KEPT = 16


@dataclass(frozen=True)
class PeerState:
    """rows: of `methods.row` once `state` is 'done'; otherwise words and progress, or the sentence of an error."""

    state: str
    text: str = ""
    progress: float = 0.0
    rows: tuple[dict[str, Any], ...] = ()


class Peers:
    """Key -> Future of the comparison. Thread-safe; the ones used longest ago are forgotten."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._kept: OrderedDict[str, Future[Any]] = OrderedDict()
        self._lock = Lock()

    def state(self, config: RunConfig, catalogue: Catalogue) -> PeerState:
        """How far the comparison for these features, this K and seed is; the first question begins it."""
        known = json.dumps([config.to_dict()["data"], config.seed, config.num_prototypes])
        key = f"peers-{hashlib.sha256(known.encode()).hexdigest()[:16]}"
        with self._lock:
            future = self._kept.get(key)
            if future is not None and future.done() and (future.cancelled() or future.exception() is not None):
                del self._kept[key]  # the next question tries again
                return PeerState("error", "The other methods could not be computed; look again to try once more.")
            if future is None:
                points, _ = features(catalogue, config.data.dim)
                labels = np.asarray(catalogue.regime)
                try:
                    future = self._engine.begin(
                        tasks.compare_methods, points.astype(np.float32), labels, len(REGIMES), config.num_prototypes,
                        config.seed, key,
                    )  # fmt: skip
                except EngineError as error:
                    return PeerState("waiting", str(error))
                self._kept[key] = future
            self._kept.move_to_end(key)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)[1].cancel()
        if future.done():
            return PeerState("done", rows=tuple(future.result()))
        progress, text = self._engine.progress(key) or (0.0, "The other methods wait for their worker")
        return PeerState("working", text, progress)


def peers() -> Peers:
    """The comparisons of this server process."""
    return once("orbit peers", lambda: Peers(get_engine()))
