"""Columns and rows of files that are no plain text: JSON, Parquet, Excel, and what is packed with gzip or zip."""

from __future__ import annotations

import io
import json
import lzma
import math
import zipfile
import zlib
from collections.abc import Callable
from typing import Any

from ddcl_core.data.table_text import Rows, decode, lines_of, titled
from ddcl_core.errors import InputError

MAX_UNPACKED = 1000 * 2**20
_MAX_ENTRY = 50 * 2**20
_TEXTS = (".txt", ".md", ".text")
_TABLES = (".csv", ".tsv", ".tab", ".jsonl", ".ndjson", ".json", ".parquet", ".xlsx")
_DAMAGE = (zipfile.BadZipFile, RuntimeError, NotImplementedError, OSError, EOFError, zlib.error, lzma.LZMAError)


def json_rows(text: str, name: str, notes: list[str]) -> Rows:
    """One object a line, a list of objects or texts, an object that holds such a list, or lists of equal length by name.

    Broken lines are left out and counted. Raises InputError when most are, or there is no object.
    """
    found = _whole_json(text)
    records = _json_lines(text, name, notes) if found is None else _records(found)
    records = [{"text": value} if isinstance(value, str) else value for value in records]
    if not records or not all(isinstance(record, dict) for record in records):
        raise InputError(f"{name} must hold JSON objects with a text each; write one object a line.")
    keys = list(dict.fromkeys(key for record in records for key in record))
    return Rows([str(key) for key in keys], ([cell(record.get(key)) for key in keys] for record in records))


def looks_like_json(text: str) -> bool:
    """Whether a text is JSON as a whole, or its first line is an object."""
    start = text.lstrip()
    if start[:1] not in ("{", "["):
        return False
    first = _whole_json(start.split("\n", 1)[0])
    return isinstance(first, dict) or isinstance(_whole_json(text), (dict, list))


def _whole_json(text: str) -> Any:
    """The file as one value; None when it is several, as lines are, or none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _records(found: Any) -> list[Any]:
    if isinstance(found, list):
        return found
    if not isinstance(found, dict):
        return [found]
    values = list(found.values())
    lists = [value for value in values if isinstance(value, list) and value and isinstance(value[0], (dict, str))]
    if len(lists) == 1 and isinstance(lists[0][0], dict):
        return lists[0]
    if all(isinstance(value, dict) for value in values) and values:  # as pandas writes columns
        values = [list(value.values()) for value in values]
    if values and all(isinstance(value, list) and len(value) == len(values[0]) for value in values):
        return [dict(zip(found, row)) for row in zip(*values)]
    return [found]


def _json_lines(text: str, name: str, notes: list[str]) -> list[Any]:
    records, broken, lines = [], [], 0
    for number, line in enumerate(lines_of(text), 1):
        if not line.strip():
            continue
        lines += 1
        try:
            records.append(json.loads(line))
        except (ValueError, RecursionError):
            broken.append(number)
    if 2 * len(broken) >= max(lines, 1):
        where = f"line {broken[0]}" if broken and text.lstrip()[:1] != "[" else "the list"
        raise InputError(f"{name} is no valid JSON at {where}; write one object a line, or one list of objects.")
    if broken:
        notes.append(f"Lines that are no valid JSON are left out: {len(broken):,}, the first is line {broken[0]:,}.")
    return records


def cell(value: Any) -> str:
    """A value of any format as text: nothing for what is missing, JSON for what is nested."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return str(value) if math.isfinite(value) else ""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if hasattr(value, "tolist"):  # numpy: lists in a column of Parquet, and its own numbers
        return cell(value.tolist())
    if isinstance(value, (dict, list, tuple)):
        return json.dumps(value, ensure_ascii=False, default=cell)
    return str(value)


def parquet_rows(content: bytes, name: str) -> Rows:
    """Raises InputError for what is no Parquet."""
    import pandas

    try:
        frame = pandas.read_parquet(io.BytesIO(content), dtype_backend="numpy_nullable")
        if any(title is not None for title in frame.index.names):  # a column that pandas keeps apart
            frame = frame.reset_index()
        columns = [str(column) for column in frame.columns]
        return Rows(columns, [[cell(value) for value in row] for row in frame.itertuples(index=False, name=None)])
    except Exception as error:  # pyarrow raises many kinds
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0][:100]
        raise InputError(f"{name} cannot be read as Parquet ({reason}); save it again, or as CSV.") from error


