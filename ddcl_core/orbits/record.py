"""One orbit as read, and the physical checks that every format shares."""

from __future__ import annotations

from dataclasses import dataclass
from math import degrees, isfinite
from typing import Any

from ddcl_core.orbits.elements import EARTH_RADIUS, semi_major_axis

DECAY_ALTITUDE = 80.0
"""km. Below it no object stays in orbit for another revolution (McDowell, Acta Astronautica 151, 2018)."""


class BadRecord(Exception):
    """Why an orbit is left out, as a half-sentence for the list of problems."""


@dataclass(frozen=True)
class Record:
    """line, text: where it stands. satellite: the sgp4 object. mean_motion: revolutions a day. angles: inclination,
    node, argument of perigee, mean anomaly in degrees. object_type: as GP data state it."""

    line: int
    text: str
    name: str
    number: int
    designator: str
    satellite: Any
    mean_motion: float
    angles: tuple[float, float, float, float]
    object_type: str = ""

    @property
    def epoch(self) -> float:
        """Julian date in UTC, days."""
        return self.satellite.jdsatepoch + self.satellite.jdsatepochF

    def checked(self) -> "Record":
        """The record itself; raises BadRecord for an orbit that cannot be, or that has decayed."""
        e, n = self.satellite.ecco, self.mean_motion
        check_elements(e, n, self.angles)
        lowest = float(semi_major_axis(n)) * (1.0 - e) - EARTH_RADIUS
        if lowest < DECAY_ALTITUDE:
            raise BadRecord(f"its perigee lies at {lowest:.0f} km, below {DECAY_ALTITUDE:g}: the object has decayed")
        code, _, _ = self.satellite.sgp4(self.satellite.jdsatepoch, self.satellite.jdsatepochF)
        if code:
            from sgp4.api import SGP4_ERRORS

            raise BadRecord(f"SGP4 refuses it at its own epoch: {SGP4_ERRORS.get(code, f'error {code}')}")
        return self


def check_elements(eccentricity: float, mean_motion: float, angles: tuple[float, ...]) -> None:
    """Raises BadRecord unless this is a closed orbit: 0 <= e < 1, 0 < n <= 18 a day, 0 <= i <= 180."""
    if not all(map(isfinite, (eccentricity, mean_motion, *angles))):
        raise BadRecord("an element is not a finite number")
    if not 0.0 <= eccentricity < 1.0:
        raise BadRecord(f"its eccentricity is {eccentricity:g}, and a closed orbit needs 0 or more and less than 1")
    if not 0.0 < mean_motion <= 18.0:
        raise BadRecord(f"its mean motion is {mean_motion:g} revolutions a day; above the Earth it is at most about 17")
    if not 0.0 <= angles[0] <= 180.0:
        raise BadRecord(f"its inclination is {angles[0]:g} degrees; it must lie from 0 to 180")


def degrees_of(satellite: Any) -> tuple[float, float, float, float]:
    """Inclination, node, argument of perigee and mean anomaly of an sgp4 object, in degrees."""
    return tuple(map(degrees, (satellite.inclo, satellite.nodeo, satellite.argpo, satellite.mo)))
