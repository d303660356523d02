"""A link and what a person set in the live view.

What cannot be read in a link is left out and said in one sentence each; never an exception.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from ddcl_core.errors import InputError

State = TypeVar("State")


class LinkReader:
    """Takes values out of a query. problems: a sentence for each value that did not fit."""

    def __init__(self, query: Mapping[str, str]) -> None:
        self._query = query
        self.problems: list[str] = []

    def has(self, name: str) -> bool:
        """Whether the link says anything under this name."""
        return name in self._query

    def choice(self, name: str, allowed: Collection[str], words: str = "") -> str | None:
        """One of the allowed words. `words`: what happens instead, for the sentence."""
        value = self._query.get(name)
        if value is None or value in allowed:
            return value
        self.problems.append(f"The link's {name} {short(value)} does not exist; {words or 'left out'}.")
        return None

    def whole(self, name: str, low: int, high: int) -> int | None:
        """A whole number from low to high."""
        text = self._query.get(name)
        if text is None:
            return None
        if text.isascii() and text.isdigit() and len(text) < 12 and low <= int(text) <= high:
            return int(text)
        self.problems.append(f"The link's {name} {short(text)} is not a whole number from {low} to {high}; left out.")
        return None

    def number(self, name: str, low: float, high: float) -> float | None:
        """A number from low to high."""
        text = self._query.get(name)
        if text is None:
            return None
        value = number(text)
        if value is not None and low <= value <= high:
            return value
        self.problems.append(f"The link's {name} {short(text)} is not a number from {low:g} to {high:g}; left out.")
        return None

    def several(self, name: str, count: int, low: float = -math.inf, high: float = math.inf) -> tuple[float | None, ...] | None:
        """`count` finite numbers from low to high between commas; a place that is empty is None."""
        text = self._query.get(name)
        if text is None:
            return None
        parts = text.split(",")
        values = tuple(number(part) if part.strip() else None for part in parts)
        fits = (value is not None and low <= value <= high if part.strip() else True for value, part in zip(values, parts))
        if len(parts) == count and all(fits):
            return values
        said, example = ("one number", "0.05") if count == 1 else ("two numbers", "1,0.05")
        within = f" from {low:g} to {high:g}" if math.isfinite(high) else ""
        self.problems.append(f"The link's {name} {short(text)} is not {said}{within} such as {example}; left out.")
        return None

    def take(self, state: State, found: Mapping[str, Any], check: Callable[[State], Any]) -> State:
        """`state` with the values found, each as far as `check` accepts it; None is nothing found."""
        for name, value in found.items():
            if value is None:
                continue
            new = replace(state, **{name: value})
            try:
                check(new)
                state = new
            except InputError as error:
                self.problems.append(f"A value in the link is left out: {error}")
        return state

    def text(self, name: str, most: int = 60) -> str:
        """Free text, cut to `most` characters."""
        return self._query.get(name, "")[:most]


def number(text: str) -> float | None:
    """The finite number that a text is, or None."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def short(text: str) -> str:
    """A text in quotation marks, cut to what a sentence can hold."""
    return repr(text if len(text) <= 24 else text[:23] + "…")


def write_several(values: tuple[float | None, ...]) -> str:
    """What `several` reads."""
    return ",".join("" if value is None else f"{value:g}" for value in values)


def settle_view(state: Any, panels: Sequence[Any], view: Mapping[str, Any] | None, maps: Collection[str]) -> Any:
    """`state` with what a person set in the live view, for the link.

    state: a dataclass with epsilon, temperature (a value or None for each panel), seed, map, colour and a `preset` that
    has `map` and `colour`. A temperature that follows a schedule is no hand-set value and stays out; so does a value
    equal to the run's own.
    """
    if not view:
        return state
    new = {"epsilon": list(state.epsilon), "temperature": list(state.temperature)}
    for index, (panel, values) in enumerate(zip(panels, list(view.get("panels") or [])[: len(state.epsilon)])):
        schedule = getattr(panel.config, "schedule", None)
        scheduled = schedule is not None and schedule.kind not in ("constant", "by_hand")
        for name in new:
            value, own = values.get(name), getattr(panel.config, name)
            if name == "temperature" and scheduled or not isinstance(value, (int, float)) or not math.isfinite(value):
                continue
            if not math.isclose(value, own, rel_tol=1e-6):
                new[name][index] = float(value)
    seed = view.get("seed")
    return replace(
        state,
        epsilon=tuple(new["epsilon"]),
        temperature=tuple(new["temperature"]),
        seed=seed if isinstance(seed, int) and 0 <= seed < 2**32 else state.seed,
        map=by_hand(view.get("map"), maps, state.preset.map, state.map),
        colour=by_hand(view.get("color"), ("class", "prototype"), state.preset.colour, state.colour),
    )


def by_hand(seen: Any, allowed: Collection[str], own: str, before: str | None) -> str | None:
    """What the view shows, None while it is the example's own choice."""
    if seen not in allowed:
        return before
    return seen if seen != own or before is not None else None
