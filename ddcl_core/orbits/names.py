"""What a catalogue name says: payload, rocket body or debris, and which cloud a fragment belongs to."""

from __future__ import annotations

import re

KINDS = ("payload", "rocket body", "debris", "unknown")
"""A kind's number is its place here."""

NAMED_CLOUDS = {
    "Fengyun-1C": "weather satellite destroyed in an anti-satellite test, 11 January 2007",
    "Cosmos-2251": "retired satellite that Iridium-33 ran into, 10 February 2009",
    "Iridium-33": "working satellite that Cosmos-2251 ran into, 10 February 2009",
}
"""The three largest clouds of the catalogue by the names in use for them, and what happened."""

_PARENTS = (
    (re.compile(r"^FENGYUN[ -]?1C\b"), "Fengyun-1C"),
    (re.compile(r"^COSMOS[ -]?2251\b"), "Cosmos-2251"),
    (re.compile(r"^IRIDIUM[ -]?33\b"), "Iridium-33"),
)
_DEBRIS = re.compile(r"\bDEB(RIS)?\b")
_ROCKET = re.compile(r"(\bR/B\b|\bROCKET BODY\b|\b[AP]KM\b)")
_UNKNOWN = re.compile(r"^(UNKNOWN\b|OBJECT\b|TBA\b|TBD\b|$)")
_TYPES = {"PAYLOAD": 0, "PAY": 0, "ROCKET BODY": 1, "R/B": 1, "DEBRIS": 2, "DEB": 2}


def kind_of(name: str, object_type: str = "") -> int:
    """The number in `KINDS`.

    `object_type` (the OBJECT_TYPE of GP data) decides where it is given. Otherwise the name: the word DEB is debris;
    R/B, and the kick motors AKM and PKM, are rocket bodies; UNKNOWN, OBJECT, TBA or no name at all is unknown; any
    other name is a payload.
    """
    stated = _TYPES.get(object_type.strip().upper())
    if stated is not None:
        return stated
    name = name.strip().upper()
    if _DEBRIS.search(name):
        return KINDS.index("debris")
    if _ROCKET.search(name):
        return KINDS.index("rocket body")
    return KINDS.index("unknown") if _UNKNOWN.match(name) else KINDS.index("payload")


def family_of(name: str) -> str:
    """The debris cloud that a name belongs to, or '' for everything that is not debris.

    'COSMOS 2251 DEB' belongs to 'Cosmos-2251' (see `NAMED_CLOUDS`); any other 'X DEB' to the generic family 'X', and
    what stands in brackets after it ('[TANK]') is left out. A family is one of names: a rocket type such as 'CZ-3B'
    gathers the fragments of several launches.
    """
    upper = " ".join(name.upper().split())
    found = _DEBRIS.search(upper)
    if not found:
        return ""
    for pattern, family in _PARENTS:
        if pattern.match(upper):
            return family
    return upper[: found.start()].strip(" -(") or "unnamed debris"
