"""General perturbations data (GP, the OMM standard's field names) as CSV or JSON, read through `sgp4.omm`."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from ddcl_core.errors import InputError
from ddcl_core.orbits.catalogue import Problem
from ddcl_core.orbits.record import BadRecord, Record, check_elements, degrees_of

REQUIRED = (
    "NORAD_CAT_ID", "EPOCH", "MEAN_MOTION", "ECCENTRICITY", "INCLINATION", "RA_OF_ASC_NODE", "ARG_OF_PERICENTER",
    "MEAN_ANOMALY",
)  # fmt: skip
_OPTIONAL = {
    "CLASSIFICATION_TYPE": "U", "OBJECT_ID": "", "EPHEMERIS_TYPE": "0", "ELEMENT_SET_NO": "0", "REV_AT_EPOCH": "0",
    "BSTAR": "0", "MEAN_MOTION_DOT": "0", "MEAN_MOTION_DDOT": "0",
}  # fmt: skip
_LARGEST_ALPHA5 = 339_999


def read_csv(text: str) -> Iterator[Record | Problem]:
    """GP data as CSV, separated by commas or semicolons; line numbers count the file's lines.

    Raises InputError when a required column is missing.
    """
    head = text.split("\n", 1)[0]
    rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=";" if head.count(";") > head.count(",") else ",")
    columns = [(c or "").strip().upper() for c in rows.fieldnames or []]
    missing = [c for c in REQUIRED if c not in columns]
    if missing:
        raise InputError(f"The CSV file has no column {missing[0]}; GP data need the columns {', '.join(REQUIRED)}.")
    rows.fieldnames = columns
    try:
        for row in rows:
            yield _record(row, rows.line_num, ",".join(str(v) for v in row.values()))
    except csv.Error as error:
        yield Problem(rows.line_num, f"the CSV cannot be read from here on: {error}")


def read_json(text: str) -> Iterator[Record | Problem]:
    """GP data as a JSON list of objects (or one object); problems are numbered by record, from 1.

    Raises InputError for a text that is not JSON of this shape.
    """
    try:
        rows = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"The file begins like JSON but cannot be read as JSON ({error}); load it anew.") from error
    rows = [rows] if isinstance(rows, dict) else rows
    if not isinstance(rows, list):
        raise InputError("The JSON file must hold a list of GP records, with OMM field names for each orbit.")
    for number, row in enumerate(rows, 1):
        if isinstance(row, dict):
            yield _record({str(k).upper(): v for k, v in row.items()}, number, json.dumps(row)[:80])
        else:
            yield Problem(number, "this is not a record of named fields", str(row)[:80])


def _record(row: dict[Any, Any], line: int, text: str) -> Record | Problem:
    try:
        return _read(row, line, text)
    except BadRecord as reason:
        return Problem(line, str(reason), text)


def _read(row: dict[Any, Any], line: int, text: str) -> Record:
    from sgp4 import omm
    from sgp4.api import Satrec

    missing = [c for c in REQUIRED if row.get(c) in (None, "")]
    if missing:
        raise BadRecord(f"{missing[0]} is missing: the record is cut off or incomplete")
    if row.get("DECAY_DATE"):
        raise BadRecord(f"the object decayed on {row['DECAY_DATE']}")
    mean_motion = _number(row, "MEAN_MOTION")
    # Before SGP4 sees them, which would silently go on with an impossible orbit
    check_elements(_number(row, "ECCENTRICITY"), mean_motion, tuple(_number(row, name) for name in REQUIRED[4:]))
    number = _number(row, "NORAD_CAT_ID")
    if number != int(number) or not 0 <= number < 10**9:
        raise BadRecord(f"NORAD_CAT_ID is {row['NORAD_CAT_ID']!r}; it must be a whole number of up to nine digits")
    values = {name: row[name] if row.get(name) not in (None, "") else default for name, default in _OPTIONAL.items()}
    values |= {name: row[name] for name in REQUIRED}
    # sgp4 keeps the number as five characters and refuses longer ones, which GP data exist for; ours is kept beside it
    values |= {"EPOCH": _epoch(row["EPOCH"]), "NORAD_CAT_ID": min(int(number), _LARGEST_ALPHA5)}
    satellite = Satrec()
    try:
        omm.initialize(satellite, {name: str(value) for name, value in values.items()})
    except (ValueError, KeyError) as error:
        raise BadRecord(f"SGP4 cannot read it: {error}") from error
    name = str(row.get("OBJECT_NAME") or "").strip() or f"object {int(number)}"
    return Record(
        line=line, text=text, name=name, number=int(number), designator=str(row.get("OBJECT_ID") or "").strip(),
        satellite=satellite, mean_motion=mean_motion, angles=degrees_of(satellite),
        object_type=str(row.get("OBJECT_TYPE") or ""),
    ).checked()  # fmt: skip


def _number(row: dict[Any, Any], name: str) -> float:
    try:
        return float(row[name])
    except (TypeError, ValueError):
        raise BadRecord(f"{name} is {str(row[name])[:40]!r}, which is not a number") from None


def _epoch(value: Any) -> str:
    """ISO time in any of the usual spellings -> the one that sgp4 reads, in UTC."""
    try:
        time = datetime.fromisoformat(str(value).strip())
    except ValueError:
        raise BadRecord(f"EPOCH is {str(value)[:40]!r}, which is not a time such as 2021-08-07T05:47:27.45") from None
    if time.tzinfo is not None:
        time = time.astimezone(UTC).replace(tzinfo=None)
    return time.strftime("%Y-%m-%dT%H:%M:%S.%f")
