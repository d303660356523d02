"""Why it went as it went, in plain words, computed from the metrics of a run. Pure functions; numpy only.

Every sentence states what was measured. Causes are claimed only where the linear theory of the merged state gives
them: near their common mean, prototypes that descend F separate only while T < T_c = 2 lambda_max, those that descend
the full L_q only while T < T_c = 4 lambda_max (Rose, Gurewitz and Fox 1990, and DESIGN, section 2).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ddcl_core.config import RunConfig

EFFECTIVE_LIMIT = 1.5  # the status rule's; a collapse is at or below it, or the separation is nearly gone
SEPARATION_LIMIT = 0.1
SPREAD_LIMIT = 0.3  # separation, in root mean square token distances, from which prototypes count as spread out
_MILESTONES = (0, 5, 10, 20, 40, 60, 80, 100, 150, 200, 300, 400, 600, 800, 1000, 1500, 2000, 3000, 5000, 7500, 10000)

PanelHistory = tuple[str, RunConfig, Mapping[str, np.ndarray], Sequence[Mapping[str, Any]]]


@dataclass(frozen=True)
class Course:
    """What happened in one panel, each as a step or None: the facts the words are made from."""

    crossed: int | None  # T_c fell below T, and stayed there until the end or until it rose again
    uncrossed: int | None  # T_c rose above T again afterwards
    collapsed: int | None
    recovered: int | None
    diverged: int | None
    spread_at_crossing: bool  # whether the prototypes had spread when T_c fell below T
    started_below: bool  # T_c was below T at the start already


def course(history: Mapping[str, np.ndarray], until: int | None = None) -> Course:
    """Read the events of a run out of its metrics up to the step `until`."""
    steps = np.asarray(history["step"])
    end = len(steps) if until is None else int(np.searchsorted(steps, until, side="right"))
    steps = steps[:end]
    if end == 0:
        return Course(None, None, None, None, None, False, False)
    value = {name: np.asarray(history[name][:end], dtype=float) for name in _USED}
    finite = np.isfinite(value["L_q"]) & np.isfinite(value["weighted_separation"])
    diverged = None if finite.all() else int(steps[np.argmin(finite)])

    below = value["critical_temperature"] < value["temperature"]
    below &= finite
    first = int(np.argmax(below)) if below.any() else None
    crossed = None if first is None else int(steps[first])
    after = ~below[first:] & finite[first:] if first is not None else np.zeros(0, dtype=bool)
    uncrossed = int(steps[first + int(np.argmax(after))]) if after.any() and first is not None else None

    spread = _relative_separation(value)
    inside = (value["effective_prototypes"] < EFFECTIVE_LIMIT) | (spread < SEPARATION_LIMIT)
    inside &= finite
    left = np.flatnonzero(~inside & finite)
    collapsed = recovered = None
    if len(left):
        later = np.flatnonzero(inside[left[0] :])
        if len(later):
            at = int(left[0] + later[0])
            collapsed = int(steps[at])
            clear = (value["effective_prototypes"] > 1.5 * EFFECTIVE_LIMIT) & (spread > 1.5 * SEPARATION_LIMIT)
            again = np.flatnonzero(clear[at:] & finite[at:])
            recovered = int(steps[at + again[0]]) if len(again) and not inside[-1] else None
    spread_then = first is not None and bool(spread[first] >= SPREAD_LIMIT)
    return Course(crossed, uncrossed, collapsed, recovered, diverged, spread_then, bool(below[0]))


_USED = (
    "L_q", "temperature", "critical_temperature", "weighted_separation", "effective_prototypes", "token_spread",
)  # fmt: skip


def describe(label: str, config: RunConfig, history: Mapping[str, np.ndarray], until: int) -> str:
    """One panel's course up to a step, in one to three sentences."""
    steps = np.asarray(history["step"])
    here = int(np.searchsorted(steps, until, side="right")) - 1
    if here < 0:
        return f"{label}: not started."
    facts = course(history, until)
    now = {name: float(history[name][here]) for name in (*_USED, "epsilon")}
    if facts.diverged is not None:
        return f"{label}: {_diverged(config, facts, now)}"
    if config.objective == "L_OLS":
        return f"{label}: {_no_threshold(config, facts, now, 'L_OLS alone pushes prototypes apart at any T')}"
    if config.objective == "V":
        return f"{label}: {_no_threshold(config, facts, now, 'V alone pulls prototypes together at any T')}"
    return f"{label}: {_with_threshold(config, facts, now, history, here)}"


def explain(panels: Sequence[PanelHistory]) -> list[dict[str, Any]]:
    """Items {step, text} in the order of steps: what could be said at that step. The last one holds from there on.

    panels: (label, configuration, history with 'step' and the metrics, controls) of each panel.
    """
    known = [panel for panel in panels if len(panel[2]["step"])]
    if not known:
        return []
    last = max(int(panel[2]["step"][-1]) for panel in known)
    moments = {m for m in _MILESTONES if m <= last}
    for _, _, history, controls in known:
        facts = course(history)
        events = (facts.crossed, facts.uncrossed, facts.collapsed, facts.recovered, facts.diverged)
        moments |= {event for event in events if event is not None}
        moments |= {int(control["step"]) for control in controls[-20:] if int(control["step"]) <= last}
    items: list[dict[str, Any]] = []
    for moment in sorted(moments):
        text = " ".join(describe(label, config, history, moment) for label, config, history, _ in known)
        if not items or items[-1]["text"] != text:
            items.append({"step": int(moment), "text": text})
    return items


