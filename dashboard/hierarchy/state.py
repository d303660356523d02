"""The Hierarchy page's state: from a link to the runs on the page, and back. Pure functions over plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from dashboard.hierarchy.cooling import COOLING_PRESETS, cooling_preset
from dashboard.hierarchy.presets import HIERARCHY_PRESETS, NEWS, hierarchy_preset
from dashboard.links import LinkReader, write_several
from dashboard.presets import Panel, Preset
from ddcl_core.config import EPSILON_RANGE, TEMPERATURE_RANGE
from ddcl_core.hierarchy.config import HierarchyConfig, LevelConfig

SHAPES = {"": "as in the example", "8-3": "8, 3", "12-4": "12, 4", "16-5": "16, 5", "32-8": "32, 8", "24-8-3": "24, 8, 3",
          "40-12-4": "40, 12, 4"}  # fmt: skip
TEXTS = {"": "the example's", "bbc": "BBC News", "reviews": "Film reviews", "newsgroups": "20 Newsgroups", "synthetic": "Synthetic topics"}
MAPS = ("umap", "pca")
MODES = {"levels": "Levels", "cooling": "Cooling"}


@dataclass(frozen=True)
class HierarchyState:
    """Everything that determines the picture.

    mode: levels side by side, or one level cooled. shape: sizes of the levels of both sides, '' for the example's. texts:
    kind of data, '' for the example's. own: reference of loaded documents, or ''; it goes into no link.
    """

    mode: str = "levels"
    example: str = HIERARCHY_PRESETS[0].key
    seed: int = 7
    epsilon: tuple[float | None, ...] = (None, None)
    temperature: tuple[float | None, ...] = (None, None)
    shape: str = ""
    texts: str = ""
    map: str | None = None
    colour: str | None = None
    own: str = ""
    own_size: int = 0
    wanted: bool = False

    @property
    def preset(self) -> Preset:
        """The example this state starts from."""
        return cooling_preset(self.example) if self.mode == "cooling" else hierarchy_preset(self.example)


def presets_of(mode: str) -> tuple[Preset, ...]:
    """The examples of a mode."""
    return COOLING_PRESETS if mode == "cooling" else HIERARCHY_PRESETS


def panels_of(state: HierarchyState) -> tuple[Panel, ...]:
    """The sides with every choice applied: two of levels, one of cooling. Raises InputError when one does not fit."""
    pair = state.preset.pairs[0]
    sides = []
    for index, panel in enumerate(pair.panels if state.mode == "levels" else pair.panels[:1]):
        config = panel.config.with_(seed=state.seed)
        if state.mode == "levels":
            config = _levels(state, config)
        if state.epsilon[index] is not None:
            config = config.with_(epsilon=state.epsilon[index])
        if state.temperature[index] is not None and state.mode == "levels":
            config = config.with_(temperature=state.temperature[index])
        named_by_sizes = state.mode == "levels" and panel.label[:1].isdigit()
        sides.append(Panel(", ".join(map(str, config.sizes)) if named_by_sizes else panel.label, config))
    return tuple(sides)


def _levels(state: HierarchyState, config: HierarchyConfig) -> HierarchyConfig:
    base, upper = config.base, config.upper
    if state.own or (state.texts and state.texts != base.data.kind):
        if state.own:
            size = max(2, min(state.own_size, 400))
            data = replace(NEWS.data, kind="custom", texts=(state.own,), num_documents=size)
        else:
            data = replace(NEWS.data, kind=state.texts)
        if data.kind == "synthetic":
            data = replace(data, num_documents=64, tokens_per_document=24)
        names = ("encoder", "anchor", "anchor_weight", "lr_prototypes", "batch_documents", "frame_every")
        shared = {name: getattr(NEWS, name) for name in names} if data.kind != "synthetic" else {}
        if data.num_documents <= (shared.get("batch_documents") or 0):
            shared["batch_documents"] = None
        base = replace(base, data=data, **shared)
    if state.shape:
        sizes = [int(size) for size in state.shape.split("-")]
        first = upper[0]
        base = replace(base, num_prototypes=sizes[0])
        upper = tuple(
            replace(upper[i] if i < len(upper) else LevelConfig(temperature=first.temperature, epsilon=first.epsilon), num_prototypes=size)
            for i, size in enumerate(sizes[1:])
        )
    return HierarchyConfig(base, upper)


def to_query(state: HierarchyState) -> dict[str, str]:
    """The shortest query that `from_query` turns back into `state`; documents of one's own stay out of it."""
    plain = HierarchyState(mode=state.mode, example=state.example)
    query: dict[str, str] = {} if state.mode == "levels" else {"mode": state.mode}
    query["example"] = state.example
    for name in ("seed", "shape", "texts", "map", "colour"):
        value: Any = getattr(state, name)
        if value is not None and value != getattr(plain, name):
            query[name] = str(value)
    for name, key in (("epsilon", "eps"), ("temperature", "T")):
        if any(value is not None for value in getattr(state, name)):
            query[key] = write_several(getattr(state, name))
    if state.own or state.wanted:
        query["data"] = "own"
    return query


def from_query(query: Mapping[str, str]) -> tuple[HierarchyState, list[str]]:
    """Read a link; what cannot be read is left out, and said in one sentence each."""
    link = LinkReader(query)
    mode = link.choice("mode", list(MODES)) or "levels"
    state = HierarchyState(mode=mode, example=presets_of(mode)[0].key)
    example = link.choice("example", [p.key for p in presets_of(mode)], "showing the first one")
    if example is not None:
        state = replace(state, example=example)
    found = {
        "seed": link.whole("seed", 0, 2**32 - 1), "shape": link.choice("shape", list(SHAPES)),
        "texts": link.choice("texts", list(TEXTS)), "map": link.choice("map", MAPS),
        "colour": link.choice("colour", ("class", "prototype")), "epsilon": link.several("eps", 2, *EPSILON_RANGE),
        "temperature": link.several("T", 2, *TEMPERATURE_RANGE),
    }  # fmt: skip
    state = link.take(state, found, panels_of)
    if query.get("data") == "own":
        state = replace(state, wanted=True)
        link.problems.append(
            "This link was made with documents of somebody's own, which no link carries: load them to see the same. "
            "Until then the example's are shown."
        )
    return state, link.problems
