"""The Codebook page's state: from a link to the two runs on the page, and back. Pure functions over plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from dashboard.codebook.presets import CODEBOOK_PRESETS, codebook_preset
from dashboard.links import LinkReader, write_several
from dashboard.presets import Panel, Preset
from ddcl_core.codebook.config import CodebookConfig, ImageConfig
from ddcl_core.config import EPSILON_RANGE, TEMPERATURE_RANGE

SIZES = (8, 16, 32, 64, 128, 256, 512)
IMAGES = {"patches": "photo patches", "digits": "digits", "cifar10": "CIFAR-10"}
MAPS = ("umap", "pca")
MOST_CODES = 1024


@dataclass(frozen=True)
class CodebookState:
    """Everything that determines the picture.

    images, codes: None keeps the example's. own: reference of loaded pictures, or ''; it goes into no link.
    wanted: whether the link was made with pictures of somebody's own.
    """

    example: str = CODEBOOK_PRESETS[0].key
    pair: int = 0
    seed: int = 7
    epsilon: tuple[float | None, float | None] = (None, None)
    temperature: tuple[float | None, float | None] = (None, None)
    codes: int | None = None
    images: str | None = None
    map: str | None = None
    colour: str | None = None
    own: str = ""
    wanted: bool = False

    @property
    def preset(self) -> Preset:
        """The example this state starts from."""
        return codebook_preset(self.example)


def panels_of(state: CodebookState) -> tuple[Panel, Panel]:
    """The two sides with every choice applied. Raises InputError with one sentence when one does not fit."""
    pairs = state.preset.pairs
    sides = []
    for index, panel in enumerate(pairs[min(max(state.pair, 0), len(pairs) - 1)].panels):
        config: CodebookConfig = replace(panel.config, seed=state.seed)
        if state.own:
            config = replace(config, images=ImageConfig("own", 1024, 32, state.own))
        elif state.images is not None:
            config = replace(config, images=replace(config.images, kind=state.images))
        if state.codes is not None:
            config = replace(config, num_codes=state.codes)
        if state.epsilon[index] is not None:
            config = config.with_(epsilon=state.epsilon[index])
        if state.temperature[index] is not None:
            config = config.with_(temperature=state.temperature[index])
        sides.append(Panel(panel.label, config))
    return sides[0], sides[1]


def to_query(state: CodebookState) -> dict[str, str]:
    """The shortest query that `from_query` turns back into `state`; pictures of one's own stay out of it."""
    plain = CodebookState(example=state.example)
    query = {"example": state.example}
    for name, key in (("pair", "pair"), ("seed", "seed"), ("codes", "k"), ("images", "images"), ("map", "map"),
                      ("colour", "colour")):  # fmt: skip
        value = getattr(state, name)
        if value is not None and value != getattr(plain, name):
            query[key] = str(value)
    for name, key in (("epsilon", "eps"), ("temperature", "T")):
        if any(value is not None for value in getattr(state, name)):
            query[key] = write_several(getattr(state, name))
    if state.own or state.wanted:
        query["data"] = "own"
    return query


def from_query(query: Mapping[str, str]) -> tuple[CodebookState, list[str]]:
    """Read a link; what cannot be read is left out, and said in one sentence each."""
    link = LinkReader(query)
    state = CodebookState()
    example = link.choice("example", [p.key for p in CODEBOOK_PRESETS], "showing the first one")
    if example is not None:
        state = replace(state, example=example)
    found = {
        "pair": link.whole("pair", 0, len(state.preset.pairs) - 1), "seed": link.whole("seed", 0, 2**32 - 1),
        "codes": link.whole("k", 1, MOST_CODES), "images": link.choice("images", list(IMAGES)),
        "map": link.choice("map", MAPS), "colour": link.choice("colour", ("class", "prototype")),
        "epsilon": link.several("eps", 2, *EPSILON_RANGE), "temperature": link.several("T", 2, *TEMPERATURE_RANGE),
    }  # fmt: skip
    state = link.take(state, found, panels_of)
    if query.get("data") == "own":
        state = replace(state, wanted=True)
        link.problems.append(
            "This link was made with pictures of somebody's own, which no link carries: load them to see the same. "
            "Until then other images are shown."
        )
    return state, link.problems
