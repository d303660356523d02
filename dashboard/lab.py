"""What the Stability Lab's page decides: from an example, a link and a form to the two runs on the page.

Pure functions over plain values, so that all of it is tested without a browser. Nothing here needs torch.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from dashboard.links import LinkReader, settle_view, short, write_several
from dashboard.presets import PRESETS, Panel, Preset, preset
from ddcl_core.config import DataConfig, EncoderConfig, RunConfig, ScheduleConfig
from ddcl_core.errors import InputError

SIDES = ("left", "right")
MAPS = ("umap", "pca")
COLOURS = ("class", "prototype")
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
    for name, key in (("epsilon", "eps"), ("temperature", "T")):
        values = getattr(state, name)
        if any(v is not None for v in values):
            query[key] = write_several(values)
    changes = {k: v for k, v in state.changes.items() if k.split(".")[-1] not in _OWN}
    if changes:
        query["set"] = json.dumps(changes, sort_keys=True, separators=(",", ":"))
    return query


def from_query(query: Mapping[str, str]) -> tuple[LabState, list[str]]:
    """Read a link. What cannot be read is left out, and said in one sentence each; never an exception."""
    link, state = LinkReader(query), LabState()
    example = link.choice("example", [p.key for p in PRESETS], "showing the first one")
    if example is not None:
        state = replace(state, example=example)
    found = {
        "pair": link.whole("pair", 0, len(state.preset.pairs) - 1), "seed": link.whole("seed", 0, 2**32 - 1),
        "map": link.choice("map", MAPS), "colour": link.choice("colour", COLOURS), "epsilon": link.several("eps", 2),
        "temperature": link.several("T", 2),
    }  # fmt: skip
    state = link.take(state, found, panels_of)
    if "set" in query:
        state = _read_changes(state, query["set"], link.problems)
    return state, link.problems


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
            problems.append(f"The link's setting {short(name)} cannot be set by a link; left out.")
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


def settle(state: LabState, panels: tuple[Panel, Panel], view: Mapping[str, Any] | None) -> LabState:
    """`state` with what the person set in the live view, for the link."""
    return settle_view(state, panels, view, MAPS)


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
