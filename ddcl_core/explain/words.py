"""From word pieces back to the words of the text, in their places, with everything between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Word:
    """A word of a text: `text[start:end]`, made of the tokens `first` to `last` (both included)."""

    start: int
    end: int
    first: int
    last: int


def token_spans(text: str, pieces: Sequence[str]) -> list[tuple[int, int]]:
    """Where each token stands in its text: (start, end) with `text[start:end]` the piece.

    pieces: surface forms in reading order as `Embeddings.words` has them, each a slice of the text; `##` marks the rest
    of a word. A piece that is not found, as a tokenizer without offsets may give, gets an empty span where the last
    one ended.
    """
    spans, cursor = [], 0
    for piece in pieces:
        surface = piece[2:] if piece.startswith("##") and len(piece) > 2 else piece
        at = text.find(surface, cursor) if surface else -1
        if at < 0 and piece != surface:  # a text that says "##" itself
            at, surface = text.find(piece, cursor), piece
        if at < 0:
            spans.append((cursor, cursor))
            continue
        cursor = at + len(surface)
        spans.append((at, cursor))
    return spans


def join_pieces(text: str, pieces: Sequence[str]) -> list[Word]:
    """The words of a text with the tokens that make each; what lies between two words belongs to neither."""
    words: list[Word] = []
    for i, (start, end) in enumerate(token_spans(text, pieces)):
        rest = pieces[i].startswith("##") and words and words[-1].end == start
        if rest:
            words[-1] = Word(words[-1].start, max(end, words[-1].end), words[-1].first, i)
        else:
            words.append(Word(start, end, i, i))
    return words
