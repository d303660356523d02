"""A person's own documents from whatever file they have: CSV, TSV, JSON lines, Parquet, Excel, a zip of texts, or pasted text.

    table = read_table(content, "reviews.csv")      # columns and rows, with a guess which is the text and which the label
    own = take_documents(table)                     # cleaned texts and labels, with notes on what was done

Everything that cannot be read raises InputError with one sentence. Nothing is executed and nothing leaves the machine.
"""

from __future__ import annotations

import csv
import io
import json
import random
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ddcl_core.data.documents import clean_text
from ddcl_core.errors import InputError

MAX_BYTES = 500 * 2**20
MAX_UNPACKED = 1000 * 2**20
MOST_ROWS = 20_000
MAX_LABELS = 64
_FIELD = 10_000_000
_TEXT_NAMES = ("text", "texts", "content", "body", "review", "sentence", "document", "message", "comment", "article", "abstract")
_LABEL_NAMES = ("label", "labels", "class", "category", "topic", "target", "sentiment", "group", "tag")


@dataclass(frozen=True)
class Table:
    """Rows of texts. columns: names. rows: R lists of as many strings. total: rows in the file, of which `rows` may be
    a random part. text, label: guessed columns (label may be None). reason: why, in words. notes: what was done."""

    columns: tuple[str, ...]
    rows: list[list[str]]
    total: int
    text: int
    label: int | None
    reason: str
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class OwnDocuments:
    """Documents to train on. texts (n); labels (n), or empty without any. notes: what was done, in sentences."""

    texts: tuple[str, ...]
    labels: tuple[str, ...]
    notes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.texts)


def read_table(content: bytes, name: str, seed: int = 0, most: int = MOST_ROWS) -> Table:
    """The rows of a file, told by its ending, or by its first bytes where the ending says something else.

    At most `most` rows are kept, drawn evenly by `seed`; the notes say so. Raises InputError for files that cannot be
    read, are too large, or hold no row.
    """
    if not content:
        raise InputError(f"{name} is empty; choose a file with documents in it.")
    if len(content) > MAX_BYTES:
        raise InputError(f"{name} has {len(content) >> 20} MB, and at most {MAX_BYTES >> 20} MB are read; cut it into parts.")
    ending = name.rpartition(".")[2].lower()
    notes: list[str] = []
    if content[:4] == b"PAR1":
        columns, rows = _parquet(content, name)
    elif content[:4] == b"PK\x03\x04":
        columns, rows = _excel(content, name) if _is_workbook(content) else _zip(content, name, notes)
    elif content[:8] == b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1":
        raise InputError(f"{name} is an old Excel file or locked by a password; save it as .xlsx or .csv without one.")
    else:
        text = decode(content, name, notes)
        json_like = ending in ("jsonl", "ndjson", "json") or text.lstrip()[:1] in ("{", "[")
        columns, rows = _json_lines(text, name) if json_like else _separated(text, name, ending)
    kept, total = _sample(rows, most, seed)
    if not kept:
        raise InputError(f"{name} holds no row with documents; choose a file with at least one.")
    if total > len(kept):
        notes.append(f"The file has {total:,} rows; {len(kept):,} of them, drawn evenly with seed {seed}, are used.")
    text_column, label_column, reason = guess_columns(columns, kept)
    return Table(tuple(columns), kept, total, text_column, label_column, reason, notes)


