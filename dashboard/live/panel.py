"""One side of a session: its run on a worker, what has been asked of it, and what it has shown."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from dashboard.engine.kinds import kind_of
from dashboard.live import wire
from dashboard.live.track import Track

_SLICE_MS = (20.0, 150.0)
_ROUND_MS = 400.0  # how long all the runs of one worker may take for one slice each


@dataclass
class Panel:
    """State of one panel; the session decides when it advances.

    pending: control values that the next slice takes along. hand: the last values set by hand, which a run that is
    made anew from a snapshot must get again.
    """

    index: int
    label: str
    config: Any
    epsilon: float
    temperature: float
    max_steps: int
    handle: Any = None
    step: int = 0
    finished: bool = False
    status: str = "unresolved"
    snapshot: bytes | None = None
    snapshot_step: int = 0
    pending: dict[str, float] = field(default_factory=dict)
    hand: dict[str, float] = field(default_factory=dict)
    controls: list[dict[str, Any]] = field(default_factory=list)
    track: Track = field(default_factory=Track)
    recoveries: int = 0

    @classmethod
    def of(cls, index: int, label: str, config: Any) -> "Panel":
        """A panel before its first step."""
        kind = kind_of(config)
        track = Track(names=kind.METRIC_NAMES, light=kind.LIGHT)
        return cls(index, label, config, config.epsilon, config.temperature, config.max_steps, track=track)

    @property
    def budget_ms(self) -> float:
        """Length of a slice: shorter the more runs share the worker, so that each gets its turn soon."""
        return min(max(_ROUND_MS / max(getattr(self.handle, "share", 1), 1), _SLICE_MS[0]), _SLICE_MS[1])

    @property
    def snapshot_seconds(self) -> float:
        """How much a lost worker may cost: 2 s, or more where many runs would spend their time on snapshots."""
        return max(2.0, 0.75 * getattr(self.handle, "share", 1))

    def ask(self, values: dict[str, float]) -> None:
        """Remember control values; the latest win."""
        self.pending |= values
        self.hand |= values

    async def advance(self, until_step: int, n: int, *, who: str = "both", look: bool = False) -> dict[str, Any]:
        """One slice. Raises WorkerLost; then the pending controls are kept for the next attempt."""
        asked, self.pending = self.pending, {}
        before = self.step
        try:
            result = await self.handle.call(
                "advance",
                self.budget_ms,
                {**asked, "until_step": until_step, "who": who},
                since=self.track.last_step,
                panel=self.index,
                n=n,
                look=look,
                snapshot_after=self.snapshot_seconds,
            )
        except BaseException:
            self.pending = asked | self.pending
            raise
        if asked:
            self.controls.append({"step": before, **asked})
            result["applied"] = before
        self._take(result)
        return result

    def _take(self, result: dict[str, Any]) -> None:
        self.step, self.status, self.finished = result["step"], result["status"], result["finished"]
        self.epsilon, self.temperature = result["epsilon"], result["temperature"]
        if result["frames"] is not None:
            self.track.add_frames(wire.unpack(result["frames"])[1])
        if result["history"] is not None:
            self.track.add_history(wire.unpack(result["history"])[1])
        if result["snapshot"] is not None:
            self.snapshot, self.snapshot_step = result["snapshot"], result["step"]
            self.recoveries = 0

    async def make(self, create: Callable[..., Awaitable[Any]], maps: dict[str, bytes]) -> None:
        """Make the run on a worker: a new one, or one that goes on from the last snapshot."""
        if self.handle is not None:
            self.handle.release()
        self.handle = None
        self.handle = await create(self.config, self.snapshot, maps)
        if self.snapshot is None:
            self.track.rewind(-1)
        else:
            self.track.rewind(self.snapshot_step)
            self.pending = self.hand | self.pending
        self.step, self.finished = (0 if self.snapshot is None else self.snapshot_step), False
        if self.max_steps != self.config.max_steps:
            await self.handle.call("extend", self.max_steps)

    def release(self) -> None:
        """Let the worker forget the run."""
        if self.handle is not None:
            self.handle.release()
            self.handle = None
