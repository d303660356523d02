"""Small stand-ins: a run without torch, a map without umap, an engine without processes."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

from dashboard.engine.actor import LiveRun
from dashboard.engine.client import EngineStatus
from dashboard.engine.handles import WorkerLost
from dashboard.live import wire
from ddcl_core.config import RunConfig
from ddcl_core.frame import METRIC_NAMES, Controls, Frame, frame_due

S, K, D = 12, 3, 4


class FakeRun:
    """TrainingRun's interface on a few numbers that depend on the seed, epsilon and the step alone."""

    def __init__(self, config: RunConfig, scene: Any = None, step_seconds: float = 0.0) -> None:
        self.config, self.scene = config, scene
        self.step, self.epsilon, self.hand = 0, config.epsilon, None
        self.max_steps = config.max_steps
        self.status = "stable"
        self.rows: list[list[float]] = []
        self.last_frame: Frame | None = None
        self._step_seconds = step_seconds
        rng = np.random.default_rng(config.seed)
        self.tokens = rng.normal(size=(S, D)).astype(np.float32)
        self.prototypes = rng.normal(size=(K, D)).astype(np.float32)

    @property
    def temperature(self) -> float:
        return self.config.temperature if self.hand is None else self.hand

    @property
    def finished(self) -> bool:
        return self.step >= self.max_steps

    @property
    def history(self) -> dict[str, np.ndarray]:
        table = np.array(self.rows).reshape(-1, len(METRIC_NAMES) + 1)
        return {"step": table[:, 0].astype(int)} | dict(zip(METRIC_NAMES, table[:, 1:].T))

    def sample_info(self) -> dict[str, Any]:
        return {
            "labels": np.arange(S) % 2, "documents": np.arange(S) // 4, "words": [f"w{i}" for i in range(S)],
            "class_names": ["a", "b"],
        }  # fmt: skip

    def advance(self, budget_ms: float, controls: Any = None, max_frames: int | None = None) -> list[Frame]:
        controls = Controls.of(controls)
        self.epsilon = self.epsilon if controls.epsilon is None else controls.epsilon
        self.hand = self.hand if controls.temperature is None else controls.temperature
        until = self.max_steps if controls.until_step is None else min(controls.until_step, self.max_steps)
        deadline, frames, moved = time.perf_counter() + budget_ms / 1e3, [], False
        while True:
            if not self.rows or self.rows[-1][0] != self.step:
                metrics = self._metrics()
                self.rows.append([self.step, *(metrics[name] for name in METRIC_NAMES)])
                if frame_due(self.step, self.config.frame_every) or self.step >= self.max_steps:
                    frames.append(self.look())
            if self.step >= until or (moved and time.perf_counter() >= deadline):
                return frames
            if self._step_seconds:
                time.sleep(self._step_seconds)
            self.tokens = self.tokens * (1.0 - 0.02 * self.epsilon)
            self.step += 1
            moved = True

    def look(self) -> Frame:
        q = np.full((S, K), 1.0 / K, dtype=np.float32)
        self.last_frame = Frame(
            self.step, self.epsilon, self.temperature, self.prototypes, self.tokens.copy(), q, q.mean(0),
            np.ones((K, D), np.float32), -np.ones((K, D), np.float32), self._metrics(), self.status, None,
        )  # fmt: skip
        return self.last_frame

    def save(self) -> bytes:
        state = {"config": self.config.to_dict(), "step": self.step, "epsilon": self.epsilon, "hand": self.hand}
        return json.dumps(state | {"rows": self.rows, "tokens": self.tokens.tolist(), "max": self.max_steps}).encode()

    @classmethod
    def restore(cls, data: bytes, scene: Any = None, **options: Any) -> "FakeRun":
        state = json.loads(data)
        run = cls(RunConfig.from_dict(state["config"]), scene, **options)
        run.step, run.epsilon, run.hand, run.rows = state["step"], state["epsilon"], state["hand"], state["rows"]
        run.tokens, run.max_steps = np.array(state["tokens"], dtype=np.float32), state["max"]
        return run

    def _metrics(self) -> dict[str, float]:
        spread = float(self.tokens.var(0).sum())
        values = dict.fromkeys(METRIC_NAMES, 1.0) | {"token_spread": spread, "critical_temperature": 4 * spread}
        return values | {"epsilon": self.epsilon, "temperature": self.temperature, "effective_prototypes": 3.0}


class FakeMap:
    """Draws the first two dimensions."""

    def __init__(self, blob: bytes) -> None:
        self.scale = float(blob.decode())

    def place(self, points: np.ndarray) -> np.ndarray:
        return points[:, :2] * self.scale

    def off_map(self, points: np.ndarray) -> float:
        return 0.5


