"""Names of prototypes: the words that are theirs more than others'."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

import numpy as np

WORDLIKE = re.compile(r"[^\W\d_]{2,}")  # letters of any script, two or more
_MORE_STOP_WORDS = ("said", "mr", "ms", "mrs", "would", "could", "also", "don", "ve", "ll", "re", "didn", "doesn", "isn")


def stop_words() -> frozenset[str]:
    """English words that name nothing: scikit-learn's list, and what word pieces and news leave beside it."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return ENGLISH_STOP_WORDS.union(_MORE_STOP_WORDS)


def class_tf_idf(tf: np.ndarray) -> np.ndarray:
    """Class-based TF-IDF (Grootendorst, arXiv 2203.05794, eq. 1), each prototype one class: (K, V) -> (K, V) scores.

        score(w, k) = tf(w, k) / sum_w tf(w, k) * log(1 + A / f(w))

    tf: (K, V) summed weight of the occurrences of word w that follow prototype k; f(w): its sum over all prototypes;
    A: mean weight of the words of a prototype, over those that any word follows. 0 where tf is 0.
    """
    mass = tf.sum(axis=1, keepdims=True)
    average = mass.sum() / max(1, int((mass > 0).sum()))
    frequency = tf.sum(axis=0)
    tiny = np.finfo(np.float64).tiny
    return tf / np.maximum(mass, tiny) * np.log1p(average / np.where(frequency > 0, frequency, 1.0))


def best_words(
    ids: np.ndarray, leads: np.ndarray, weights: np.ndarray, size: int, prototypes: int, count: int, least: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """The `count` words with the highest `class_tf_idf` of each prototype, best first: numbers and scores (K, count).

    ids: (W,) number of each occurrence's word, 0 to size - 1; -1 takes no part. leads: (W,) its leading prototype.
    weights: (W,) how much it follows it. least: words with fewer occurrences are taken only when a prototype has no
    others. Equal scores go by number. A place without a word holds -1 and score 0.
    """
    use = ids >= 0
    place = leads[use] * size + ids[use]
    tf = np.bincount(place, weights=weights[use], minlength=prototypes * size).reshape(prototypes, size)
    score = class_tf_idf(tf)
    often = np.bincount(ids[use], minlength=size) >= least
    rare_too = ~((tf > 0) & often).any(axis=1, keepdims=True)
    score = np.where((tf > 0) & (often | rare_too), score, 0.0)
    order = np.argsort(-score, axis=1, kind="stable")[:, :count]
    best = np.take_along_axis(score, order, axis=1)
    pad = ((0, 0), (0, count - order.shape[1]))
    return np.pad(np.where(best > 0, order, -1), pad, constant_values=-1), np.pad(best, pad)


def characteristic_words(
    words: Sequence[str],
    leads: np.ndarray,
    prototypes: int,
    count: int = 8,
    weights: np.ndarray | None = None,
    stop: Collection[str] = frozenset(),
    least: int = 2,
) -> list[list[tuple[str, float]]]:
    """The `count` most characteristic words of each prototype by `class_tf_idf`, best first, with their scores.

    Words are compared in lower case; `stop` words, numbers, single letters and words seen fewer than `least` times are
    left out (words seen less often are taken when nothing else is left). For many looks at the same documents see
    `WordIndex`.

    words: one for each occurrence. leads: (W,) its leading prototype. weights: (W,) how much it follows it; 1 without.
    Returns a list for each of K prototypes, empty for one that no word follows.
    """
    vocabulary, ids = numbered([word.casefold() for word in words], lambda word: nameable(word, stop))
    weights = np.ones(len(words)) if weights is None else np.asarray(weights, dtype=np.float64)
    found, scores = best_words(ids, np.asarray(leads), weights, len(vocabulary), prototypes, count, least)
    return named(vocabulary, found, scores)


def nameable(word: str, stop: Collection[str]) -> bool:
    """Whether a word in lower case may name a prototype."""
    return word not in stop and WORDLIKE.fullmatch(word) is not None


def numbered(words: Sequence[str], accept) -> tuple[list[str], np.ndarray]:
    """The accepted words in alphabetical order, and the number (W,) of each occurrence among them, -1 for the others."""
    vocabulary = sorted(word for word in set(words) if accept(word))
    number = {word: i for i, word in enumerate(vocabulary)}
    return vocabulary, np.array([number.get(word, -1) for word in words], dtype=np.int64)


def named(vocabulary: Sequence[str], found: np.ndarray, scores: np.ndarray) -> list[list[tuple[str, float]]]:
    """What `best_words` returns, with the words themselves."""
    return [
        [(vocabulary[w], float(s)) for w, s in zip(row.tolist(), score) if w >= 0] for row, score in zip(found, scores)
    ]
