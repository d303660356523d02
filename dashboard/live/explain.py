"""Why it went as it went, in plain words, computed from the metrics of a run. Pure functions; numpy only.

Every sentence states what was measured. Causes are claimed only where the linear theory of the merged state gives
them: near their common mean, prototypes that descend F separate only while T < T_c = 2 lambda_max, those that descend
the full L_q only while T < T_c = 4 lambda_max (Rose, Gurewitz and Fox 1990, and DESIGN, section 2).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dashboard.live.verdicts import USED, Course, History, course
from ddcl_core.config import RunConfig

_MILESTONES = (0, 5, 10, 20, 40, 60, 80, 100, 150, 200, 300, 400, 600, 800, 1000, 1500, 2000, 3000, 5000, 7500, 10000)
_RECENT_CONTROLS = 20
_PULLS = {
    "L_q": "descending L_q pulls prototypes that are close together",
    "F": "descending F pulls prototypes that are close together",
}
_RULES = {
    "L_OLS": "L_OLS alone pushes prototypes apart at any T",
    "V": "V alone pulls prototypes together at any T",
}

PanelHistory = tuple[str, RunConfig, History, Sequence[Mapping[str, Any]]]


def explain(panels: Sequence[PanelHistory]) -> list[dict[str, Any]]:
    """Items {step, text} in the order of steps: what could be said at that step. The last one holds from there on.

    panels: (label, configuration, history with 'step' and the metrics, controls) of each panel.
    """
    known = [panel for panel in panels if len(panel[2]["step"])]
    if not known:
        return []
    last = max(int(history["step"][-1]) for _, _, history, _ in known)
    moments = {moment for moment in _MILESTONES if moment <= last}
    for _, config, history, controls in known:
        facts = course(history, config.num_prototypes)
        events = (facts.crossed, facts.above_again, facts.collapsed, facts.recovered, facts.diverged)
        moments |= {event for event in events if event is not None}
        # What a control changes shows in the step after it.
        moments |= {int(c["step"]) + 1 for c in controls[-_RECENT_CONTROLS:] if int(c["step"]) < last}
    items: list[dict[str, Any]] = []
    for moment in sorted(moments):
        text = " ".join(describe(label, config, history, moment) for label, config, history, _ in known)
        if not items or items[-1]["text"] != text:
            items.append({"step": moment, "text": text})
    return items


def describe(label: str, config: RunConfig, history: History, until: int) -> str:
    """One panel's course up to a step, in one to three sentences that begin with its label."""
    here = int(np.searchsorted(np.asarray(history["step"]), until, side="right")) - 1
    if here < 0:
        return f"{_sentence(label)}: not started yet."
    facts = course(history, config.num_prototypes, until)
    now = {name: float(history[name][here]) for name in (*USED, "epsilon")}
    if facts.diverged is not None:
        words = _diverged(config, facts, now)
    elif config.num_prototypes == 1:
        words = "There is one prototype; it can neither spread nor collapse."
    elif config.objective in _RULES:
        words = _without_threshold(config, facts, now)
    elif config.anchor != "none":
        words = _with_task(config, facts, now, history)
    elif facts.crossed is None:
        words = _above(config, facts, now)
    else:
        words = _below(config, facts, now, history)
    return f"{_sentence(label)}: {words}"


def _above(config: RunConfig, facts: Course, now: Mapping[str, float]) -> str:
    """T_c has never been below T: the linear theory says that prototypes at one place are pushed apart."""
    if facts.recovered is not None:
        return f"{_margin(now)}. Collapsed at step {facts.collapsed}, apart again since step {facts.recovered}."
    if facts.collapsed is not None:
        return (
            f"Collapsed at step {facts.collapsed} although {_margin(now)}: tokens have gone over to few prototypes, "
            "and those that no token chooses stay where they are."
        )
    if facts.unresolved:
        return f"{_margin(now)}, so the prototypes, which start close together, are pushed apart. {_state(config, now)}"
    return f"{_margin(now)}, so prototypes that come close are pushed apart again. {_state(config, now)}"


def _below(config: RunConfig, facts: Course, now: Mapping[str, float], history: History) -> str:
    cause, pull = _cause(config, facts, history), _PULLS[config.objective]
    above = now["critical_temperature"] >= now["temperature"]
    if facts.recovered is not None:
        back = f"apart again since step {facts.recovered}; now {_margin(now)}"
        return f"{cause}. Collapsed at step {facts.collapsed}, {back}."
    if facts.collapsed is not None:
        since = "by now T_c is above T again, but merged prototypes part slowly" if above else f"from then on {pull}"
        if facts.collapsed < (facts.crossed or 0):
            return f"Collapsed at step {facts.collapsed}. {cause}; {since}."
        return f"{cause}; {since}. Collapsed at step {facts.collapsed}."
    if above and facts.above_again is not None:
        rose = f"and rose above it again at step {facts.above_again}"
        return f"{cause}, {rose}; now {_margin(now)}. {_state(config, now)}"
    if facts.spread_at_crossing:
        return f"{cause}. Prototypes that are far apart can hold out beyond T_c for a while. {_state(config, now)}"
    return f"{cause}. Prototypes that are close are being pulled together. {_state(config, now)}"