def pasted_table(text: str) -> Table:
    """One document a line, or `label<Tab>text` on every line. Raises InputError when there is none."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        raise InputError("There are no documents yet; paste at least one line of text.")
    if all("\t" in line for line in lines):
        return Table(("label", "text"), [line.split("\t", 1) for line in lines], len(lines), 1, 0, "a label before each tab")
    return Table(("text",), [[line] for line in lines], len(lines), 0, None, "one document a line")


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
        name = clean_text(row[label]).replace("\n", " ")[:80] if label is not None else ""
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
    if not texts:
        raise InputError(f"The column {table.columns[text]!r} holds no text; choose another column for the text.")
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
        listed = ", ".join(single[:5]) + (" and others" if len(single) > 5 else "")
        notes.append(f"Only one document has the label {listed}: what is learned about it cannot be checked on another.")
    return OwnDocuments(tuple(texts), tuple(labels), tuple(notes))


def guess_columns(columns: list[str] | tuple[str, ...], rows: list[list[str]]) -> tuple[int, int | None, str]:
    """Which column holds the documents and which a label, and why: by name, else by length and repetition."""
    some = rows[:500]
    count = range(len(columns))
    lengths = [sum(len(row[c]) for row in some) / len(some) for c in count]
    names = [name.strip().casefold() for name in columns]
    named = [c for c in count if names[c] in _TEXT_NAMES and lengths[c] >= 3]
    text = max(named or count, key=lambda c: lengths[c])
    why = f"{columns[text]!r} is called so" if named else f"{columns[text]!r} holds the longest texts"
    candidates = []
    for c in count:
        values = {row[c] for row in some if row[c].strip()}
        if c != text and 2 <= len(values) <= min(MAX_LABELS, max(2, len(some) // 2)) and lengths[c] <= 60:
            candidates.append((names[c] not in _LABEL_NAMES, len(values), c))
    label = min(candidates)[2] if candidates else next((c for c in count if c != text and names[c] in _LABEL_NAMES), None)
    if label is None:
        return text, None, f"{why}; no column looks like a label"
    return text, label, f"{why}, and {columns[label]!r} has few different values"


def decode(content: bytes, name: str, notes: list[str]) -> str:
    """Text of bytes in UTF-8, UTF-16 with a mark, or else Windows-1252; the notes say when it was not UTF-8."""
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        notes.append("Read as UTF-16.")
        return content.decode("utf-16", "replace")
    if b"\x00" in content[:4096]:
        raise InputError(f"{name} is no text file; choose CSV, TSV, JSON lines, Parquet, Excel or a zip of text files.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        notes.append("The file is not UTF-8; it was read as Windows-1252, so check accents and quotes.")
        return content.decode("cp1252", "replace")


def _separated(text: str, name: str, ending: str) -> tuple[list[str], Iterator[list[str]]]:
    before = csv.field_size_limit(_FIELD)
    try:
        head = text[:65536]
        separator = "\t" if ending in ("tsv", "tab") else _separator(head)
        if separator is None:  # plain text: one document a line
            return ["text"], ([line] for line in text.splitlines() if line.strip())
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
        rows = [row for row in reader if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise InputError(f"{name} cannot be read as a table ({error}); save it as CSV again.") from error
    finally:
        csv.field_size_limit(before)
    if not rows:
        raise InputError(f"{name} holds no row with documents; choose a file with at least one.")
    width = max(len(row) for row in rows[:1000])
    header = _is_header(rows)
    names = rows[0] if header else []
    columns = [(names[c].strip() if c < len(names) else "") or f"column {c + 1}" for c in range(width)]
    body = rows[1:] if header else rows
    return columns, ((row + [""] * width)[:width] for row in body)


def _separator(head: str) -> str | None:
    """The separator that cuts most of the first records into the same number of cells; None when none does."""
    best, least = None, 1
    for separator in (",", ";", "\t", "|"):
        try:
            records = [row for row in csv.reader(io.StringIO(head, newline=""), delimiter=separator) if row][:50]
        except csv.Error:
            continue
        if len(records) > 2:
            records = records[:-1] or records  # the last one may be cut off
        widths = Counter(len(row) for row in records)
        width, times = widths.most_common(1)[0] if widths else (1, 0)
        if width > least and times >= 0.7 * len(records):
            best, least = separator, width
    if best is None and '"' in head:
        return ","
    first = head.splitlines()[0].strip().casefold() if head.strip() else ""
    return "," if best is None and first.strip('"') in _TEXT_NAMES else best


def _is_header(rows: list[list[str]]) -> bool:
    first = [cell.strip() for cell in rows[0]]
    known = [cell.casefold() in (*_TEXT_NAMES, *_LABEL_NAMES) for cell in first]
    if len(rows) < 2:
        return all(known)
    if len(set(first)) < len(first) or not all(first):
        return False
    if any(known):
        return True
    longest = max(len(cell) for row in rows[1:50] for cell in row)
    return all(len(cell) <= 40 and not cell.replace(".", "").isdigit() for cell in first) and longest > 60


def _json_lines(text: str, name: str) -> tuple[list[str], Iterator[list[str]]]:
    records = []
    try:
        if text.lstrip()[:1] == "[":
            found = json.loads(text)
            records = [{"text": value} if isinstance(value, str) else value for value in found]
        else:
            for number, line in enumerate(text.splitlines(), 1):
                if line.strip():
                    records.append(json.loads(line))
    except (ValueError, RecursionError) as error:
        where = f"line {number}" if text.lstrip()[:1] != "[" else "the list"
        raise InputError(f"{name} is no valid JSON at {where}; write one object a line, or one list of objects.") from error
    if not records or not all(isinstance(record, dict) for record in records):
        raise InputError(f"{name} must hold JSON objects with a text each; write one object a line.")
    columns = list(dict.fromkeys(key for record in records[:2000] for key in record))
    return columns, ([_cell(record.get(column)) for column in columns] for record in records)


def _cell(value: object) -> str:
    if value is None or value != value:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False) if isinstance(value, (dict, list)) else str(value)


def _frame_rows(frame: object) -> tuple[list[str], Iterator[list[str]]]:
    columns = [str(column) for column in frame.columns]  # type: ignore[attr-defined]
    values = (row for row in frame.itertuples(index=False, name=None))  # type: ignore[attr-defined]
    return columns, ([_cell(value) for value in row] for row in values)


def _parquet(content: bytes, name: str) -> tuple[list[str], Iterator[list[str]]]:
    import pandas

    try:
        return _frame_rows(pandas.read_parquet(io.BytesIO(content)))
    except Exception as error:  # pyarrow raises many kinds
        raise InputError(f"{name} cannot be read as Parquet; save it again, or as CSV.") from error


def _excel(content: bytes, name: str) -> tuple[list[str], Iterator[list[str]]]:
    import pandas

    try:
        return _frame_rows(pandas.read_excel(io.BytesIO(content), dtype=object))
    except ImportError as error:
        raise InputError("Excel files need the package openpyxl; run: pip install openpyxl, or save the table as CSV.") from error
    except Exception as error:  # openpyxl raises many kinds for damaged files
        raise InputError(f"{name} cannot be read as Excel; save it again, or as CSV.") from error


def _is_workbook(content: bytes) -> bool:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return any(entry.startswith("xl/") for entry in archive.namelist())
    except zipfile.BadZipFile:
        return False


def _zip(content: bytes, name: str, notes: list[str]) -> tuple[list[str], Iterator[list[str]]]:
    """Text files of a zip; the folder that holds a file is its label. Names are only read, nothing is unpacked to disk."""
    rows, skipped, size = [], 0, 0
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = [e for e in archive.infolist() if not e.is_dir() and not e.filename.startswith("__MACOSX")]
            for entry in entries:
                parts = [part for part in entry.filename.replace("\\", "/").split("/") if part not in ("", ".", "..")]
                if not parts or not parts[-1].lower().endswith((".txt", ".md", ".text")) or parts[-1].startswith("."):
                    skipped += 1
                    continue
                size += entry.file_size
                if size > MAX_UNPACKED or entry.file_size > 50 * 2**20:
                    raise InputError(f"{name} holds more than {MAX_UNPACKED >> 20} MB of text; leave some files out.")
                said: list[str] = []
                text = decode(archive.read(entry), parts[-1], said)
                notes.extend(note for note in said if note not in notes)
                rows.append([parts[-1], parts[-2] if len(parts) > 1 else "", text])
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, OSError, EOFError, zipfile.zlib.error) as error:
        raise InputError(f"{name} cannot be unpacked ({error}); send a zip file without a password.") from error
    if not rows:
        raise InputError(f"{name} holds no text file; put .txt files into it, in one folder for each label.")
    if skipped:
        notes.append(f"Files in the zip that are no text are left out: {skipped:,}.")
    return ["file", "label", "text"], iter(rows)


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
