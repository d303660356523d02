"""The Documents page's state: from a link to the run on the page, and back. Pure functions over plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from dashboard.documents.presets import ALONE, BASE, DOCUMENT_PRESETS, document_preset
from dashboard.links import LinkReader, write_several
from dashboard.presets import Panel, Preset
from ddcl_core.config import EPSILON_RANGE, TEMPERATURE_RANGE
from ddcl_core.errors import InputError

COUNTS = (20, 50, 100, 200, 400, 1_000, 2_000, 5_000, 10_000, 20_000)
READ = (16, 32, 64, 128, 256, 512, 1024, 2048, 4096)
PROTOTYPES = (2, 4, 6, 8, 12, 16, 20, 24, 32, 48, 64)
MAPS = ("umap", "pca")
TASKS = {"classification": "tell the classes apart", "reconstruction": "cluster, no labels"}
MOST_TOKENS = 700_000
MEASURED_TOKENS = 40_000  # at each frame; with more, a frame would take seconds


@dataclass(frozen=True)
class DocumentState:
    """Everything that determines the picture.

    count, read, prototypes, task: None keeps the example's; read: tokens of each document. own: reference of loaded
    documents, or ''; own_size, own_labelled: how many, and whether they have labels. Neither goes into a link.
    document, prototype: what is looked at.
    """

    example: str = DOCUMENT_PRESETS[0].key
    seed: int = 7
    epsilon: tuple[float | None, ...] = (None,)
    temperature: tuple[float | None, ...] = (None,)
    count: int | None = None
    read: int | None = None
    prototypes: int | None = None
    task: str | None = None
    map: str | None = None
    colour: str | None = None
    own: str = ""
    own_size: int = 0
    own_labelled: bool = False
    wanted: bool = False
    document: int = 0
    prototype: int = 0

    @property
    def preset(self) -> Preset:
        """The example this state starts from."""
        return document_preset(self.example)


def panel_of(state: DocumentState) -> Panel:
    """The run with every choice applied. Raises InputError with one sentence when one does not fit."""
    panel = state.preset.pairs[0].left
    config = replace(panel.config, seed=state.seed)
    data = config.data
    if state.own:
        data = replace(data, kind="custom", texts=(state.own,), num_documents=max(1, min(state.own_size, COUNTS[-1])))
    data = replace(
        data,
        num_documents=min(data.num_documents if state.count is None else state.count, state.own_size or 10**9),
        tokens_per_document=data.tokens_per_document if state.read is None else state.read,
    )
    task = state.task or ("reconstruction" if state.own and not state.own_labelled else config.anchor)
    if data.num_documents * data.tokens_per_document > MOST_TOKENS:
        raise InputError(
            f"{data.num_documents:,} documents of up to {data.tokens_per_document:,} tokens are more than the {MOST_TOKENS:,} that "
            "train here; take fewer of them, or read fewer tokens of each."
        )
    config = replace(config, data=data)
    if task == "reconstruction":
        config = replace(config, **ALONE)
    elif config.anchor != "classification":
        names = ("anchor", "anchor_weight", "objective_weight", "lr_prototypes")
        config = replace(config, **{name: getattr(BASE, name) for name in names})
    if state.prototypes is not None:
        config = replace(config, num_prototypes=state.prototypes)
    if data.num_documents <= (config.batch_documents or 0):
        config = replace(config, batch_documents=None)
    elif data.num_documents * data.tokens_per_document > MEASURED_TOKENS:
        config = replace(config, measured_documents=max(config.batch_documents, MEASURED_TOKENS // data.tokens_per_document))
    if state.epsilon[0] is not None:
        config = config.with_(epsilon=state.epsilon[0])
    if state.temperature[0] is not None:
        config = config.with_(temperature=state.temperature[0])
    return Panel("DDCL readout" if task == "classification" else "DDCL clustering", config)


def prototypes_for(labels: int) -> int:
    """How many prototypes own documents with so many labels begin with: two a label, at least six; eight without any."""
    wanted = 8 if labels < 2 else max(6, 2 * labels)
    return next((count for count in PROTOTYPES if count >= wanted), PROTOTYPES[-1])


_WHOLE = {
    "count": ("documents", 2, COUNTS[-1]), "read": ("tokens", 1, READ[-1]), "prototypes": ("k", 1, 128),
    "seed": ("seed", 0, 2**32 - 1), "document": ("document", 1, COUNTS[-1]), "prototype": ("prototype", 1, 128),
}  # fmt: skip


def to_query(state: DocumentState) -> dict[str, str]:
    """The shortest query that `from_query` turns back into `state`; documents of one's own stay out of it."""
    plain = DocumentState(example=state.example)
    query = {"example": state.example}
    for name, key in (("task", "task"), ("map", "map"), ("colour", "colour")):
        value = getattr(state, name)
        if value is not None and value != getattr(plain, name):
            query[key] = str(value)
    for name, (key, _, _) in _WHOLE.items():
        value = getattr(state, name)
        if value is not None and value != getattr(plain, name):
            query[key] = str(value + (name in ("document", "prototype")))
    for name, key in (("epsilon", "eps"), ("temperature", "T")):
        if getattr(state, name)[0] is not None:
            query[key] = write_several(getattr(state, name))
    if state.own or state.wanted:
        query["data"] = "own"
    return query


def from_query(query: Mapping[str, str]) -> tuple[DocumentState, list[str]]:
    """Read a link; what cannot be read is left out, and said in one sentence each."""
    link, state = LinkReader(query), DocumentState()
    example = link.choice("example", [p.key for p in DOCUMENT_PRESETS], "showing the first one")
    if example is not None:
        state = replace(state, example=example)
    found = {name: link.whole(*about) for name, about in _WHOLE.items()}
    found |= {name: found[name] - 1 for name in ("document", "prototype") if found[name] is not None}
    found |= {
        "task": link.choice("task", list(TASKS)), "map": link.choice("map", MAPS),
        "colour": link.choice("colour", ("class", "prototype")), "epsilon": link.several("eps", 1, *EPSILON_RANGE),
        "temperature": link.several("T", 1, *TEMPERATURE_RANGE),
    }  # fmt: skip
    state = link.take(state, found, panel_of)
    if query.get("data") == "own":
        state = replace(state, wanted=True)
        link.problems.append(
            "Documents that somebody has loaded are in no link, and a reloaded page has lost them: load them again to see the same. "
            "Until then the example's are shown."
        )
    return state, link.problems
