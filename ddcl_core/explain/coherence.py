"""Coherence of word lists, measured on a corpus."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations

import numpy as np


def npmi(names: Sequence[Sequence[str]], documents: Sequence[Collection[str]]) -> np.ndarray:
    """Mean normalised pointwise mutual information of the word pairs of each list, -1 to 1; nan below two words.

    NPMI(a, b) = log(p(a, b) / (p(a) p(b))) / -log p(a, b), p being the share of documents that hold the word or both
    (Bouma 2009; Lau, Newman and Baldwin, EACL 2014); -1 for a pair that no document holds, 1 for words that every
    document with one has both of.

    names: K lists of words. documents: the set of words of each document, in the same form as the lists.
    """
    wanted = {word for words in names for word in words}
    holds = {word: {i for i, document in enumerate(documents) if word in document} for word in wanted}
    return npmi_of(names, holds, len(documents))


def npmi_of(names: Sequence[Sequence[str]], holds: Mapping[str, set[int]], documents: int) -> np.ndarray:
    """`npmi` where it is known which of so many documents hold each word."""
    count = max(documents, 1)
    scores = []
    for words in names:
        values = []
        for a, b in combinations(dict.fromkeys(words), 2):
            both = len(holds[a] & holds[b]) / count
            if both == 0.0:
                values.append(-1.0)
            elif both == 1.0:
                values.append(1.0)
            else:
                apart = (len(holds[a]) / count) * (len(holds[b]) / count)
                values.append(float(np.log(both / apart) / -np.log(both)))
        scores.append(float(np.mean(values)) if values else float("nan"))
    return np.array(scores)
