"""What happened in a run, read out of its metrics: the events that explanations are made from. Numpy only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ddcl_core.status import EFFECTIVE_LIMIT, RECOVERY_MARGIN, SEPARATION_LIMIT

SPREAD_LIMIT = 0.3  # separation, in root mean square token distances at the start, from which prototypes have spread
History = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Course:
    """What happened up to a step; each event is a step or None.

    crossed: T_c fell below T the first time. above_again: it rose above T after that. collapsed, recovered: the first
    collapse and the last recovery, None while collapsed again. spread_at_crossing: whether the prototypes had spread
    by then. started_below: T_c was below T from the start. unresolved: never left the region of collapse.
    """

    crossed: int | None = None
    above_again: int | None = None
    collapsed: int | None = None
    recovered: int | None = None
    diverged: int | None = None
    spread_at_crossing: bool = False
    started_below: bool = False
    unresolved: bool = False


def transitions(history: History, num_prototypes: int) -> list[tuple[int, str]]:
    """Steps at which the status changed, and to what: the rule of `ddcl_core.status`, for a whole history at once."""
    steps = np.asarray(history["step"])
    if not len(steps):
        return []
    effective, separation = relative(history)
    finite = finite_steps(history)
    inside = (effective < EFFECTIVE_LIMIT) | (separation < SEPARATION_LIMIT)
    enough = min(RECOVERY_MARGIN * EFFECTIVE_LIMIT, (EFFECTIVE_LIMIT + num_prototypes) / 2)
    clear = ~((effective < enough) | (separation < RECOVERY_MARGIN * SEPARATION_LIMIT))
    end = len(steps) if finite.all() else int(np.argmin(finite))
    found: list[tuple[int, str]] = []
    status = "unresolved" if end and inside[0] else "stable"
    at = 0
    if end:
        found.append((int(steps[0]), status))
    while end:
        wanted = {"unresolved": ~inside, "stable": inside, "collapsed": clear}[status]
        later = np.flatnonzero(wanted[at + 1 : end])
        if not len(later):
            break
        at += 1 + int(later[0])
        status = "collapsed" if status == "stable" else "stable"
        found.append((int(steps[at]), status))
    if end < len(steps):
        found.append((int(steps[end]), "diverged"))
    return found


def course(history: History, num_prototypes: int, until: int | None = None) -> Course:
    """The events of a run up to the step `until`."""
    steps = np.asarray(history["step"])
    end = len(steps) if until is None else int(np.searchsorted(steps, until, side="right"))
    if end == 0:
        return Course()
    cut = {name: np.asarray(history[name][:end]) for name in ("step", *USED)}
    verdicts = transitions(cut, num_prototypes)
    collapsed = next((step for step, status in verdicts if status == "collapsed"), None)
    diverged = next((step for step, status in verdicts if status == "diverged"), None)
    recovered = None
    if collapsed is not None and verdicts[-1][1] == "stable":
        recovered = verdicts[-1][0]

    below = (cut["critical_temperature"] < cut["temperature"]) & finite_steps(cut)
    first = int(np.argmax(below)) if below.any() else None
    above_again = None
    if first is not None:
        above = np.flatnonzero(~below[first:] & finite_steps(cut)[first:])
        above_again = int(steps[first + above[0]]) if len(above) else None
    return Course(
        crossed=None if first is None else int(steps[first]),
        above_again=above_again,
        collapsed=collapsed,
        recovered=recovered,
        diverged=diverged,
        spread_at_crossing=first is not None and bool(relative(cut)[1][: first + 1].max() >= SPREAD_LIMIT),
        started_below=bool(below[0]),
        unresolved=verdicts[-1][1] == "unresolved",
    )


USED = (
    "L_q", "temperature", "critical_temperature", "weighted_separation", "effective_prototypes", "token_spread",
)  # fmt: skip


def relative(history: History) -> tuple[np.ndarray, np.ndarray]:
    """Effective prototypes (n,), and weighted separation (n,) over the root mean square token distance at the start."""
    start = max(float(history["token_spread"][0]), 0.0)
    separation = np.asarray(history["weighted_separation"], dtype=float)
    # Tokens that coincide from the start leave nothing to be apart from: unresolved, as in the status rule.
    scaled = separation / np.sqrt(2.0 * start) if start > 0 else np.zeros_like(separation)
    return np.asarray(history["effective_prototypes"], dtype=float), scaled


def finite_steps(history: History) -> np.ndarray:
    """(n,) whether the metrics of a step are numbers; T_c may be infinite, as it is for L_OLS."""
    names = ("L_q", "weighted_separation", "effective_prototypes", "token_spread")
    return np.isfinite(np.stack([np.asarray(history[name], dtype=float) for name in names])).all(axis=0)
