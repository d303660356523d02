"""Corpora that are fetched, or read from a folder of one's own: 20 Newsgroups, SST-2 and IMDB."""

from __future__ import annotations

import csv
import gzip
import io
import os
from functools import lru_cache
from pathlib import Path

from ddcl_core.data.documents import Corpus, clean_text, distinct_documents
from ddcl_core.errors import InputError

FILES = {
    "newsgroups": ("20newsgroups_train", "20newsgroups"),
    "sst2": ("sst2_train", "sst2"),
    "imdb": ("imdb_train", "imdb"),
}
"""Names, without ending, under which DDCL_DATA_DIR may hold them: CSV, plain or gzipped, columns `label` and `text`."""
NAMES = {"newsgroups": "20 Newsgroups", "sst2": "SST-2", "imdb": "IMDB"}
_SENTIMENT = {"0": "negative", "1": "positive"}
_LARGEST_FIELD = 10_000_000


def load_newsgroups() -> Corpus:
    """20 Newsgroups, training part, 20 classes; through scikit-learn without headers, footers and quotes, or from a file.

    Raises InputError when it can be had neither way.
    """
    return _corpus("newsgroups", os.environ.get("DDCL_DATA_DIR", "").strip())


def load_sst2() -> Corpus:
    """SST-2, training part: sentences of film reviews, negative or positive; from a file or through `datasets`."""
    return _corpus("sst2", os.environ.get("DDCL_DATA_DIR", "").strip())


def load_imdb() -> Corpus:
    """IMDB, training part: 25,000 film reviews, negative or positive; from a file or through `datasets`."""
    return _corpus("imdb", os.environ.get("DDCL_DATA_DIR", "").strip())


@lru_cache(maxsize=4)
def _corpus(kind: str, folder: str) -> Corpus:
    path = _find(kind, folder)
    if path is not None:
        pairs, origin = _read_csv(path), f"{path.name} in DDCL_DATA_DIR"
    else:
        pairs, origin = {"newsgroups": _fetch_newsgroups}.get(kind, _fetch_dataset)(kind)
    pairs = [(clean_text(text), label) for text, label in pairs]
    names = tuple(sorted({label for text, label in pairs if text}))
    texts, labels = distinct_documents([(text, names.index(label)) for text, label in pairs if text])
    if not texts:
        raise InputError(f"{NAMES[kind]} holds no document with text in it; check the file.")
    return Corpus(NAMES[kind], texts, labels, names, f"{_ORIGINS[kind]} {origin}.")


_ORIGINS = {
    "newsgroups": "20 Newsgroups (Lang 1995), posts to Usenet, no licence stated, through",
    "sst2": "SST-2 (Socher et al., EMNLP 2013), for research, through",
    "imdb": "IMDB reviews (Maas et al., ACL 2011), for research, through",
}


def _find(kind: str, folder: str) -> Path | None:
    if not folder:
        return None
    for stem in FILES[kind]:
        for ending in (".csv.gz", ".csv"):
            path = Path(folder).expanduser() / (stem + ending)
            if path.is_file():
                return path
    return None


def _read_csv(path: Path) -> list[tuple[str, str]]:
    try:
        content = path.read_bytes()
        text = (gzip.decompress(content) if path.name.endswith(".gz") else content).decode("utf-8")
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise InputError(f"{path.name} in DDCL_DATA_DIR cannot be read ({error}); it must be CSV in UTF-8.") from error
    before = csv.field_size_limit(_LARGEST_FIELD)
    try:
        rows = csv.DictReader(io.StringIO(text, newline=""))
        if not {"label", "text"} <= set(rows.fieldnames or ()):
            raise InputError(f"{path.name} in DDCL_DATA_DIR needs the columns label and text; it has {rows.fieldnames}.")
        sentiment = path.name.startswith(("sst2", "imdb"))
        return [(row["text"] or "", _SENTIMENT.get(row["label"], row["label"]) if sentiment else row["label"])
                for row in rows if row["label"]]  # fmt: skip
    except csv.Error as error:
        raise InputError(f"{path.name} in DDCL_DATA_DIR is no readable CSV ({error}).") from error
    finally:
        csv.field_size_limit(before)


def _fetch_newsgroups(kind: str) -> tuple[list[tuple[str, str]], str]:
    from sklearn.datasets import fetch_20newsgroups

    try:
        found = fetch_20newsgroups(subset="train", remove=("headers", "footers", "quotes"))
    except Exception as error:  # scikit-learn raises whatever urllib, tarfile and its checks raise
        raise InputError(_advice(kind, "scikit-learn could not download it")) from error
    pairs = [(text, found.target_names[target]) for text, target in zip(found.data, found.target)]
    return pairs, "scikit-learn, without headers, footers and quotes"


def _fetch_dataset(kind: str) -> tuple[list[tuple[str, str]], str]:
    try:
        from datasets import load_dataset
    except ImportError as error:
        raise InputError(_advice(kind, "the package `datasets` is not installed")) from error
    name, column = {"sst2": ("stanfordnlp/sst2", "sentence"), "imdb": ("stanfordnlp/imdb", "text")}[kind]
    try:
        found = load_dataset(name, split="train")
        return [(row[column], _SENTIMENT[str(row["label"])]) for row in found], "the package datasets"
    except Exception as error:  # many kinds: no network, no such data set, a changed form
        raise InputError(_advice(kind, "`datasets` could not load it")) from error


def _advice(kind: str, reason: str) -> str:
    file = FILES[kind][-1]
    return (
        f"{NAMES[kind]} is not here and {reason}; put {file}.csv with the columns label and text into a folder and name "
        "that folder in DDCL_DATA_DIR, or choose BBC News."
    )
