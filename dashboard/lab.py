"""What the Stability Lab's page decides: from an example, a link and a form to the two runs on the page.

Pure functions over plain values, so that all of it is tested without a browser. Nothing here needs torch.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from dashboard.presets import PRESETS, Panel, Preset, preset
from ddcl_core.config import DataConfig, EncoderConfig, RunConfig, ScheduleConfig
from ddcl_core.errors import InputError

SIDES = ("left", "right")
_PARTS = {"data": DataConfig, "encoder": EncoderConfig, "schedule": ScheduleConfig}
MAX_TOKENS = 20_000  # a live page is for looking at; larger scenes belong to the library
_OWN = ("texts", "text_labels")  # a person's own words never go into a link


@dataclass(frozen=True)
class LabState:
    """Everything that determines the picture.

    changes: settings that differ from the example, by dotted name, for both sides ('data.dim') or one ('left.objective').
    epsilon, temperature: values set by hand for left and right; None keeps the example's.
    """

    example: str = PRESETS[0].key
    pair: int = 0
    seed: int = 7
    epsilon: tuple[float | None, float | None] = (None, None)
    temperature: tuple[float | None, float | None] = (None, None)
    changes: Mapping[str, Any] = field(default_factory=dict)
    map: str | None = None
    colour: str | None = None

    @property
    def preset(self) -> Preset:
        """The example this state starts from."""
        return preset(self.example)


def panels_of(state: LabState) -> tuple[Panel, Panel]:
    """The two sides with every change applied. Raises InputError with one sentence when a change does not fit."""
    pairs = state.preset.pairs
    chosen = pairs[min(max(state.pair, 0), len(pairs) - 1)]
    sides = []
    for index, (side, panel) in enumerate(zip(SIDES, chosen.panels)):
        config = panel.config
        for name, value in state.changes.items():
            owner, _, rest = name.partition(".")
            if owner in SIDES:
                config = config if owner != side else _set(config, rest, value)
            else:
                config = _set(config, name, value)
        if state.epsilon[index] is not None:
            config = config.with_(epsilon=state.epsilon[index])
        if state.temperature[index] is not None:
            config = config.with_(temperature=state.temperature[index])
        data = config.data
        if data.num_documents * data.tokens_per_document > MAX_TOKENS:
            raise InputError(
                f"{data.num_documents} documents of {data.tokens_per_document} tokens are more than the {MAX_TOKENS:,} that "
                "train live here; take fewer documents or read fewer tokens of each."
            )
        sides.append(Panel(panel.label, config.with_(seed=state.seed)))
    return sides[0], sides[1]


def _set(config: RunConfig, name: str, value: Any) -> RunConfig:
    part, _, rest = name.partition(".")
    if rest and part in _PARTS:
        if rest not in {f.name for f in fields(_PARTS[part])}:
            raise InputError(f"There is no setting called {name!r}; remove it from the link.")
        return replace(config, **{part: replace(getattr(config, part), **{rest: value})})
    if name not in {f.name for f in fields(RunConfig)} or name in _PARTS:
        raise InputError(f"There is no setting called {name!r}; remove it from the link.")
    return replace(config, **{name: value})


# ---- the link ----------------------------------------------------------------------------------------------------


def to_query(state: LabState) -> dict[str, str]:
    """The shortest query that `from_query` turns back into `state` (a person's own documents stay out of it)."""
    plain = LabState(example=state.example)
    query = {"example": state.example}
    for name in ("pair", "seed", "map", "colour"):
        if getattr(state, name) != getattr(plain, name):
            query[name] = str(getattr(state, name))
    for name, short in (("epsilon", "eps"), ("temperature", "T")):
        values = getattr(state, name)
        if any(v is not None for v in values):
            query[short] = ",".join("" if v is None else f"{v:g}" for v in values)
    changes = {k: v for k, v in state.changes.items() if k.split(".")[-1] not in _OWN}
    if changes:
        query["set"] = json.dumps(changes, sort_keys=True, separators=(",", ":"))
    return query


def from_query(query: Mapping[str, str]) -> tuple[LabState, list[str]]:
    """Read a link. What cannot be read is left out, and said in one sentence each; never an exception."""
    problems: list[str] = []
    state = LabState()
    if "example" in query:
        if query["example"] in {p.key for p in PRESETS}:
            state = replace(state, example=query["example"])
        else:
            problems.append(f"The link names an example {_short(query['example'])} that does not exist; showing the first one.")
    for name, high in (("pair", len(state.preset.pairs) - 1), ("seed", 2**32 - 1)):
        if name in query:
            if query[name].isascii() and query[name].isdigit() and len(query[name]) < 12 and int(query[name]) <= high:
                state = replace(state, **{name: int(query[name])})
            else:
                problems.append(f"The link's {name} {_short(query[name])} is not a whole number from 0 to {high}; left out.")
    for name, allowed in (("map", ("umap", "pca")), ("colour", ("class", "prototype"))):
        if query.get(name) in allowed:
            state = replace(state, **{name: query[name]})
    for name, short in (("epsilon", "eps"), ("temperature", "T")):
        if short in query:
            values = _two_numbers(query[short])
            if values is None:
                problems.append(f"The link's {short} {_short(query[short])} is not two numbers such as 1,0.05; left out.")
            else:
                state = _keep_if_valid(state, replace(state, **{name: values}), problems)
    if "set" in query:
        state = _read_changes(state, query["set"], problems)
    return state, problems


def _read_changes(state: LabState, text: str, problems: list[str]) -> LabState:
    try:
        changes = json.loads(text)
        if not isinstance(changes, dict):
            raise ValueError
    except ValueError:
        problems.append("The link's settings cannot be read; it may have been cut off, so the example's own are used.")
        return state
    for name, value in changes.items():
        if name.split(".")[-1] in _OWN or isinstance(value, (dict, list)):
            problems.append(f"The link's setting {_short(name)} cannot be set by a link; left out.")
            continue
        state = _keep_if_valid(state, replace(state, changes={**state.changes, name: value}), problems)
    return state


def _keep_if_valid(old: LabState, new: LabState, problems: list[str]) -> LabState:
    try:
        panels_of(new)
    except (InputError, TypeError) as error:
        problems.append(f"A value in the link is left out: {error}")
        return old
    return new


def _two_numbers(text: str) -> tuple[float | None, float | None] | None:
    parts = text.split(",")
    if len(parts) != 2:
        return None
    try:
        values = tuple(float(p) if p.strip() else None for p in parts)
    except ValueError:
        return None
    return values if all(v is None or math.isfinite(v) for v in values) else None


def _short(text: str) -> str:
    return repr(text if len(text) <= 30 else text[:29] + "…")


# ---- what the live view reports --------------------------------------------------------------------------------------


def settle(state: LabState, panels: tuple[Panel, Panel], view: Mapping[str, Any] | None) -> LabState:
    """`state` with what the person set in the live view, for the link.

    A temperature that follows a schedule is no hand-set value and stays out; so does a value equal to the run's own.
    """
    if not view:
        return state
    seen = list(view.get("panels") or [])[:2]
    new = {"epsilon": list(state.epsilon), "temperature": list(state.temperature)}
    for index, (panel, values) in enumerate(zip(panels, seen)):
        for name in new:
            value, own = values.get(name), getattr(panel.config, name)
            scheduled = name == "temperature" and panel.config.schedule.kind not in ("constant", "by_hand")
            if isinstance(value, (int, float)) and math.isfinite(value) and not scheduled:
                new[name][index] = float(value) if not math.isclose(value, own, rel_tol=1e-6) else new[name][index]
    seed = view.get("seed")
    return replace(
        state,
        epsilon=tuple(new["epsilon"]),
        temperature=tuple(new["temperature"]),
        seed=seed if isinstance(seed, int) and 0 <= seed < 2**32 else state.seed,
        map=_set_by_hand(view.get("map"), ("umap", "pca"), state.preset.map, state.map),
        colour=_set_by_hand(view.get("color"), ("class", "prototype"), state.preset.colour, state.colour),
    )


def _set_by_hand(seen: Any, allowed: tuple[str, ...], own: str, before: str | None) -> str | None:
    if seen not in allowed:
        return before
    return seen if seen != own or before is not None else None


def own_documents(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Documents and labels from pasted text: one document a line; 'label<Tab>text' on every line gives labels too.

    Raises InputError when there is no text.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        raise InputError("There are no documents yet; paste at least one line of text.")
    if all("\t" in line for line in lines):
        labels, texts = zip(*(line.split("\t", 1) for line in lines))
        return tuple(t.strip() for t in texts), tuple(label.strip() for label in labels)
    return tuple(lines), ()


def changed_settings(panels: tuple[Panel, Panel], values: Mapping[str, Any], state: LabState) -> dict[str, Any]:
    """Of the form's values those that differ from what the runs have, joined to the changes made before.

    A value that equals the present one of both sides is no change, so an example keeps its own differences.
    """
    changes = dict(state.changes)
    for name, value in values.items():
        owner, _, rest = name.partition(".")
        sides = [panels[SIDES.index(owner)]] if owner in SIDES else list(panels)
        path = rest if owner in SIDES else name
        if any(_get(panel.config, path) != value for panel in sides):
            changes[name] = value
    return changes


def _get(config: RunConfig, path: str) -> Any:
    value: Any = config
    for part in path.split("."):
        value = getattr(value, part)
    return value
