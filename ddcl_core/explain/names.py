"""Names of prototypes: the words that are theirs more than others'."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence

import numpy as np

_WORDLIKE = re.compile(r"[^\W\d_]{2,}", re.UNICODE)


def characteristic_words(
    words: Sequence[str],
    leads: np.ndarray,
    prototypes: int,
    count: int = 8,
    weights: np.ndarray | None = None,
    stop: Collection[str] = frozenset(),
    least: int = 2,
) -> list[list[tuple[str, float]]]:
    """The `count` most characteristic words of each prototype, best first, with their scores.

    Class-based TF-IDF (Grootendorst, arXiv 2203.05794, eq. 1), each prototype one class:

        score(w, k) = tf(w, k) / sum_w tf(w, k) * log(1 + A / f(w))

    tf: summed weight of the word's occurrences that follow prototype k; f(w): over all prototypes; A: mean words a
    prototype. Words are compared in lower case; `stop` words, numbers, single letters and words seen fewer than `least`
    times are left out (words seen once are taken when nothing else is left).

    words: one for each occurrence. leads: (W,) its leading prototype. weights: (W,) how much it follows it; 1 without.
    Returns a list for each of K prototypes, empty for one that no word follows.
    """
    tf: list[defaultdict[str, float]] = [defaultdict(float) for _ in range(prototypes)]
    total: Counter[str] = Counter()
    weights = np.ones(len(words)) if weights is None else weights
    for word, lead, weight in zip(words, leads.tolist(), weights.tolist()):
        plain = word.casefold()
        if plain in stop or not _WORDLIKE.fullmatch(plain):
            continue
        tf[lead][plain] += weight
        total[plain] += 1
    masses = [sum(counts.values()) for counts in tf]
    average = sum(masses) / max(1, sum(mass > 0 for mass in masses))
    frequency: Counter[str] = Counter()
    for counts in tf:
        frequency.update(counts)
    found = []
    for counts, mass in zip(tf, masses):
        scores = [
            (word, value / mass * float(np.log1p(average / frequency[word])), total[word]) for word, value in counts.items()
        ]
        often = [(word, score) for word, score, times in scores if times >= least]
        chosen = often or [(word, score) for word, score, _ in scores]
        found.append(sorted(chosen, key=lambda pair: (-pair[1], pair[0]))[:count])
    return found
