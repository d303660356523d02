"""A person's own documents from whatever file they have: CSV, TSV, JSON lines, Parquet, Excel, a zip of texts, or pasted text.

    table = read_table(content, "reviews.csv")      # columns and rows, with a guess which is the text and which the label
    own = take_documents(table)                     # cleaned texts and labels, with notes on what was done

Everything that cannot be read raises InputError with one sentence. Nothing is executed and nothing leaves the machine.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from ddcl_core.data.documents import clean_label, clean_text
from ddcl_core.data.table_files import json_rows, looks_like_json, parquet_rows, unpacked_gzip, zip_rows
from ddcl_core.data.table_text import LABEL_NAMES, TEXT_NAMES, Rows, decode, lines_of, mostly, separated, titled
from ddcl_core.errors import InputError

MAX_BYTES = 500 * 2**20
MOST_ROWS = 20_000
MAX_LABELS = 64
MAX_COLUMNS = 1000
# What is neither a label, being an address or a date, nor a text, being that or a number.
_DATE = re.compile(r"(https?://|www\.)\S+|\d{4}-\d\d?-\d\d?([T ].*)?|\d\d?[./]\d\d?[./]\d{2,4}([T ].*)?")
_CODE = re.compile(_DATE.pattern + r"|[-+]?\d[\d.,]*|[0-9a-f]{8,}(-[0-9a-f]+)*")


@dataclass(frozen=True)
class Table:
    """Rows of texts. columns: names. rows: R lists of as many strings. total: rows in the file, of which `rows` may be
    a random part. text, label: guessed columns (label may be None). reason: why, in words. notes: what was done. encoding:
    a key of `table_text.ENCODINGS` that the file was read in, None for a file that names its own. header: whether the
    first row was taken for the names of the columns, None for a file that names them otherwise."""

    columns: tuple[str, ...]
    rows: list[list[str]]
    total: int
    text: int
    label: int | None
    reason: str
    notes: list[str] = field(default_factory=list)
    encoding: str | None = None
    header: bool | None = None


@dataclass(frozen=True)
class OwnDocuments:
    """Documents to train on. texts (n); labels (n), or empty without any. notes: what was done, in sentences."""

    texts: tuple[str, ...]
    labels: tuple[str, ...]
    notes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.texts)


def read_table(
    content: bytes, name: str, seed: int = 0, most: int = MOST_ROWS, encoding: str | None = None, header: bool | None = None
) -> Table:
    """The rows of a file, told by its first bytes, or by its ending where those say nothing.

    At most `most` rows are kept, drawn evenly by `seed`; the notes say so. encoding: a key of `table_text.ENCODINGS`;
    header: whether the first row of a table names its columns; both are guessed by default. Raises InputError for files
    that cannot be read, are too large, or hold no row.
    """
    if not content:
        raise InputError(f"{name} is empty; choose a file with documents in it.")
    if len(content) > MAX_BYTES:
        raise InputError(f"{name} has {len(content) >> 20} MB, and at most {MAX_BYTES >> 20} MB are read; cut it into parts.")
    notes: list[str] = []
    read = _Reader(notes, encoding, header)
    try:
        found = read(content, name)
        return replace(_table(found, notes, name, seed, most), encoding=read.encoding)
    except InputError:
        raise
    except Exception as error:  # the content is anybody's, and can be broken in ways that no reader expects
        raise InputError(f"{name} cannot be read ({type(error).__name__}); save it as CSV in UTF-8 and load it again.") from error


class _Reader:
    """Columns and rows of the content of a file; keeps the encoding that was used, and adds to the notes."""

    def __init__(self, notes: list[str], asked: str | None, header: bool | None) -> None:
        self.notes, self.asked, self.header = notes, asked, header
        self.encoding: str | None = None

    def __call__(self, content: bytes, name: str) -> Rows:
        ending = name.rpartition(".")[2].lower()
        if content[:2] == b"\x1f\x8b":
            return self(unpacked_gzip(content, name), name[:-3] if ending == "gz" else name)
        if content[:4] == b"PAR1":
            return parquet_rows(content, name)
        if content[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
            return zip_rows(content, name, self.notes, self, self.header)
        if content[:8] == b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1":
            raise InputError(f"{name} is an old Excel file or locked by a password; save it as .xlsx or .csv without one.")
        text, self.encoding = decode(content, name, self.notes, self.asked)
        if ending in ("jsonl", "ndjson", "json") or looks_like_json(text):
            return json_rows(text, name, self.notes)
        return separated(text, name, ending, self.notes, self.header)


def _table(found: Rows, notes: list[str], name: str, seed: int, most: int) -> Table:
    if len(found.columns) > MAX_COLUMNS:
        raise InputError(
            f"{name} has {len(found.columns):,} columns, and at most {MAX_COLUMNS:,} are read; keep those with texts and labels."
        )
    kept, total = _sample(found.rows, most, seed)
    columns, kept = [_whole(column) for column in found.columns], [[_whole(cell) for cell in row] for row in kept]
    if not kept or not columns:
        raise InputError(f"{name} holds no row with documents; choose a file with at least one.")
    if total > len(kept):
        notes.append(f"There are {total:,} rows; {len(kept):,} of them, drawn evenly with seed {seed}, are used.")
    text_column, label_column, reason = guess_columns(columns, kept)
    return Table(tuple(columns), kept, total, text_column, label_column, reason, notes, header=found.header)


def pasted_table(text: str, seed: int = 0, most: int = MOST_ROWS) -> Table:
    """One document a line; or cells between tabs, as a spreadsheet copies them, such as a label and a text.

    Raises InputError when there is none.
    """
    lines = [line for line in lines_of(text) if line.strip()]
    if not lines:
        raise InputError("There are no documents yet; paste at least one line of text.")
    if not all("\t" in line for line in lines):
        table = _table(Rows(["text"], [[line] for line in lines]), [], "What was pasted", seed, most)
        return replace(table, reason="one document a line")
    cells = [line.split("\t") for line in lines]
    if len({len(row) for row in cells}) > 1:  # tabs within the texts
        cells = [line.split("\t", 1) for line in lines]
    found = titled(cells)
    if len(found.columns) > 2 or found.header:
        return _table(found, [], "What was pasted", seed, most)
    first, second = (sum(len(row[c]) for row in cells) for c in (0, 1))
    columns, side = (["label", "text"], "before") if second >= first else (["text", "label"], "after")
    table = _table(Rows(columns, cells), [], "What was pasted", seed, most)
    return replace(table, text=columns.index("text"), label=columns.index("label"), reason=f"a label {side} each tab")


def take_documents(table: Table, text: int | None = None, label: int | None = -1) -> OwnDocuments:
    """Cleaned documents of a table. text, label: columns; as guessed by default, and label None for none.

    Empty and repeated documents are left out and counted. Raises InputError when nothing is left, or one column is both.
    """
    text = table.text if text is None else text
    label = table.label if label == -1 else label
    if text == label:
        raise InputError("The same column cannot be both the text and the label; choose another for one of them.")
    notes, texts, labels, seen = list(table.notes), [], [], set()
    empty = repeated = unlabelled = 0
    for row in table.rows:
        cleaned = clean_text(row[text])
        name = clean_label(row[label]) if label is not None else ""
        if not any(c.isalnum() for c in cleaned):
            empty += 1
        elif cleaned in seen:
            repeated += 1
        elif label is not None and not name:
            unlabelled += 1
        else:
            seen.add(cleaned)
            texts.append(cleaned)
            labels.append(name)
    for count, words in ((empty, "without any text"), (repeated, "that repeat another one"), (unlabelled, "without a label")):
        if count:
            notes.append(f"Documents {words} are left out: {count:,}.")
    if not texts and unlabelled:
        raise InputError(
            f"No row has both a text and a label in the column {table.columns[label]!r}; choose another column for the label, or none."
        )
    if not texts:
        raise InputError(f"The column {table.columns[text]!r} holds no letters or digits; choose another column for the text.")
    if label is None:
        return OwnDocuments(tuple(texts), (), tuple(notes))
    sizes = Counter(labels)
    if len(sizes) > MAX_LABELS:
        notes.append(
            f"The column {table.columns[label]!r} has {len(sizes):,} different values, more than the {MAX_LABELS} classes that can be "
            "told apart here; it is not used as a label."
        )
        return OwnDocuments(tuple(texts), (), tuple(notes))
    single = sorted(name for name, size in sizes.items() if size == 1)
    if single:
        listed = ", ".join(single[:5]) + (f" and {len(single) - 5:,} more" if len(single) > 5 else "")
        which = f"the label {listed}: what is learned about it" if len(single) == 1 else f"each of the labels {listed}: what is learned about these"
        notes.append(f"Only one document has {which} cannot be checked on another.")
    return OwnDocuments(tuple(texts), tuple(labels), tuple(notes))


def guess_columns(columns: list[str] | tuple[str, ...], rows: list[list[str]]) -> tuple[int, int | None, str]:
    """Which column holds the documents and which a label, and why: by name, else by length and repetition."""
    some = rows[:500]
    count = range(len(columns))
    lengths = [sum(len(row[c]) for row in some) / len(some) for c in count]
    names = [name.strip().casefold() for name in columns]
    named = [c for c in count if names[c] in TEXT_NAMES and lengths[c] >= 3]
    prose = [c for c in count if not mostly(_CODE, (row[c] for row in some)) and names[c] not in ("file", "filename")]
    text = max(named or prose or count, key=lambda c: lengths[c])
    why = f"{columns[text]!r} is called so" if named else f"{columns[text]!r} holds the longest texts"
    few = min(MAX_LABELS, max(2, len(some) // 2))
    candidates, crowded = [], []
    for c in count:
        values = {row[c] for row in some if row[c].strip()}
        if c == text or lengths[c] > 60 or len(values) < 2 or names[c] in ("file", "filename") or mostly(_DATE, values):
            continue
        repeats = len(values) < len(some) or names[c] in LABEL_NAMES
        if repeats and (len(values) <= few or len(some) <= 4 and len(values) <= 3):
            candidates.append((names[c] not in LABEL_NAMES, len(values), c))
        elif names[c] in LABEL_NAMES:
            crowded.append(c)
    if candidates:
        label = min(candidates)[2]
        return text, label, f"{why}, and {columns[label]!r} has few different values"
    if crowded:
        return text, None, f"{why}; {columns[crowded[0]]!r} has too many different values for a label"
    return text, None, f"{why}; no column looks like a label"


def _whole(text: str) -> str:
    """Half a character of UTF-16, as JSON may name one, becomes a question mark: no file and no page takes it."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _sample(rows: Iterable[list[str]], most: int, seed: int) -> tuple[list[list[str]], int]:
    """At most `most` rows, each equally likely, in the order of the file; and how many there were."""
    rng, kept, total = random.Random(seed), [], 0
    for total, row in enumerate(rows, 1):
        if len(kept) < most:
            kept.append((total, row))
        else:
            place = rng.randrange(total)
            if place < most:
                kept[place] = (total, row)
    return [row for _, row in sorted(kept, key=lambda pair: pair[0])], total
