"""The words of documents, found once, so that each look at a run costs array operations only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ddcl_core.explain.coherence import npmi_of
from ddcl_core.explain.names import WORDLIKE, best_words, named, nameable, numbered, stop_words
from ddcl_core.explain.words import join_pieces

_indices: WeakKeyDictionary[Any, WordIndex] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class WordIndex:
    """W words, in reading order, of B documents with N tokens in all; every token belongs to exactly one word.

    first: (W,) place of each word's first token among all N. tokens: N. ids: (W,) its number in the vocabulary, -1 for
    stop words, numbers and single letters. vocabulary: V words in lower case, in alphabetical order. texts: the B texts.
    """

    first: np.ndarray
    tokens: int
    ids: np.ndarray
    vocabulary: list[str]
    texts: Sequence[str]

    @classmethod
    def of(cls, texts: Sequence[str] | None, words: Sequence[Sequence[str]]) -> WordIndex:
        """texts: B documents. words: the word pieces of each, as `Embeddings.words` has them.

        Without texts each piece is a word of its own, and any may name a prototype: a topic's name may hold a number.
        """
        first, forms, place = [], [], 0
        for document, pieces in enumerate(words):
            if texts is None:
                first += range(place, place + len(pieces))
                forms += [piece.casefold() for piece in pieces]
            else:
                found = join_pieces(texts[document], pieces)
                first += [place + word.first for word in found]
                forms += [texts[document][word.start : word.end].casefold() for word in found]
            place += len(pieces)
        stop = stop_words()
        vocabulary, ids = numbered(forms, bool if texts is None else lambda word: nameable(word, stop))
        whole = texts if texts is not None else [" ".join(pieces) for pieces in words]
        return cls(np.array(first, dtype=np.int64), place, ids, vocabulary, whole)

    @property
    def token_ids(self) -> np.ndarray:
        """(N,) vocabulary number of the word that each token belongs to."""
        return np.repeat(self.ids, np.diff(self.first, append=self.tokens))

    def shares(self, assignments: np.ndarray) -> np.ndarray:
        """Mean assignment of each word's tokens: (N, K) -> (W, K) float32."""
        sums = np.add.reduceat(np.asarray(assignments, dtype=np.float32), self.first, axis=0)
        return sums / np.diff(self.first, append=self.tokens)[:, None].astype(np.float32)

    def names(self, assignments: np.ndarray, count: int = 10, least: int = 2) -> list[list[tuple[str, float]]]:
        """`characteristic_words` of each prototype for token assignments (N, K); a word follows the prototype that its
        tokens give most to, by as much as they give it."""
        share = self.shares(assignments)
        leads, weights = share.argmax(axis=1), share.max(axis=1).astype(np.float64)
        found, scores = best_words(self.ids, leads, weights, len(self.vocabulary), share.shape[1], count, least)
        return named(self.vocabulary, found, scores)

    def coherence(self, names: Sequence[Sequence[tuple[str, float]]]) -> np.ndarray:
        """(K,) `npmi` of each prototype's words over the whole texts."""
        number = {word: i for i, word in enumerate(self.vocabulary)}
        words = [[word for word, _ in one] for one in names]
        holds = {word: set(self._holds[:, [number[word]]].indices.tolist()) for row in words for word in row}
        return npmi_of(words, holds, len(self.texts))

    @cached_property
    def _holds(self) -> Any:
        """(B, V) sparse: which text holds which word."""
        from sklearn.feature_extraction.text import CountVectorizer

        counter = CountVectorizer(
            vocabulary=self.vocabulary, binary=True, lowercase=False, preprocessor=str.casefold,
            token_pattern=WORDLIKE.pattern, dtype=np.int8,
        )  # fmt: skip
        return counter.transform(self.texts).tocsc()


def word_index(scene: Any) -> WordIndex:
    """The `WordIndex` of a `TokenScene`, kept as long as the scene is."""
    found = _indices.get(scene)
    if found is None:
        found = _indices[scene] = WordIndex.of(scene.texts, scene.words)
    return found
