"""What prototypes say about documents: words, mixtures, contributions, names, coherence. Numpy only; no torch."""

from __future__ import annotations

from ddcl_core.explain.coherence import npmi
from ddcl_core.explain.mixtures import (
    class_profile,
    contributions,
    mixtures,
    nearest_documents,
    switched_off,
    twins,
)
from ddcl_core.explain.names import characteristic_words
from ddcl_core.explain.word_index import WordIndex, word_index
from ddcl_core.explain.words import Word, join_pieces, token_spans

__all__ = [
    "Word", "WordIndex", "characteristic_words", "class_profile", "contributions", "join_pieces", "mixtures", "nearest_documents",
    "npmi", "switched_off", "token_spans", "twins", "word_index",
]  # fmt: skip
