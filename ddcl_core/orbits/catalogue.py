"""A catalogue: many orbits as columns, and what could not be read. Numpy only, so that every process can hold one."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple

import numpy as np

from ddcl_core.orbits.elements import EARTH_RADIUS, REGIMES, semi_major_axis
from ddcl_core.orbits.names import KINDS, NAMED_CLOUDS


class Problem(NamedTuple):
    """Something left out. line: its number in the file, from 1 (for JSON, of the record); text: its beginning."""

    line: int
    reason: str
    text: str = ""


class Cloud(NamedTuple):
    """A debris cloud: its family name, the places (n,) of its fragments in the catalogue, and what is known of it."""

    family: str
    members: np.ndarray
    event: str = ""


@dataclass(frozen=True, eq=False)
class Catalogue:
    """N orbits as columns of length N.

    names: as written. numbers: catalogue numbers (NORAD), int64; 0 for synthetic objects. designators: international
    designators ('2009-005A' or '09005A', as written). epochs: Julian date (UTC) of the elements, days.
    mean_motion: revolutions a day. eccentricity. inclination, node (right ascension of the ascending node), perigee
    (its argument), anomaly (mean): degrees. drag: B* in 1 / Earth radii.
    regime: number in `REGIMES`, by rule for files and by origin for synthetic objects. kind: number in `KINDS`.
    families: debris cloud of each object, '' for none.
    problems: what was left out and why. notes: what a reader should know. source: where it comes from.
    """

    names: tuple[str, ...]
    numbers: np.ndarray
    designators: tuple[str, ...]
    epochs: np.ndarray
    mean_motion: np.ndarray
    eccentricity: np.ndarray
    inclination: np.ndarray
    node: np.ndarray
    perigee: np.ndarray
    anomaly: np.ndarray
    drag: np.ndarray
    regime: np.ndarray
    kind: np.ndarray
    families: tuple[str, ...]
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()
    source: str = field(default="", kw_only=True)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def axis(self) -> np.ndarray:
        """Semi-major axis (N,) in km."""
        return semi_major_axis(self.mean_motion)

    @property
    def perigee_altitude(self) -> np.ndarray:
        """Lowest altitude (N,) in km over the equatorial radius."""
        return self.axis * (1.0 - self.eccentricity) - EARTH_RADIUS

    @property
    def apogee_altitude(self) -> np.ndarray:
        """Highest altitude (N,) in km over the equatorial radius."""
        return self.axis * (1.0 + self.eccentricity) - EARTH_RADIUS

    @property
    def period(self) -> np.ndarray:
        """Minutes (N,)."""
        return 1440.0 / self.mean_motion

    def counts(self) -> dict[str, int]:
        """How many objects each regime holds; every regime is named, also an empty one."""
        return dict(zip(REGIMES, np.bincount(self.regime, minlength=len(REGIMES)).tolist()))

    def kind_counts(self) -> dict[str, int]:
        """How many objects each kind holds."""
        return dict(zip(KINDS, np.bincount(self.kind, minlength=len(KINDS)).tolist()))

    def clouds(self, minimum: int = 10) -> list[Cloud]:
        """Debris clouds of at least `minimum` fragments, the largest first."""
        members: dict[str, list[int]] = {}
        for place, family in enumerate(self.families):
            if family:
                members.setdefault(family, []).append(place)
        found = [Cloud(f, np.array(m), NAMED_CLOUDS.get(f, "")) for f, m in members.items() if len(m) >= minimum]
        return sorted(found, key=lambda cloud: (-len(cloud.members), cloud.family))

    def take(self, places: np.ndarray) -> "Catalogue":
        """The objects at these places (n,), in this order; problems, notes and source stay."""
        places = np.asarray(places)
        changed: dict[str, Any] = {}
        for column in fields(self)[:14]:
            values = getattr(self, column.name)
            changed[column.name] = tuple(values[i] for i in places) if isinstance(values, tuple) else values[places]
        return replace(self, **changed)

    def describe(self, place: int) -> str:
        """One object in one line, with units: name, number, regime, altitudes, inclination, period."""
        number = f" ({self.numbers[place]})" if self.numbers[place] else ""
        n, e = float(self.mean_motion[place]), float(self.eccentricity[place])
        a = float(semi_major_axis(n))
        return (
            f"{self.names[place]}{number}: {REGIMES[self.regime[place]]}, {a * (1 - e) - EARTH_RADIUS:,.0f} x "
            f"{a * (1 + e) - EARTH_RADIUS:,.0f} km, {self.inclination[place]:.1f} deg, {1440.0 / n:,.1f} min"
        )