def _with_task(config: RunConfig, facts: Course, now: Mapping[str, float], history: History) -> str:
    """A task pulls at the prototypes, too, and T_c knows nothing of it: it is told, but no cause is read from it."""
    first = float(np.asarray(history["critical_temperature"], dtype=float)[0])
    words = f"{_margin(now)}, without the task, which moves the true threshold (it was {_figure(first)} at first)"
    if facts.recovered is not None:
        return f"{words}. Collapsed at step {facts.collapsed}, apart again since step {facts.recovered}."
    if facts.collapsed is not None:
        drawn = now["critical_temperature"] < 0.5 * first and config.encoder.kind != "none"
        why = "; by now the encoder has drawn the tokens together" if drawn else ""
        return f"Collapsed at step {facts.collapsed}{why}. {words}."
    return f"{words}. {_state(config, now)}"


def _cause(config: RunConfig, facts: Course, history: History) -> str:
    """What made T_c fall below T: the tokens drew together, or T was raised."""
    at = int(np.searchsorted(np.asarray(history["step"]), facts.crossed))
    T = np.asarray(history["temperature"], dtype=float)[: at + 1]
    critical = np.asarray(history["critical_temperature"], dtype=float)[: at + 1]
    if facts.started_below:
        return f"T_c = {_figure(critical[0])} was below T = {_figure(T[0])} from the start"
    when = f"at step {facts.crossed}, {'after' if facts.spread_at_crossing else 'before'} the prototypes had spread"
    raised, shrank = T[-1] > 1.05 * T[0], critical[-1] < 0.95 * critical[0]
    if raised and not shrank:
        return f"T was raised to {_figure(T[-1])}, above T_c = {_figure(critical[-1])}, {when}"
    fell = f"T_c fell from {_figure(critical[0])} below T = {_figure(T[-1])} {when}"
    if raised:
        return f"T was raised and the tokens drew together: {fell}"
    moved = "the tokens drew together" if config.encoder.kind == "none" else "the encoder drew the tokens together"
    return f"{_sentence(moved)}: {fell}"


def _without_threshold(config: RunConfig, facts: Course, now: Mapping[str, float]) -> str:
    rule = f"{_RULES[config.objective]}, wherever T_c is"
    if facts.recovered is not None:
        return f"{rule}. Collapsed at step {facts.collapsed}, apart again since step {facts.recovered}."
    if facts.collapsed is None:
        return f"{rule}. {_state(config, now)}"
    if config.objective == "L_OLS" and config.encoder.kind != "none":
        return f"{rule}, but the encoder drew the tokens themselves together. Collapsed at step {facts.collapsed}."
    return f"{rule}. Collapsed at step {facts.collapsed}."


def _diverged(config: RunConfig, facts: Course, now: Mapping[str, float]) -> str:
    unbound = config.encoder.kind != "none" and not config.encoder.final_norm
    why = "no LayerNorm bounds the tokens, and steps" if unbound else "steps"
    return (
        f"A value stopped being finite at step {facts.diverged}: {why} at ε = {_figure(now['epsilon'])} and "
        f"η = {_figure(config.lr_prototypes)} are too large. Lower ε and reset."
    )


def _margin(now: Mapping[str, float]) -> str:
    """For example 'T_c is 12.1, about six times T = 2'."""
    critical, T = now["critical_temperature"], now["temperature"]
    return f"T_c is {_figure(critical)}, {_times(critical / max(T, 1e-12))} T = {_figure(T)}"


def _state(config: RunConfig, now: Mapping[str, float]) -> str:
    return f"{now['effective_prototypes']:.1f} of {config.num_prototypes} prototypes are in use."


def _times(ratio: float) -> str:
    words = ("twice", "three times", "four times", "five times", "six times", "seven times", "eight times",
             "nine times", "ten times")  # fmt: skip
    whole = round(ratio) if math.isfinite(ratio) else 0
    if 2 <= whole <= 10 and abs(ratio - whole) <= 0.15:
        return f"about {words[whole - 2]}"
    return f"{ratio:.1f} times" if ratio < 10 else f"{ratio:.0f} times"


def _figure(value: float) -> str:
    return f"{value:.3g}"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
