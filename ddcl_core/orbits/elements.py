"""Orbits as numbers: the elements, what follows from them, and the four regimes by stated rules.

    a = (mu / n^2)^(1/3)        semi-major axis in km from the mean motion n (Kepler's third law)
    r_p = a (1 - e),  r_a = a (1 + e)                   perigee and apogee radius; altitudes are over the equator
    period = 1440 / n           minutes, n in revolutions a day

mu and the Earth's radius are those of WGS-72, in which element sets are made and SGP4 computes (Hoots and Roehrich,
Spacetrack Report No. 3, 1980; Vallado et al., AIAA 2006-6753). Elements are mean elements: true distances swing around
them by some 10 km. Public catalogues state a from n in the same way; SGP4's own a differs from it by less than 0.1 %.
"""

from __future__ import annotations

import numpy as np

EARTH_RADIUS = 6378.135
"""Equatorial radius in km (WGS-72)."""
EARTH_MU = 398600.8
"""Gravitational parameter in km^3/s^2 (WGS-72)."""
SIDEREAL_DAY = 1436.068
"""One turn of the Earth against the stars, in minutes: the period of a geosynchronous orbit."""
GEO_RADIUS = 42164.0
"""Semi-major axis of a geosynchronous orbit in km."""

REGIMES = ("LEO", "MEO", "GEO", "HEO")
"""Names of the regimes; a regime's number is its place here."""
HEO_ECCENTRICITY = 0.25
LEO_MEAN_MOTION = 11.25
GEO_MEAN_MOTION = (0.9, 1.1)
REGIME_RULES = (
    ("HEO", "eccentricity 0.25 or more, or fewer than 0.9 revolutions a day (higher than the geosynchronous belt)"),
    ("LEO", "otherwise more than 11.25 revolutions a day (a period under 128 minutes, 2,030 km on average)"),
    ("GEO", "otherwise from 0.9 to 1.1 revolutions a day (the geosynchronous belt, its drifters and graveyard)"),
    ("MEO", "everything else"),
)
"""The rules in the order in which they are asked. The limits e = 0.25 and 11.25 a day are those by which Space-Track
defines LEO and HEO. Its GEO (0.99 to 1.01 a day) would leave out retired satellites, which are moved some 300 km
above the belt, so ours is wider; its MEO (600 to 800 minutes) would leave gaps between the regimes, so ours is
whatever remains."""


def semi_major_axis(mean_motion: np.ndarray) -> np.ndarray:
    """a in km from revolutions a day; any shape. Not positive gives NaN."""
    n = np.asarray(mean_motion, dtype=np.float64) * (2.0 * np.pi / 86400.0)  # rad/s
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(n > 0, np.cbrt(EARTH_MU / n**2), np.nan)


def mean_motion(axis: np.ndarray) -> np.ndarray:
    """Revolutions a day from a semi-major axis in km; the inverse of `semi_major_axis`."""
    return np.sqrt(EARTH_MU / np.asarray(axis, dtype=np.float64) ** 3) * (86400.0 / (2.0 * np.pi))


def regimes(mean_motion: np.ndarray, eccentricity: np.ndarray) -> np.ndarray:
    """The number in `REGIMES` of each orbit by `REGIME_RULES`: revolutions a day (N,) and eccentricity (N,) -> (N,)."""
    n, e = np.asarray(mean_motion, dtype=np.float64), np.asarray(eccentricity, dtype=np.float64)
    low, high = GEO_MEAN_MOTION
    conditions = [(e >= HEO_ECCENTRICITY) | (n < low), n > LEO_MEAN_MOTION, n <= high]
    return np.select(conditions, [REGIMES.index(r) for r in ("HEO", "LEO", "GEO")], REGIMES.index("MEO"))


def orbit_paths(
    axis: np.ndarray, eccentricity: np.ndarray, inclination: np.ndarray, node: np.ndarray, perigee: np.ndarray,
    points: int = 96,
) -> np.ndarray:  # fmt: skip
    """Closed ellipses around the Earth, for drawing: the two-body orbit of the mean elements, without perturbations.

        r(E) = a (cos E - e) P + a sqrt(1 - e^2) sin E Q

    with E the eccentric anomaly and P, Q the unit vectors to the perigee and along the motion there.

    Args:
        axis: (N,) km. eccentricity: (N,). inclination, node (right ascension of the ascending node), perigee (its
            argument): (N,) degrees. points: corners of each ellipse; the last one repeats the first.

    Returns:
        (N, points, 3) km, in the inertial frame of the elements (Earth's centre, z to the north pole).
    """
    a, e = (np.asarray(x, dtype=np.float64)[:, None, None] for x in (axis, eccentricity))  # N, 1, 1
    i, o, w = (np.radians(np.asarray(x, dtype=np.float64)) for x in (inclination, node, perigee))  # N
    ci, si, co, so, cw, sw = np.cos(i), np.sin(i), np.cos(o), np.sin(o), np.cos(w), np.sin(w)
    to_perigee = np.stack([co * cw - so * sw * ci, so * cw + co * sw * ci, sw * si], axis=-1)  # N, 3
    along = np.stack([-co * sw - so * cw * ci, -so * sw + co * cw * ci, cw * si], axis=-1)  # N, 3
    anomaly = np.linspace(0.0, 2.0 * np.pi, points)[None, :, None]  # 1, points, 1
    return (
        a * (np.cos(anomaly) - e) * to_perigee[:, None]
        + a * np.sqrt(1.0 - e**2) * np.sin(anomaly) * along[:, None]
    )  # fmt: skip