def excel_rows(content: bytes, name: str, notes: list[str], header: bool | None = None) -> Rows:
    """The first sheet that holds anything. Raises InputError for what is no workbook.

    header: whether the first row names the columns, as it does by default; a title above the table is passed over.
    """
    import pandas

    try:
        sheets = pandas.read_excel(io.BytesIO(content), sheet_name=None, dtype=object, header=None, na_filter=False)
    except ImportError as error:
        raise InputError("Excel files need the package openpyxl; run: pip install openpyxl, or save the table as CSV.") from error
    except Exception as error:  # openpyxl raises many kinds for damaged files
        raise InputError(f"{name} cannot be read as Excel; save it again, or as CSV.") from error
    named = header is not False
    filled = {}
    for title, frame in sheets.items():
        rows = [[cell(value) for value in row] for row in frame.itertuples(index=False, name=None)]
        rows = [row for row in rows if any(value.strip() for value in row)]
        while len(rows) > 2 and len(rows[0]) > 1 and _filled(rows[0]) == 1 and _filled(rows[1]) > 1:
            rows = rows[1:]
        if len(rows) > int(named):
            filled[title] = rows
    if not filled:
        raise InputError(f"{name} holds no row with documents; choose a file with at least one.")
    title = next(iter(filled))
    if len(filled) > 1:
        notes.append(f"The workbook has {len(filled)} sheets with rows; {title!r} is read.")
    return titled(filled[title], named)


def _filled(row: list[str]) -> int:
    return sum(bool(value.strip()) for value in row)


def unpacked_gzip(content: bytes, name: str) -> bytes:
    """Raises InputError for a damaged file, and for one that holds too much."""
    try:
        unpacker = zlib.decompressobj(31)
        found = unpacker.decompress(content, MAX_UNPACKED + 1)
    except zlib.error as error:
        raise InputError(f"{name} cannot be unpacked ({error}); pack it again, or send it as it is.") from error
    if len(found) > MAX_UNPACKED:
        raise InputError(f"{name} holds more than {MAX_UNPACKED >> 20} MB; cut it into parts.")
    if not unpacker.eof:
        raise InputError(f"{name} cannot be unpacked (it ends too early); pack it again, or send it as it is.")
    return found


def zip_rows(content: bytes, name: str, notes: list[str], read: Callable[[bytes, str], Rows], header: bool | None = None) -> Rows:
    """A workbook; or text files, the folder that holds one being its label; or the one table in a zip, by `read`.

    Names are only read, nothing is unpacked to disk. Raises InputError for damage, a password, or too much.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = [
                (tuple(part for part in entry.filename.replace("\\", "/").split("/") if part not in ("", ".", "..")), entry)
                for entry in archive.infolist()
                if not entry.is_dir() and not entry.filename.startswith("__MACOSX")
            ]
            tops = {parts[0] for parts, _ in entries if len(parts) > 1}
            if "xl" in tops:
                return excel_rows(content, name, notes, header)
            if "word" in tops or any(parts == ("content.xml",) for parts, _ in entries):
                raise InputError(f"{name} is a formatted document; save it as plain text, CSV or Excel (.xlsx).")
            if any(entry.flag_bits & 1 for _, entry in entries):
                raise InputError(f"{name} is locked by a password; pack it again without one.")
            named = [(parts, entry) for parts, entry in entries if parts and not parts[-1].startswith(".")]
            texts = [(parts, entry) for parts, entry in named if parts[-1].lower().endswith(_TEXTS)]
            if texts:
                rows = _text_rows(archive, texts, name, notes)
                if len(entries) > len(rows):
                    notes.append(f"Files in the zip that are no text are left out: {len(entries) - len(rows):,}.")
                return Rows(["file", "label", "text"], rows)
            tables = [(parts, entry) for parts, entry in named if parts[-1].lower().endswith(_TABLES)]
            if len(tables) > 1:
                raise InputError(f"{name} holds {len(tables)} tables; send the one that holds the documents.")
            for parts, entry in tables:
                if entry.file_size > MAX_UNPACKED:
                    raise InputError(f"{name} holds more than {MAX_UNPACKED >> 20} MB; cut it into parts.")
                return read(archive.read(entry), parts[-1])
    except _DAMAGE as error:
        if name.lower().endswith((".xlsx", ".xlsm")):
            raise InputError(f"{name} cannot be read as Excel; save it again, or as CSV.") from error
        raise InputError(f"{name} cannot be unpacked ({error}); send a zip file that is whole and has no password.") from error
    raise InputError(
        f"{name} holds no text file; put .txt files into it, in one folder for each label, or one table as CSV, JSON lines, Parquet "
        "or Excel."
    )


def _text_rows(archive: zipfile.ZipFile, texts: list[tuple[tuple[str, ...], Any]], name: str, notes: list[str]) -> list[list[str]]:
    if sum(entry.file_size for _, entry in texts) > MAX_UNPACKED:
        raise InputError(f"{name} holds more than {MAX_UNPACKED >> 20} MB of text; leave some files out.")
    rows = []
    for parts, entry in texts:
        if entry.file_size > _MAX_ENTRY:
            raise InputError(f"{parts[-1]} in {name} has more than {_MAX_ENTRY >> 20} MB; cut it into documents.")
        said: list[str] = []
        try:
            text, _ = decode(archive.read(entry), parts[-1], said)
        except InputError:
            continue
        notes.extend(note for note in said if note not in notes)
        rows.append([parts[-1], parts[-2] if len(parts) > 1 else "", text])
    if not rows:
        raise InputError(f"{name} holds no file that is plain text; save its documents as text in UTF-8.")
    return rows
