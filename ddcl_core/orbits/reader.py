"""From a file of any of the usual formats to a `Catalogue`, with the reason for everything that was left out."""

from __future__ import annotations

import codecs
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from ddcl_core.errors import InputError
from ddcl_core.orbits.catalogue import Catalogue, Problem
from ddcl_core.orbits.elements import regimes
from ddcl_core.orbits.gp import read_csv, read_json
from ddcl_core.orbits.names import family_of, kind_of
from ddcl_core.orbits.record import Record
from ddcl_core.orbits.tle import looks_like_tle, read_tle

LARGEST_FILE = 64 * 2**20
"""Bytes; the whole public catalogue of 30,000 objects is about 5 MB as 3LE and 15 MB as JSON."""


def load_catalogue(path: str | Path) -> Catalogue:
    """Read a catalogue file; see `read_catalogue`. Raises InputError also when the file cannot be opened."""
    path = Path(path)
    try:
        size = path.stat().st_size
        if size > LARGEST_FILE:
            raise InputError(_TOO_LARGE.format(size / 2**20))
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"The file {path.name} cannot be opened: {error.strerror or error}.") from error
    return read_catalogue(content, path.name)


def read_catalogue(content: bytes | str, name: str = "your file") -> Catalogue:
    """A catalogue from the content of a TLE, 3LE, GP CSV or GP JSON file; the format is told from the content.

    Orbits that cannot be used are left out, each with line and reason in `problems`: wrong checksum, cut lines, a
    letter outside ASCII, an eccentricity outside [0, 1), a decayed object. Of several sets for one object the newest
    stays. Raises InputError when nothing at all can be read.
    """
    size = len(content)
    if size > LARGEST_FILE:
        raise InputError(_TOO_LARGE.format(size / 2**20))
    text, notes = _decode(content) if isinstance(content, bytes) else (content.removeprefix("\ufeff"), [])
    start = text.lstrip()
    if not start:
        raise InputError("The file is empty; choose one with element sets (TLE, 3LE, or GP data as CSV or JSON).")
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if start[0] in "[{":
        kind, items = "GP data as JSON", read_json(start)
    elif "NORAD_CAT_ID" in start.split("\n", 1)[0].upper() or "MEAN_MOTION" in start.split("\n", 1)[0].upper():
        kind, items = "GP data as CSV", read_csv(start)
    elif looks_like_tle(lines):
        kind, items = "two-line elements", read_tle(lines)
    elif start[:5].lower() == "<?xml" or start[0] == "<":
        raise InputError("The file is XML or a web page; download the element sets as TLE, CSV or JSON instead.")
    else:
        raise InputError(
            "There are no element sets in this file: no line begins as line 1 of a TLE does ('1 25544U ...'), and it "
            "is neither CSV nor JSON with OMM field names."
        )
    records, problems = _newest(items)
    problems.sort()
    if not records:
        first = f" (line {problems[0].line}: {problems[0].reason})" if problems else ""
        raise InputError(f"None of the {len(problems)} element sets of {name} can be used{first}.")
    return _columns(records, problems, notes, f"{name}: {kind}, read with sgp4.")


_TOO_LARGE = "The file has {:.0f} MB, and at most 64 MB are read; cut it into parts."


def _decode(content: bytes) -> tuple[str, list[str]]:
    """Text and notes. UTF-8, UTF-16 with or without its mark, otherwise Latin-1, which hurts nothing but names."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content.decode("utf-16", errors="replace"), ["The file is written in UTF-16."]
    head = content[:2000]
    if head.count(0) > len(head) // 4:
        order = "utf-16-le" if head[1::2].count(0) >= head[::2].count(0) else "utf-16-be"
        return content.decode(order, errors="replace"), ["The file is written in UTF-16 without a mark."]
    if 0 in head:
        raise InputError("This is not a text file; unpack it first, or choose a TLE, CSV or JSON file.")
    try:
        return content.decode("utf-8-sig"), []
    except UnicodeDecodeError:
        return content.decode("latin-1"), ["The file is not UTF-8; read as Latin-1, its names may hold wrong letters."]


def _newest(items: Iterable[Record | Problem]) -> tuple[list[Record], list[Problem]]:
    """One record for each catalogue number, in the order of the file; the others become problems."""
    kept: dict[int, Record] = {}
    problems: list[Problem] = []
    for item in items:
        if isinstance(item, Problem):
            problems.append(item._replace(text=item.text[:80]))
            continue
        other = kept.get(item.number)
        if other is None:
            kept[item.number] = item
            continue
        new, old = (item, other) if item.epoch > other.epoch else (other, item)
        kept[item.number] = new
        what = "a newer set" if new.epoch > old.epoch else "the same set"
        problems.append(Problem(old.line, f"{what} for object {item.number} stands in line {new.line}", old.text[:80]))
    return sorted(kept.values(), key=lambda r: r.line), problems


def _columns(records: list[Record], problems: list[Problem], notes: list[str], source: str) -> Catalogue:
    satellites = [r.satellite for r in records]
    angles = np.array([r.angles for r in records]).T  # 4, N
    motion, eccentricity = np.array([r.mean_motion for r in records]), np.array([s.ecco for s in satellites])
    return Catalogue(
        names=tuple(r.name for r in records),
        numbers=np.array([r.number for r in records], dtype=np.int64),
        designators=tuple(r.designator for r in records),
        epochs=np.array([r.epoch for r in records]),
        mean_motion=motion, eccentricity=eccentricity,
        inclination=angles[0], node=angles[1], perigee=angles[2], anomaly=angles[3],
        drag=np.array([s.bstar for s in satellites]),
        regime=regimes(motion, eccentricity),
        kind=np.array([kind_of(r.name, r.object_type) for r in records], dtype=np.int64),
        families=tuple(family_of(r.name) for r in records),
        problems=tuple(problems), notes=tuple(notes), source=source,
    )  # fmt: skip
