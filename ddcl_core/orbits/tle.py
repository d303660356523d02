"""Two-line element sets, with or without a name line (TLE, 3LE), one by one and with a reason for each that fails.

The format is one of fixed columns: 69 characters a line, the last a checksum (the digits' sum, a minus counting 1,
modulo 10). Columns and checksum are checked here, since SGP4's own reader passes over a wrong one silently; the values
come from the `sgp4` package.
Source: Hoots and Roehrich, Spacetrack Report No. 3 (1980); Vallado et al., AIAA 2006-6753.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import pi

from ddcl_core.orbits.catalogue import Problem
from ddcl_core.orbits.record import BadRecord, Record, degrees_of

LENGTH = 69
LONGEST_NAME = 24  # of a catalogue name; longer ones are kept unless they may be the rest of a broken set
_LOOKS = re.compile(r"^[12] [ 0-9A-HJ-NP-Z][ 0-9]{4}\S?( |$)")
_NUMBER = r"[ 0-9A-HJ-NP-Z][ 0-9]{3}[0-9]"
_ANGLE = r"[ 0-9]{2}[0-9]\.[0-9]{4}"
_EXPONENT = r"[ +-][ 0-9]{5}[ +-][0-9]"
_FIRST = re.compile(
    rf"1 {_NUMBER}[A-Z ] .{{8}} [0-9]{{2}}[ 0-9]{{2}}[0-9]\.[0-9]{{8}} [ +-][ 0]?\.[0-9]{{8}}[ 0-9]? {_EXPONENT} "
    rf"{_EXPONENT} [ 0-9] [ 0-9]{{4}}[0-9]"
)
_SECOND = re.compile(
    rf"2 {_NUMBER} {_ANGLE} {_ANGLE} [ 0-9]{{7}} {_ANGLE} {_ANGLE} [ 0-9][0-9]\.[0-9]{{8}}[ 0-9]{{5}}[0-9]"
)
_LAYOUT = {
    "1": "1 NNNNNC YYNNNPPP YYDDD.DDDDDDDD +.NNNNNNNN +NNNNN-N +NNNNN-N N NNNNN",
    "2": "2 NNNNN III.IIII NNN.NNNN EEEEEEE PPP.PPPP MMM.MMMM NN.NNNNNNNNRRRRRC",
}


def looks_like_tle(lines: list[str]) -> bool:
    """Whether any of the first lines begins as line 1 of an element set does."""
    return any(_LOOKS.match(line) and line[0] == "1" for line in lines[:200])


def read_tle(lines: list[str]) -> Iterator[Record | Problem]:
    """Every element set of the file in its order, or the Problem that kept it out.

    lines: the decoded file. Blank lines mean nothing; a name line may begin with '0 '. A broken line costs its own
    element set and no other.
    """
    name, first = None, None  # each with its line number
    suspect = False  # the "name" may be a broken line 2, which has been reported already
    for number, raw in enumerate(lines, 1):
        line = raw.rstrip()
        if not line.strip():
            continue
        match = _LOOKS.match(line)
        if match and line[0] == "1":
            if first is not None:
                yield _alone(*first)
            first = (number, line)
        elif match:
            if first is None:
                yield Problem(number, "a line 2 without its line 1 before it", line)
            else:
                yield _element_set(name[1] if name else "", first, (number, line))
            name, first = None, None
        else:
            if first is not None:
                yield Problem(first[0], "line 1 is followed by something that is not a line 2", first[1])
            elif name is not None and not suspect:
                yield Problem(name[0], "this is neither a name before an element set nor a part of one", name[1])
            first, suspect = None, first is not None
            written = line[2:].strip() if line.startswith("0 ") else line.strip()
            name = None if suspect and len(written) > LONGEST_NAME else (number, written)
    if first is not None:
        yield _alone(*first)
    elif name is not None:
        yield Problem(name[0], "the file ends after a name, before its element set", name[1])


def _alone(number: int, line: str) -> Problem:
    return Problem(number, "a line 1 without its line 2 after it", line)


def checksum(line: str) -> int:
    """What the last digit of the line should be."""
    return sum(int(c) if c.isdecimal() else c == "-" for c in line[: LENGTH - 1]) % 10


def _check(line: str) -> None:
    which = line[0]
    if not line.isascii():
        strange = next(c for c in line if not c.isascii())
        raise BadRecord(f"line {which} holds {strange!r}, and an element set is written in ASCII only")
    if len(line) != LENGTH:
        what = "it is cut off" if len(line) < LENGTH else "something was added to it"
        raise BadRecord(f"line {which} has {len(line)} characters instead of {LENGTH}: {what}")
    if not line[-1].isdecimal() or int(line[-1]) != checksum(line):
        raise BadRecord(f"the checksum of line {which} is {line[-1]!r}, but its digits give {checksum(line)}")
    if not (_FIRST if which == "1" else _SECOND).fullmatch(line):
        raise BadRecord(f"the columns of line {which} are not those of an element set, {_LAYOUT[which]!r}")


def _element_set(name: str, first: tuple[int, str], second: tuple[int, str]) -> Record | Problem:
    from sgp4.alpha5 import from_alpha5
    from sgp4.api import Satrec

    at, line = first
    try:
        _check(line)
        at, line = second
        _check(line)
        if first[1][2:7] != line[2:7]:
            raise BadRecord(f"line 1 belongs to object {first[1][2:7].strip()} and line 2 to {line[2:7].strip()}")
        at, line = first
        try:
            satellite = Satrec.twoline2rv(first[1], second[1])
            number = from_alpha5(first[1][2:7].strip())
        except ValueError as error:
            raise BadRecord(f"SGP4 cannot read it: {str(error).splitlines()[0]}") from error
        return Record(
            line=at, text=line, name=name or f"object {number}", number=number, designator=first[1][9:17].strip(),
            satellite=satellite, mean_motion=satellite.no_kozai * 720.0 / pi, angles=degrees_of(satellite),
        ).checked()  # fmt: skip
    except BadRecord as reason:
        return Problem(at, str(reason), line)
