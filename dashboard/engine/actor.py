"""A live run on a worker: a plain object that Dask keeps as an actor. Torch is imported when one is made."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dashboard.engine import kinds, packing
from dashboard.live import wire
from dashboard.live.frames import MAP_KINDS

STORE_LIMIT = 240  # frames kept for a map that is still being fitted, 0.1 MB each at 1500 tokens
PLACED_PER_MESSAGE = 24
SNAPSHOT_SECONDS = 2.0


class LiveRun:
    """Wraps a run of any kind: trains in slices, places frames on maps, packs them for the wire, takes snapshots.

    config: a configuration as a dictionary. scene: what runs share, which Dask brings from the worker that loaded it.
    snapshot: bytes of an earlier `advance`, to go on from there. maps: kind -> bytes of a fitted map.
    run: for tests, a factory (config, scene, snapshot) of something with TrainingRun's interface.
    kind: name of the kind of run, see `dashboard.engine.kinds`.

    The calls of all runs of a worker share one thread and are served in the order they came, so that runs with one
    call under way each get slices in turn.
    """

    def __init__(
        self,
        config: Mapping[str, Any],
        scene: Any,
        snapshot: bytes | None = None,
        maps: Mapping[str, bytes] | None = None,
        run: Callable[..., Any] | None = None,
        load_map: Callable[[bytes], Any] | None = None,
        kind: str = "prototypes",
    ) -> None:
        self._kind = kinds.kind_named(kind)
        self._run = (run or self._make)(dict(config), scene, snapshot)
        self._load_map = load_map or _load_map
        self._scene = scene
        self._maps: dict[str, Any] = {}
        self._store: list[packing.StoredFrame] = []
        self._store_stride = 1
        self._captured = 0
        self._unplaced: list[packing.StoredFrame] = []
        self._sent_step = -1
        self._saved_at = time.monotonic()
        self._spread = 1.0
        self._planes = packing.sampled_planes(scene, self._run)
        for kind, blob in (maps or {}).items():
            self._maps[kind] = self._load_map(blob)

    def describe(self) -> dict[str, Any]:
        """What the view must know before the first frame; see "hello" of the protocol."""
        info = self._run.sample_info()
        scene = self._scene
        return {
            "labels": np.asarray(info["labels"]),
            "documents": np.asarray(info["documents"]),
            "words": list(info["words"]),
            "class_names": list(info["class_names"]),
            "step": int(self._run.step),
            "num_documents": int(getattr(scene, "num_documents", 0)),
            "name": scene.name,
            "source": scene.source,
            "notes": [*scene.notes, *getattr(self._run, "notes", [])],
            "explained_variance": getattr(scene, "explained_variance", None),
            "planes": {plane.name: packing.plane_message(plane) for plane in self._planes},
        }

    def still(self, panel: int = 0) -> bytes | None:
        """The "still" message: what never changes in this run's pictures, beyond `describe`."""
        found = self._kind.still(self._run)
        return None if found is None else wire.pack({**found[0], "type": "still", "panel": panel}, found[1])

    def advance(
        self,
        budget_ms: float = 150.0,
        controls: Mapping[str, Any] | None = None,
        since: int | None = None,
        panel: int = 0,
        n: int = 0,
        snapshot_after: float = SNAPSHOT_SECONDS,
        look: bool = False,
    ) -> dict[str, Any]:
        """Train one slice and return messages ready to send ("frames", "history") beside the state reached.

        controls: of `TrainingRun.advance`. since: the last step whose metrics the caller has (None: as sent before).
        panel, n: go into the messages' headers. snapshot_after: take a snapshot when the last is older, in seconds.
        look: return a frame of the step reached even if none is due, as a single step by hand wants.
        """
        began = time.perf_counter()
        run = self._run
        controls = {key: value for key, value in dict(controls or {}).items() if value is not None}
        if since is not None:
            self._sent_step = since
        if any(name.partition("@")[0] in ("epsilon", "temperature") for name in controls):
            self._sent_step = min(self._sent_step, run.step - 1)  # the present step is measured anew
        frames = list(run.advance(budget_ms, controls))
        if look and (not frames or frames[-1].step != run.step) and hasattr(run, "look"):
            frames.append(run.look())
        trained = time.perf_counter()
        result: dict[str, Any] = {
            "step": int(run.step),
            "status": run.status,
            "finished": bool(run.status == "diverged"),
            "epsilon": float(run.epsilon),
            "temperature": float(run.temperature),
            "frames": self._pack(frames, panel, n) if frames else None,
            "count": len(frames),
            "history": self._pack_history(panel),
            "snapshot": self._snapshot(snapshot_after),
            "unplaced": len(self._unplaced),
        }
        result["train_ms"] = 1e3 * (trained - began)
        result["total_ms"] = 1e3 * (time.perf_counter() - began)
        return result

    def extend(self, max_steps: int) -> None:
        """Let the run go on to `max_steps`."""
        self._run.max_steps = int(max_steps)

    def add_map(self, kind: str, blob: bytes) -> int:
        """Use a map that has become ready from now on; returns how many earlier frames `placed` still has to place."""
        if kind not in self._maps:
            self._maps[kind] = self._load_map(blob)
            self._unplaced = self._store if kind == "umap" else []
            self._store = []
        return len(self._unplaced)

    def placed(self, budget_ms: float = 50.0, panel: int = 0, kind: str = "umap") -> dict[str, Any]:
        """Place earlier frames on a map that became ready later, newest first, within the budget."""
        messages: list[bytes] = []
        deadline = time.perf_counter() + budget_ms / 1e3
        while self._unplaced and (not messages or time.perf_counter() < deadline):
            some = self._unplaced[-PLACED_PER_MESSAGE:]
            del self._unplaced[-PLACED_PER_MESSAGE:]
            arrays = {"step": np.array([frame.step for frame in some], dtype=np.int32)}
            arrays |= packing.place(some, kind, self._maps[kind].place, self._spread)
            messages.append(wire.pack({"type": "placed", "panel": panel}, arrays))
        return {"messages": messages, "unplaced": len(self._unplaced)}

    def assign(self) -> dict[str, Any]:
        """Leading prototype, strength and distance of every token as they are now; see `TrainingRun.assign`."""
        return self._run.assign()

    def ask(self, function: str, **arguments: Any) -> Any:
        """Call "module:name" of this program with the run and what else is given: a look at it that changes nothing.

        The name comes from the program itself, never from a client. Raises ValueError for any other module.
        """
        module, _, name = function.partition(":")
        if module.split(".")[0] not in ("dashboard", "ddcl_core"):
            raise ValueError(f"{function!r} is not a function of this program.")
        return getattr(importlib.import_module(module), name)(self._run, **arguments)

    def save(self) -> bytes:
        """A snapshot of the run as it is now."""
        return self._run.save()

    # ---- packing ---------------------------------------------------------------------------------------------------

    def _make(self, config: dict[str, Any], scene: Any, snapshot: bytes | None) -> Any:
        return self._kind.make(self._kind.config_of(config), scene, snapshot)

    def _pack(self, taken: list[Any], panel: int, n: int) -> bytes:
        frames = [self._kind.frame_of(frame) for frame in taken]
        if self._captured == 0:
            first = frames[0].metrics.get("token_spread", float("nan"))
            self._spread = float(np.sqrt(first)) if np.isfinite(first) and first > 0 else 1.0
        arrays = packing.describe(frames, self._kind.METRIC_NAMES)
        arrays |= packing.batched([self._kind.extras(frame, self._run) for frame in taken])
        for kind in MAP_KINDS:
            if kind in self._maps:
                arrays |= packing.place(frames, kind, self._maps[kind].place, self._spread)
        for plane in self._planes:
            arrays[f"proto_{plane.name}"] = packing.on_plane(frames, plane)
        chosen = next((self._maps[kind] for kind in reversed(MAP_KINDS) if kind in self._maps), None)
        off = [chosen.off_map(frame.tokens) if chosen is not None else 0.0 for frame in frames]
        arrays["off_map"] = np.array(off, dtype=np.float32)
        self._keep(frames)
        return wire.pack({"type": "frames", "panel": panel, "n": n, "count": len(frames)}, arrays)

    def _keep(self, frames: list[Any]) -> None:
        if "umap" in self._maps:
            return
        for frame in frames:
            if self._captured % self._store_stride == 0:
                self._store.append(packing.StoredFrame.of(frame))
            self._captured += 1
        if len(self._store) > STORE_LIMIT:  # thin evenly
            self._store = self._store[::2]
            self._store_stride *= 2

    def _pack_history(self, panel: int) -> bytes | None:
        arrays = packing.history_arrays(self._run.history, self._kind.METRIC_NAMES, self._sent_step)
        if arrays is None:
            return None
        self._sent_step = int(arrays["step"][-1])
        return wire.pack({"type": "history", "panel": panel}, arrays)

    def _snapshot(self, after: float) -> bytes | None:
        now = time.monotonic()
        if now - self._saved_at < after:
            return None
        self._saved_at = now
        return self._run.save()


def _load_map(blob: bytes) -> Any:
    from ddcl_core import atlas

    return atlas.map_from_bytes(blob)
