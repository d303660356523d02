"""Temperature as a function of the step. Needs neither torch nor numpy."""

from __future__ import annotations

import math

from ddcl_core.config import ScheduleConfig
from ddcl_core.errors import InputError


def temperature_at(schedule: ScheduleConfig, step: int) -> float:
    """T at a step; with s = min(step / steps, 1):

        linear       start + s (end - start)
        exponential  start (end / start)^s
        cosine       end + (start - end) (1 + cos(pi s)) / 2
        constant, by_hand   start

    Exactly `start` at step 0 and exactly `end` from step `steps` on. Raises InputError for a negative step.
    """
    if step < 0:
        raise InputError(f"The step is {step}; it must be 0 or more.")
    start, end = float(schedule.start), float(schedule.end)
    if schedule.kind in ("constant", "by_hand") or step == 0:
        return start
    if step >= schedule.steps:
        return end
    s = step / schedule.steps
    if schedule.kind == "linear":
        return start + s * (end - start)
    if schedule.kind == "exponential":
        return start * (end / start) ** s
    return end + (start - end) * 0.5 * (1.0 + math.cos(math.pi * s))
