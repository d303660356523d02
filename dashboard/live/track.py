"""What one panel has shown so far: its frames, thinned evenly when there are many, and the metrics of every step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from dashboard.live.frames import runs_of_like, split, stack
from ddcl_core.frame import METRIC_NAMES

FRAME_LIMIT = 600
HEAVY_FRAMES, HEAVY_EVERY = 40, 8  # the newest frames, and of the older ones one in so many, keep their large arrays


class Track:
    """Frames in the order of their steps, and one row of metrics a step.

    Beyond `limit` frames every second one is dropped and from then on only every second new one is kept, and so on;
    the newest is always there. A frame of a step that is not after the last one replaces everything from that step
    on: a worker was lost and the run went back, or a control changed what the present step measures.
    names: of the metrics. light: extras that older frames lose.
    """

    def __init__(
        self, limit: int = FRAME_LIMIT, names: Sequence[str] = METRIC_NAMES, light: Sequence[str] = ()
    ) -> None:
        self.names = tuple(names)
        self._light = tuple(f"x_{name}" for name in light)
        self._limit = limit
        self._frames: list[dict[str, np.ndarray]] = []
        self._ordinals: list[int] = []
        self._stride = 1
        self._seen = 0
        self._steps = np.zeros(64, dtype=np.int32)
        self._rows = np.zeros((64, len(self.names)), dtype=np.float32)
        self._count = 0

    @property
    def frames(self) -> list[dict[str, np.ndarray]]:
        """The kept frames, oldest first; do not change them."""
        return self._frames

    @property
    def last_frame_step(self) -> int:
        """Step of the newest frame, -1 without any."""
        return int(self._frames[-1]["step"]) if self._frames else -1

    @property
    def last_step(self) -> int:
        """Last step whose metrics are known, -1 without any."""
        return int(self._steps[self._count - 1]) if self._count else -1

    @property
    def steps(self) -> np.ndarray:
        """(n,) the steps whose metrics are known."""
        return self._steps[: self._count]

    @property
    def metrics(self) -> np.ndarray:
        """(n, M) metrics of those steps, in the order of `names`."""
        return self._rows[: self._count]

    def history(self) -> dict[str, np.ndarray]:
        """Name -> (n,) values, with 'step' among them."""
        return {"step": self.steps} | dict(zip(self.names, self.metrics.T))

    def add_frames(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Keep F frames that arrived together."""
        fresh = split(arrays)
        self._drop_from(int(fresh[0]["step"]))
        for frame in fresh:
            # The newest frame stays in the list even when the stride would leave it out; its successor replaces it.
            if self._ordinals and self._ordinals[-1] % self._stride:
                self._frames.pop(), self._ordinals.pop()
            self._frames.append(frame)
            self._ordinals.append(self._seen)
            self._seen += 1
            self._lighten()
            if len(self._frames) > self._limit:
                self._stride *= 2
                last = len(self._ordinals) - 1
                kept = [i for i, n in enumerate(self._ordinals) if n % self._stride == 0 or i == last]
                self._frames = [self._frames[i] for i in kept]
                self._ordinals = [self._ordinals[i] for i in kept]

    def add_history(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Keep the metrics of n steps; those of known steps are replaced, later ones forgotten."""
        steps, rows = arrays["step"], arrays["metrics"]
        self._count = int(np.searchsorted(self.steps, steps[0]))
        needed = self._count + len(steps)
        while needed > len(self._steps):
            self._steps = np.concatenate([self._steps, np.zeros_like(self._steps)])
            self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
        self._steps[self._count : needed] = steps
        self._rows[self._count : needed] = rows
        self._count = needed

    def add_placed(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Positions of known frames on a map that became ready later."""
        known = {int(frame["step"]): frame for frame in self._frames}
        for placed in split(arrays):
            frame = known.get(int(placed["step"]))
            if frame is not None:
                frame.update(placed)

    def rewind(self, step: int) -> None:
        """Forget everything after `step`."""
        self._drop_from(step + 1)
        self._count = int(np.searchsorted(self.steps, step, side="right"))

    def batches(self, size: int = 24) -> Iterator[dict[str, np.ndarray]]:
        """The frames as batched arrays of at most `size` frames."""
        for group in runs_of_like(self._frames, size):
            yield stack(group)

    def _lighten(self) -> None:
        """Take what is large from the frame that is no longer new, but from every eighth."""
        if self._light and len(self._frames) > HEAVY_FRAMES and self._ordinals[-1 - HEAVY_FRAMES] % HEAVY_EVERY:
            for name in self._light:
                self._frames[-1 - HEAVY_FRAMES].pop(name, None)

    def _drop_from(self, step: int) -> None:
        while self._frames and int(self._frames[-1]["step"]) >= step:
            self._frames.pop(), self._ordinals.pop()
