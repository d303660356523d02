"""From bytes to text, and from text to rows: encodings, separators, quotation marks, headers."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ddcl_core.errors import InputError

TEXT_NAMES = ("text", "texts", "content", "body", "review", "sentence", "document", "message", "comment", "article", "abstract")
LABEL_NAMES = ("label", "labels", "class", "category", "topic", "target", "sentiment", "group", "tag")
KINDS = "CSV, TSV, JSON lines, Parquet, Excel or a zip of text files"
ENCODINGS = {
    "utf-8": "UTF-8", "cp1252": "Western European (Windows-1252)", "cp1250": "Central European (Windows-1250)",
    "cp1251": "Cyrillic (Windows-1251)", "koi8_r": "Cyrillic (KOI8-R)", "cp1253": "Greek (Windows-1253)",
    "cp1254": "Turkish (Windows-1254)", "cp1255": "Hebrew (Windows-1255)", "cp1256": "Arabic (Windows-1256)",
    "cp932": "Japanese (Shift-JIS)", "euc_jp": "Japanese (EUC)", "iso2022_jp": "Japanese (ISO-2022)",
    "gb18030": "Chinese (GB18030)", "big5": "Chinese (Big5)", "euc_kr": "Korean (EUC)", "mac_roman": "Mac Roman",
    "utf-16": "UTF-16", "utf-16-le": "UTF-16, little end first", "utf-16-be": "UTF-16, big end first", "utf-32": "UTF-32",
}  # fmt: skip
"""Names that Python knows, and what people call them."""

_FIELD = 10_000_000
_LOOKED_AT = 1 << 18
_PROSE = ("txt", "text", "md", "html", "htm")
# Guessing apart encodings that share most letters would be chance; of those only the most frequent is tried.
_GUESSED = ["cp1252", "cp1251", "koi8_r", "cp1253", "cp1255", "cp1256", "cp932", "euc_jp", "gb18030", "big5", "euc_kr"]
_CONTROL = bytes([*range(9), *range(14, 27), *range(28, 32)])
_NUMBER = re.compile(r"[-+]?\d[\d.,:/ -]*%?")


def decode(content: bytes, name: str, notes: list[str], encoding: str | None = None) -> tuple[str, str]:
    """Text of bytes, and the encoding they were read in: the given one, or a guess; the notes say when it is no UTF-8.

    Raises InputError for what is no text.
    """
    if content[:5] in (b"{\\rtf", b"%PDF-"):
        raise InputError(f"{name} is a formatted document; save it as plain text or as a table, and choose {KINDS}.")
    if encoding is None:
        encoding = _encoding_of(content)
        if encoding is None:
            raise InputError(f"{name} is no text file; choose {KINDS}, or save it as plain text.")
        if encoding != "utf-8":
            notes.append(
                f"The file is not UTF-8; it was read as {ENCODINGS[encoding]}, so check letters with accents and quotes, and choose "
                "another encoding if they are wrong."
            )
    text = content.decode("utf-8-sig" if encoding == "utf-8" else encoding, "replace").removeprefix("\ufeff")
    if "\x00" in text:
        notes.append("Characters that are no text (NUL) are left out.")
        text = text.replace("\x00", "")
    return text, encoding


def _encoding_of(content: bytes) -> str | None:
    if content[:4] in (b"\xff\xfe\x00\x00", b"\x00\x00\xfe\xff"):
        return "utf-32"
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    head = content[:_LOOKED_AT]
    even, odd = head[::2].count(0), head[1::2].count(0)
    if max(even, odd) > 0.1 * len(head) and max(even, odd) > 20 * min(even, odd):
        return "utf-16-be" if even > odd else "utf-16-le"
    signs = (len(head) - len(head.translate(None, _CONTROL))) / max(len(head), 1)
    if b"\x1b$" in head and head.isascii():
        return "iso2022_jp"
    try:
        content.decode("utf-8")
        return "utf-8" if signs < 0.1 else None
    except UnicodeDecodeError:
        if signs > 0.005:  # bytes of a picture or a program
            return None
    from charset_normalizer import from_bytes

    best = from_bytes(head, cp_isolation=list(_GUESSED), preemptive_behaviour=False).best()
    return best.encoding if best is not None and best.encoding in _GUESSED else "cp1252"


class Rows(NamedTuple):
    """Column names, rows of as many cells, and whether the first row was taken for the names (None: it never could)."""

    columns: list[str]
    rows: Iterable[list[str]]
    header: bool | None = None


def separated(text: str, name: str, ending: str, notes: list[str], header: bool | None = None) -> Rows:
    """Columns and rows of text with separators; prose, and text without any, is one document a line.

    header: whether the first row names the columns; guessed by default. Raises InputError.
    """
    before = csv.field_size_limit(_FIELD)
    named = re.match(r"sep=(.)\r?\n", text, re.IGNORECASE)  # as Excel writes it
    text = text[named.end() :] if named else text
    try:
        separator = named[1] if named else "\t" if ending in ("tsv", "tab") else _separator(text[:_LOOKED_AT], ending in _PROSE)
        if separator is None:
            notes.append("Each line is read as one document.")
            lines = [[line] for line in lines_of(text) if line.strip()]
            if ending in _PROSE or not header:
                return Rows(["text"], lines, None if ending in _PROSE else False)
            return titled(lines, True)
        rows = [row for row in _records(text, separator) if any(cell.strip() for cell in row)]
        if rows and any("\n" in cell for cell in rows[-1]) and _is_left_open(text, separator):
            raise InputError(
                f"{name} has a quotation mark in row {len(rows)} that is never closed; close it, or double it where it belongs to the text."
            )
    except csv.Error as error:
        if "field larger" in str(error):
            raise InputError(f"{name} holds a cell of more than {_FIELD // 10**6} million characters; cut it into documents.") from error
        raise InputError(f"{name} cannot be read as a table ({error}); save it as CSV again.") from error
    finally:
        csv.field_size_limit(before)
    if not rows:
        raise InputError(f"{name} holds no row with documents; choose a file with at least one.")
    rows = _rejoined(rows, separator, notes)
    return titled(rows, header)


def lines_of(text: str) -> list[str]:
    """Lines as files have them; Unicode's other line ends may stand within a text."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _rejoined(rows: list[list[str]], separator: str, notes: list[str]) -> list[list[str]]:
    """Rows with surplus cells, whose text was cut at a separator without quotation marks, made whole again."""
    width = len(rows[0])
    sign = {"\t": "tab", ",": "comma", ";": "semicolon"}.get(separator, separator)
    longer, shorter = (sum(len(row) > width for row in rows), sum(len(row) < width for row in rows))
    if longer and width > 1:
        known = [c for c in range(width) if rows[0][c].strip().casefold() in TEXT_NAMES]
        fitting = [row for row in rows[1:500] if len(row) == width] or [rows[0]]
        text = known[0] if known else max(range(width), key=lambda c: sum(len(row[c]) for row in fitting))
        rows = [_with_joined(row, text, len(row) - width, separator) if len(row) > width else row for row in rows]
        notes.append(
            f"Rows with more cells than the first: {longer:,}; their texts, which hold a {sign} without quotation marks, were put together again."
        )
    if shorter:
        notes.append(f"Rows with fewer cells than the first: {shorter:,}; what they lack is empty.")
    return rows