def _with_threshold(
    config: RunConfig, facts: Course, now: Mapping[str, float], history: Mapping[str, np.ndarray], here: int
) -> str:
    T = f"T = {_figure(now['temperature'])}"
    if facts.crossed is None:
        return f"{_margin(now, T)}, so prototypes that come close are pushed apart again. {_state(config, now)}"
    if facts.started_below:
        cause = f"T_c was below {T} from the start, so prototypes near each other are pulled together"
    else:
        cause = f"{_why_fell(config, history, facts)} at step {facts.crossed}"
        cause += ", after the prototypes had spread" if facts.spread_at_crossing else ", before the prototypes had spread"
    if facts.recovered is not None:
        return f"{cause}. They collapsed at step {facts.collapsed} and came apart again at step {facts.recovered}; now {_margin(now, T)}."
    if facts.collapsed is not None:
        pull = "L_q can only pull them together" if config.objective == "L_q" else "F has its minimum with all of them merged"
        if facts.collapsed < facts.crossed:
            return f"The prototypes collapsed at step {facts.collapsed}. {_sentence(cause)}; from then on {pull}."
        above = now["critical_temperature"] >= now["temperature"]
        tail = f"by now T_c is above {T} again, but merged prototypes part slowly" if above else f"from then on {pull}"
        return f"{_sentence(cause)}; {tail}. Collapsed at step {facts.collapsed}."
    if facts.uncrossed is not None and now["critical_temperature"] >= now["temperature"]:
        return f"{_sentence(cause)}, and rose above it again at step {facts.uncrossed}. {_state(config, now)}"
    if facts.spread_at_crossing:
        return f"{_sentence(cause)}. Prototypes that are far apart can hold out beyond T_c for a while. {_state(config, now)}"
    return f"{_sentence(cause)}. Prototypes that are close together are now being pulled together. {_state(config, now)}"


def _no_threshold(config: RunConfig, facts: Course, now: Mapping[str, float], rule: str) -> str:
    if facts.collapsed is not None and facts.recovered is None:
        return f"{rule}; collapsed at step {facts.collapsed}."
    return f"{rule}, whatever T_c is. {_state(config, now)}"


def _diverged(config: RunConfig, facts: Course, now: Mapping[str, float]) -> str:
    hint = "" if config.encoder.final_norm or config.encoder.kind == "none" else ", and no LayerNorm bounds the tokens"
    return (
        f"a value stopped being finite at step {facts.diverged}: the steps are too large at epsilon = "
        f"{_figure(now['epsilon'])}{hint}. Lower epsilon and reset."
    )


def _why_fell(config: RunConfig, history: Mapping[str, np.ndarray], facts: Course) -> str:
    """Which of the two moved: T_c (the tokens shrank) or T (it was raised)."""
    steps = np.asarray(history["step"])
    at = int(np.searchsorted(steps, facts.crossed))
    T, critical = np.asarray(history["temperature"], dtype=float), np.asarray(history["critical_temperature"], dtype=float)
    limit = f"T_c fell below T = {_figure(T[at])}"
    if critical[at] >= 0.95 * critical[0]:
        return f"T was raised above T_c = {_figure(critical[at])}"
    if T[at] > 1.05 * T[0]:
        return f"T was raised and the tokens drew together; {limit}"
    who = "the tokens drew together" if config.encoder.kind == "none" else "the encoder shrank the tokens"
    return f"{who}: T_c fell from {_figure(critical[0])} below T = {_figure(T[at])}"


def _margin(now: Mapping[str, float], T: str) -> str:
    critical, temperature = now["critical_temperature"], now["temperature"]
    if not math.isfinite(critical):
        return f"there is no critical temperature above {T}"
    return f"T_c is {_figure(critical)}, {_times(critical / max(temperature, 1e-12))} {T}"


def _state(config: RunConfig, now: Mapping[str, float]) -> str:
    return f"{now['effective_prototypes']:.1f} of {config.num_prototypes} prototypes are in use."


def _relative_separation(value: Mapping[str, np.ndarray]) -> np.ndarray:
    """Weighted separation in units of the tokens' root mean square distance at the start."""
    start = value["token_spread"][0]
    return value["weighted_separation"] / math.sqrt(2.0 * start) if start > 0 else np.zeros_like(value["L_q"])


def _times(ratio: float) -> str:
    words = {2: "twice", 3: "three times", 4: "four times", 5: "five times", 6: "six times", 7: "seven times",
             8: "eight times", 9: "nine times", 10: "ten times"}  # fmt: skip
    whole = round(ratio)
    if whole in words and abs(ratio - whole) <= 0.15 * whole:
        return f"about {words[whole]}"
    return f"{ratio:.1f} times" if ratio < 10 else f"{ratio:.0f} times"


def _figure(value: float) -> str:
    return f"{value:.3g}"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] if not text.startswith("T_c") else text
