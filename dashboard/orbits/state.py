"""The Orbits page's state: from a link to the two runs on the page, and back. Pure functions over plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from dashboard.links import LinkReader, settle_view, write_several
from dashboard.orbits.presets import BATCH, ORBIT_PRESETS, orbit_preset
from dashboard.presets import Panel, Preset
from ddcl_core.config import RunConfig

OBJECTS = (500, 1_000, 3_000, 10_000, 30_000)
IMBALANCES = (1, 2, 5, 10, 20, 50, 100, 200, 500)
NOISES = (0.0, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0)
CLUSTERS = (2, 4, 6, 8, 12, 16, 24, 32)
MAPS = ("shape", "tilt", "umap", "pca")
COLOURS = ("class", "prototype")
UPLOAD_LIMIT = 100_000  # objects; what a DataConfig can hold


@dataclass(frozen=True)
class OrbitState:
    """Everything that determines the picture.

    objects, imbalance, noise: of the synthetic population; None keeps the example's. clusters: K likewise.
    own: reference of a loaded catalogue, or '' for the synthetic one; own_size: its objects. Neither goes into a link.
    wanted: whether the link was made with a catalogue of somebody's own.
    side, prototype, cloud: what is looked at below the maps.
    """

    example: str = ORBIT_PRESETS[0].key
    pair: int = 1
    seed: int = 7
    epsilon: tuple[float | None, float | None] = (None, None)
    temperature: tuple[float | None, float | None] = (None, None)
    objects: int | None = None
    imbalance: float | None = None
    noise: float | None = None
    clusters: int | None = None
    map: str | None = None
    colour: str | None = None
    own: str = ""
    own_size: int = 0
    wanted: bool = False
    side: int = 0
    prototype: int = 0
    cloud: str = ""

    @property
    def preset(self) -> Preset:
        """The example this state starts from."""
        return orbit_preset(self.example)


def first_pair(example: str) -> int:
    """Which comparison of an example is shown first: of the imbalances, the one at which it happens."""
    return 1 if example == ORBIT_PRESETS[0].key else 0


def panels_of(state: OrbitState) -> tuple[Panel, Panel]:
    """The two sides with every choice applied. Raises InputError with one sentence when one does not fit."""
    pairs = state.preset.pairs
    sides = []
    for index, panel in enumerate(pairs[min(max(state.pair, 0), len(pairs) - 1)].panels):
        config = replace(panel.config, data=_data(state, panel.config), seed=state.seed)
        if state.clusters is not None:
            config = replace(config, num_prototypes=state.clusters)
        if config.data.num_documents <= BATCH:
            config = replace(config, batch_documents=None)
        if state.epsilon[index] is not None:
            config = config.with_(epsilon=state.epsilon[index])
        if state.temperature[index] is not None:
            config = config.with_(temperature=state.temperature[index])
        sides.append(Panel(panel.label, config))
    return sides[0], sides[1]


def _data(state: OrbitState, config: RunConfig):
    if state.own:
        size = min(max(state.own_size, 1), UPLOAD_LIMIT)
        return replace(config.data, texts=(state.own,), num_documents=size, imbalance=50.0, noise=0.0)
    changes = {"num_documents": state.objects, "imbalance": state.imbalance, "noise": state.noise}
    return replace(config.data, **{name: value for name, value in changes.items() if value is not None})


# ---- the link ----------------------------------------------------------------------------------------------------

_WHOLE = {
    "seed": ("seed", 0, 2**32 - 1), "objects": ("objects", 4, 100_000), "k": ("clusters", 1, 64),
    "side": ("side", 0, 1), "prototype": ("prototype", 1, 64),
}  # fmt: skip
_NUMBERS = {"imbalance": ("imbalance", 1.0, 10_000.0), "noise": ("noise", 0.0, 10.0)}


def to_query(state: OrbitState) -> dict[str, str]:
    """The shortest query that `from_query` turns back into `state`; a loaded catalogue stays out of it."""
    plain = OrbitState(example=state.example, pair=first_pair(state.example))
    query = {"example": state.example}
    for name, short in (("pair", "pair"), ("map", "map"), ("colour", "colour"), ("cloud", "cloud"), ("side", "side"),
                        ("seed", "seed"), ("objects", "objects"), ("clusters", "k")):  # fmt: skip
        value = getattr(state, name)
        if value is not None and value != getattr(plain, name):
            query[short] = str(value)
    if state.prototype:
        query["prototype"] = str(state.prototype + 1)
    for name in ("imbalance", "noise"):
        if getattr(state, name) is not None:
            query[name] = f"{getattr(state, name):g}"
    for name, short in (("epsilon", "eps"), ("temperature", "T")):
        values = getattr(state, name)
        if any(v is not None for v in values):
            query[short] = write_several(values)
    if state.own or state.wanted:
        query["data"] = "own"
    return query


def from_query(query: Mapping[str, str]) -> tuple[OrbitState, list[str]]:
    """Read a link. What cannot be read is left out, and said in one sentence each; never an exception."""
    link, state = LinkReader(query), OrbitState()
    example = link.choice("example", [p.key for p in ORBIT_PRESETS], "showing the first one")
    if example is not None:
        state = replace(state, example=example, pair=first_pair(example))
    found = {"pair": link.whole("pair", 0, len(state.preset.pairs) - 1)}
    found |= {name: link.whole(short, low, high) for short, (name, low, high) in _WHOLE.items()}
    if found["prototype"] is not None:
        found["prototype"] -= 1
    found |= {name: link.number(short, low, high) for short, (name, low, high) in _NUMBERS.items()}
    found |= {
        "map": link.choice("map", MAPS), "colour": link.choice("colour", COLOURS), "epsilon": link.several("eps", 2),
        "temperature": link.several("T", 2), "cloud": link.text("cloud"),
    }  # fmt: skip
    state = replace(link.take(state, found, panels_of), wanted=query.get("data") == "own")
    if state.wanted:
        link.problems.append("This link was made with a catalogue of somebody's own, which no link carries: load it "
                             "below to see the same picture. Until then a synthetic population is shown.")  # fmt: skip
    return state, link.problems


def settle(state: OrbitState, panels: tuple[Panel, Panel], view: Mapping[str, Any] | None) -> OrbitState:
    """`state` with what the person set in the live view, for the link."""
    return settle_view(state, panels, view, MAPS)