def _with_joined(row: list[str], text: int, surplus: int, separator: str) -> list[str]:
    return [*row[:text], separator.join(row[text : text + surplus + 1]), *row[text + surplus + 1 :]]


def titled(rows: list[list[str]], header: bool | None = None) -> Rows:
    """Names from the first row where it is a header, or by default looks like one, and rows of equal length."""
    width = max(len(row) for row in rows[:1000])
    header = is_header(rows) if header is None else header
    columns, used = [], Counter()
    for c in range(width):
        name = (rows[0][c].strip() if header and c < len(rows[0]) else "") or f"column {c + 1}"
        used[name] += 1
        columns.append(name if used[name] == 1 else f"{name} ({used[name]})")
    return Rows(columns, [(row + [""] * width)[:width] for row in rows[1 if header else 0 :]], header)


def is_header(rows: list[list[str]]) -> bool:
    """Whether the first row names the columns: by what is usual, by numbers below it, or by long texts below it."""
    first = [cell.strip() for cell in rows[0]]
    known = [cell.casefold() in (*TEXT_NAMES, *LABEL_NAMES) for cell in first]
    if len(rows) < 2:
        return all(known)
    if any(known):
        return True
    if len(set(first)) < len(first) or not all(first):
        return False
    if any(_NUMBER.fullmatch(cell) for cell in first):
        return False
    below = rows[1:50]
    for c in range(len(first)):
        if mostly(_NUMBER, (row[c] for row in below if c < len(row))):
            return True
    longest = max(len(cell) for row in below for cell in row)
    return all(len(cell) <= 40 for cell in first) and longest > 60


def mostly(form: re.Pattern[str], cells: Iterable[str]) -> bool:
    """Whether four in five of the cells that hold anything have this form."""
    filled = [cell.strip() for cell in cells if cell.strip()]
    return bool(filled) and sum(form.fullmatch(cell) is not None for cell in filled) >= 0.8 * len(filled)


def _records(text: str, separator: str, strict: bool = False) -> Iterator[list[str]]:
    return csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=strict)


def _is_left_open(text: str, separator: str) -> bool:
    try:
        for _ in _records(text, separator, strict=True):
            pass
    except csv.Error as error:
        return "unexpected end" in str(error)
    return False


def _separator(head: str, prose: bool) -> str | None:
    """The separator that cuts a known header into names, or most of the first records into the same number of cells;
    None when none does. prose: commas are punctuation, so only a known header or tabs count."""
    best, least = None, 1
    for separator in (",", ";", "\t", "|"):
        try:
            records = [row for row in _records(head, separator) if row][:50]
        except csv.Error:
            continue
        if not records:
            continue
        if len(records[0]) > 1 and any(cell.strip().casefold() in TEXT_NAMES for cell in records[0]):
            return separator
        if len(records) > 2:
            records = records[:-1] or records  # the last one may be cut off
        if prose and separator != "\t":
            continue
        width, times = Counter(len(row) for row in records).most_common(1)[0]
        if width > least and times >= 0.7 * len(records):
            best, least = separator, width
    if best is None and '"' in head and not prose:
        return ","
    first = head.splitlines()[0].strip().casefold() if head.strip() else ""
    return "," if best is None and first.strip('"') in TEXT_NAMES else best
