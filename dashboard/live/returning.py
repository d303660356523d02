"""Whether a page that was opened anew still means the runs its tab had before."""

from __future__ import annotations

import math
from typing import Any

from dashboard.live.panel import Panel
from dashboard.live.registry import LiveScene
_DIGITS = 1e-5  # a link writes six digits


def still_shows(panels: list[Panel], before: LiveScene, now: LiveScene) -> bool:
    """True when `now` is what the runs of `before` have become.

    A link carries ε, T and the seed as they are at present, not as they were at step 0. After a slider was moved, the
    scene of a reloaded page therefore differs from the one that the runs began with, and still means them. A
    temperature set by hand against a schedule is in no link.
    """
    configs = [_present(panel) for panel in panels] or list(before.configs)
    if now.labels != before.labels or len(configs) != len(now.configs):
        return False
    return all(_same(one, two) for one, two in zip(configs, now.configs))


def _present(panel: Panel) -> Any:
    schedule = getattr(panel.config, "schedule", None)
    scheduled = schedule is not None and schedule.kind not in ("constant", "by_hand")
    hand = {name: value for name, value in panel.hand.items() if not (scheduled and name == "temperature")}
    return panel.config.with_(**hand)


def _same(one: Any, two: Any) -> bool:
    if type(one) is not type(two):
        return False
    near = math.isclose(one.epsilon, two.epsilon, rel_tol=_DIGITS)
    near = near and math.isclose(one.temperature, two.temperature, rel_tol=_DIGITS)
    return near and one.with_(epsilon=two.epsilon, temperature=two.temperature) == two
