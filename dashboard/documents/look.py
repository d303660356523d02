"""A look at the documents: what every token, prototype and class have to do with each other at one moment. Numpy only."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from dashboard.engine.client import get_engine
from dashboard.engine.handles import EngineError
from dashboard.live.hub import get_hub
from ddcl_core.errors import InputError
from ddcl_core.explain import class_profile, contributions, join_pieces, mixtures, switched_off, twins

PATIENCE = 60.0  # seconds for a worker that trains and places frames beside
WORKER = "dashboard.documents.worker"


@dataclass(frozen=True, eq=False)
class Material:
    """What never changes about the documents of a scene; see `worker.material`."""

    texts: list[str]
    words: list[list[str]]
    labels: np.ndarray
    class_names: list[str]
    owners: np.ndarray
    notes: list[str]
    source: str
    first: np.ndarray = field(init=False)  # (B + 1,) place of each document's first token among all

    def __post_init__(self) -> None:
        counts = np.array([len(row) for row in self.words], dtype=np.int64)
        object.__setattr__(self, "first", np.concatenate([[0], np.cumsum(counts)]))

    @property
    def count(self) -> int:
        """B."""
        return len(self.texts)

    @cached_property
    def folded(self) -> list[str]:
        """The texts for a search that does not care for capitals."""
        return [text.casefold() for text in self.texts]


@dataclass(frozen=True, eq=False)
class DocumentLook:
    """One moment of a run over its documents; everything as in `worker.moment`."""

    material: Material
    step: int
    temperature: float
    epsilon: float
    status: str
    assignments: np.ndarray
    prototypes: np.ndarray
    weight: np.ndarray | None
    bias: np.ndarray | None
    logits: np.ndarray | None
    places: np.ndarray
    tokens: np.ndarray
    names: list[list[tuple[str, float]]]
    npmi: np.ndarray
    agreement: dict[str, tuple[float, float, float]] | None = None

    @property
    def K(self) -> int:  # noqa: N802 - the symbol of the paper
        """Number of prototypes."""
        return len(self.prototypes)

    @cached_property
    def mixture(self) -> np.ndarray:
        """(B, K) mean assignment of each document."""
        return mixtures(self.assignments.astype(np.float32), self.material.owners, self.material.count)

    @cached_property
    def usage(self) -> np.ndarray:
        """(K,) mean assignment over all tokens."""
        return self.assignments.astype(np.float32).mean(axis=0)

    @cached_property
    def lead(self) -> np.ndarray:
        """(N,) leading prototype of each token."""
        return self.assignments.argmax(axis=1)

    @cached_property
    def dead(self) -> np.ndarray:
        """(K,) whether a prototype has less than a tenth of an even share."""
        return self.usage < 1.0 / (10 * self.K)

    @cached_property
    def twins(self) -> list[list[int]]:
        """Groups of prototypes that practically are one."""
        return twins(self.prototypes)

    @cached_property
    def predicted(self) -> np.ndarray | None:
        """(B,) class with the highest logit, None without a head."""
        return None if self.logits is None else self.logits.argmax(axis=1)

    @cached_property
    def profile(self) -> np.ndarray:
        """(K, C) share of each prototype's weight in documents of each class."""
        return class_profile(self.mixture, self.material.labels, len(self.material.class_names))

    def tokens_of(self, document: int) -> slice:
        """Places of a document's tokens."""
        return slice(int(self.material.first[document]), int(self.material.first[document + 1]))

    def parts(self, document: int) -> np.ndarray | None:
        """(K, C) what each prototype adds to each logit of a document; with the bias they sum to it."""
        if self.weight is None:
            return None
        return contributions(self.mixture[document], self.prototypes.astype(float), self.weight.astype(float))

    def without(
        self, document: int, off: np.ndarray, whole: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Mixture (K,) and logits (C,) of a document with the prototypes of the mask `off` switched off."""
        q = self.assignments[self.tokens_of(document)] if whole is None else whole["assignments"]
        q = switched_off(q.astype(float), off)
        mixture = q.mean(axis=0) if len(q) else np.zeros(self.K)
        if self.weight is None:
            return mixture, None
        return mixture, mixture @ self.prototypes.astype(float) @ self.weight.T.astype(float) + self.bias

    def name(self, k: int, chosen: dict[int, str] | None = None, words: int = 3) -> str:
        """What a prototype is called: by a person, else by its most characteristic words."""
        own = (chosen or {}).get(k, "").strip()
        if own:
            return own
        found = [word for word, _ in self.names[k][:words]]
        return ", ".join(found) if found else "no words"

    def words_of(self, document: int, whole: dict[str, Any] | None = None) -> list[tuple[int, int, np.ndarray]]:
        """(start, end, mean assignment (K,)) of each word of a document's text. whole: of `ask_whole`, to its end."""
        text, pieces = self.material.texts[document], self.material.words[document]
        q = self.assignments[self.tokens_of(document)].astype(np.float32)
        if whole is not None:
            pieces, q = whole["words"], whole["assignments"]
        return [(w.start, w.end, q[w.first : w.last + 1].mean(axis=0)) for w in join_pieces(text, pieces)]

    def contexts(self, k: int, count: int = 12, around: int = 45) -> list[tuple[int, float, str, str, str]]:
        """The tokens that follow a prototype most surely, each in another document first:
        (document, share, text before, word, text after)."""
        share = self.assignments[:, k].astype(np.float32)
        order = np.argsort(-share, kind="stable")
        order = order[self.lead[order] == k][: 40 * count]
        found, seen = [], set()
        for place in order.tolist():
            document = int(self.material.owners[place])
            if document in seen:
                continue
            seen.add(document)
            index = place - int(self.material.first[document])
            text = self.material.texts[document]
            for word in join_pieces(text, self.material.words[document]):
                if word.first <= index <= word.last:
                    before, after = text[max(0, word.start - around) : word.start], text[word.end : word.end + around]
                    found.append((document, float(share[place]), before, text[word.start : word.end], after))
            if len(found) >= count:
                break
        return found[:count]


def take_look(token: str, known: Material | None) -> DocumentLook:
    """Ask the run what its documents look like now; from a page's thread. Raises InputError with a sentence."""
    handle = _handle(token)
    try:
        material, moment = asyncio.run(_ask(handle, known))
    except (EngineError, asyncio.TimeoutError) as error:
        raise InputError("The worker did not answer just now; look again in a moment.") from error
    if len(moment["assignments"]) != len(material.owners):
        raise InputError("The run has just been started anew; look again in a moment.")
    return DocumentLook(material, **moment)


async def _ask(handle: Any, known: Material | None) -> tuple[Material, dict[str, Any]]:
    material = known
    if material is None:
        material = Material(**await handle.call("ask", f"{WORKER}:material", timeout=PATIENCE))
    return material, await handle.call("ask", f"{WORKER}:moment", timeout=PATIENCE)


def search(
    look: DocumentLook, wanted: str = "", among: np.ndarray | None = None, wrong: bool = False
) -> np.ndarray:
    """Documents, of `among` (all by default), that hold every word of `wanted`; with `wrong`, those read as another class."""
    rows = np.arange(look.material.count) if among is None else np.asarray(among, dtype=int)
    parts = wanted.casefold().split()
    if parts:
        folded = look.material.folded
        rows = np.array([i for i in rows if all(part in folded[i] for part in parts)], dtype=int)
    if wrong and look.predicted is not None:
        rows = rows[look.predicted[rows] != look.material.labels[rows]]
    return rows


def usage_over_training(token: str) -> tuple[np.ndarray, np.ndarray]:
    """Steps (F,) of the recorded frames of this scene's run, and each prototype's share of the tokens (F, K)."""
    session = get_hub(get_engine()).showing(token)
    frames = list(session.panels[0].track.frames) if session is not None and session.panels else []
    if not frames:
        return np.zeros(0, dtype=int), np.zeros((0, 0))
    return np.array([int(f["step"]) for f in frames]), np.stack([np.asarray(f["usage"], dtype=float) for f in frames])


def ask_faithfulness(token: str) -> dict[str, Any]:
    """`worker.faithfulness` of the run as it is now. Raises InputError with a sentence."""
    return _asked(token, "faithfulness")


def ask_whole(token: str, document: int, step: int) -> dict[str, Any]:
    """`worker.whole` of the run at `step`. Raises InputError with a sentence, also when the run has trained on since:
    prototypes of one moment do not explain the tokens of another."""
    found = _asked(token, "whole", document=document)
    if found["step"] != step:
        raise InputError(
            f"The run has trained on, from step {step:,} to {found['step']:,}; pause it or let it finish, press "
            "'Read the documents now', and then read to the end."
        )
    return found


def _asked(token: str, what: str, **arguments: Any) -> dict[str, Any]:
    try:
        return asyncio.run(_handle(token).call("ask", f"{WORKER}:{what}", timeout=2 * PATIENCE, **arguments))
    except (EngineError, asyncio.TimeoutError) as error:
        raise InputError("The worker did not answer just now; try again in a moment.") from error


def _handle(token: str) -> Any:
    session = get_hub(get_engine()).showing(token)
    handle = session.panels[0].handle if session is not None and session.panels else None
    if handle is None:
        raise InputError("The run is not there yet; wait for the first picture.")
    return handle
