"""How fast a session trains: steps a second that are asked for, and when the next round may begin."""

from __future__ import annotations

import time
from collections.abc import Callable

from ddcl_core.frame import frame_due

ROUND_SECONDS = 0.25  # a round of play lasts about this long, so that a control never waits longer for the next
AHEAD_SECONDS = 1.0  # how far a control may bring training ahead of its pace
_FASTEST = 2000.0


class Pace:
    """Rounds of about a quarter of a second. speed: steps a second, 0 for as fast as it can."""

    def __init__(self, speed: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.speed = speed
        self._clock = clock
        self._due = 0.0
        self._hurried = False
        self._rate = 40.0  # steps a second that the last rounds reached

    def set(self, speed: float) -> None:
        """Another speed, from now on."""
        self.speed = speed
        self.restart()

    def restart(self) -> None:
        """The next round may begin at once, as after a pause."""
        self._due = 0.0

    def hurry(self) -> None:
        """A control waits, so the next round may begin at once; later ones then wait longer: dragging cannot race."""
        self._hurried = True

    def wait(self) -> float:
        """Seconds until the next round may begin; 0 or less when it may begin now."""
        if self.speed == 0:
            return 0.0
        return self._due - (AHEAD_SECONDS if self._hurried else 0.0) - self._clock()

    def begin(self, step: int, every: int, last: int) -> int:
        """Begin a round at `step`: the step it goes to, which has a frame (see `frame_due`) or is the `last`."""
        self._hurried = False
        pace = self.speed if self.speed > 0 else min(self._rate, _FASTEST)
        target = step + max(1, round(pace * ROUND_SECONDS))
        while target < last and not frame_due(target, every):
            target += 1
        target = min(target, last)
        if self.speed > 0:
            self._due = max(self._due, self._clock() - ROUND_SECONDS) + (target - step) / self.speed
        return target

    def learn(self, steps: int, seconds: float) -> None:
        """A round has made this many steps in this time."""
        if steps > 0 and seconds > 0:
            self._rate += 0.5 * (steps / seconds - self._rate)