@dataclass
class FakeScene:
    num_documents: int = 3
    name: str = "fake"
    source: str = "made up"
    notes: list[str] = field(default_factory=list)
    explained_variance: float | None = None


class FakeHandle:
    """A LiveRun in this process; `lose` makes it behave like one whose worker died."""

    def __init__(self, engine: "FakeEngine", run: LiveRun) -> None:
        self._engine, self._run = engine, run
        self.share, self.lost, self.released, self.calls = 1, False, False, []

    async def call(self, method: str, *args: Any, timeout: float = 0.0, **kwargs: Any) -> Any:
        await asyncio.sleep(0.001)
        if self.lost or self.released:
            raise WorkerLost("gone")
        self.calls.append((method, args, kwargs))
        result = await asyncio.get_running_loop().run_in_executor(
            None, lambda: getattr(self._run, method)(*args, **kwargs)
        )
        if self.lost:
            raise WorkerLost("gone")
        return result

    def lose(self) -> None:
        self.lost = True

    def release(self) -> None:
        self.released = True


class FakeEngine:
    """Ready at once; the UMAP comes when `umap_ready` is set."""

    def __init__(self, step_seconds: float = 0.0, snapshot_after: float = 0.0) -> None:
        self.step_seconds, self.snapshot_after = step_seconds, snapshot_after
        self.handles: list[FakeHandle] = []
        self.umap_ready = asyncio.Event()
        self.failure: Exception | None = None

    def status(self) -> EngineStatus:
        return EngineStatus("ready", "Ready", 1.0, "CPU · 2 workers")

    def progress(self, topic: str) -> tuple[float, str] | None:
        return (0.5, "Half way")

    async def wait_ready(self, report: Any = None) -> None:
        report("Starting workers", 0.1)

    async def prepare(self, configs: Any) -> Any:
        engine = self

        async def ready() -> None:
            if engine.failure is not None:
                raise engine.failure

        async def made(kind: str) -> dict[str, Any]:
            if kind == "umap":
                await engine.umap_ready.wait()
            header = {"type": "map", "kind": kind, "available": True, "fitting": False, "progress": 1.0, "note": ""}
            header |= {"explained_variance": [0.6, 0.3], "placement_error": None}
            arrays = {"reference": np.zeros((5, 2), np.int16), "reference_labels": np.zeros(5, np.uint16)}
            blob = b"1.0" if kind == "pca" else b"0.5"
            return {"blob": blob, "message": wire.pack(header, arrays), "available": True}

        return SimpleNamespace(topic="t", ready=ready, map=made, tokens=None)

    async def create_run(self, config: RunConfig, scene: Any, snapshot: Any = None, maps: Any = None) -> FakeHandle:
        def make(values: dict[str, Any], tokens: Any, saved: bytes | None) -> FakeRun:
            if saved is not None:
                return FakeRun.restore(saved, tokens, step_seconds=self.step_seconds)
            return FakeRun(RunConfig.from_dict(values), tokens, step_seconds=self.step_seconds)

        run = LiveRun(config.to_dict(), FakeScene(), snapshot, maps, run=make, load_map=FakeMap)
        plain_advance, more = run.advance, {"snapshot_after": self.snapshot_after}
        run.advance = lambda *a, **k: plain_advance(*a, **k | more)  # type: ignore[method-assign]
        handle = FakeHandle(self, run)
        self.handles.append(handle)
        return handle


class Client:
    """Collects what a session sends; acknowledges by itself unless told not to."""

    def __init__(self, acknowledge: bool = True) -> None:
        self.received: list[tuple[dict[str, Any], dict[str, np.ndarray]]] = []
        self.session: Any = None
        self._acknowledge = acknowledge

    def __call__(self, message: bytes) -> None:
        header, arrays = wire.unpack(message)
        self.received.append((header, arrays))
        if header["type"] == "frames" and self._acknowledge and self.session is not None:
            asyncio.get_running_loop().call_soon(self.session.handle, {"type": "ack", "n": header["n"]})

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [header for header, _ in self.received if header["type"] == kind]

    def steps(self, panel: int) -> list[int]:
        return [
            int(step)
            for header, arrays in self.received
            if header["type"] == "frames" and header["panel"] == panel
            for step in arrays["step"]
        ]

    async def until(self, condition: Any, timeout: float = 5.0) -> None:
        deadline = time.monotonic() + timeout
        while not condition():
            assert time.monotonic() < deadline, f"waited {timeout} s in vain; got {[h for h, _ in self.received][-5:]}"
            await asyncio.sleep(0.01)
