"""The orbit map: size of an orbit against its shape, and against its tilt, with the places that have names."""

from __future__ import annotations

import numpy as np

from ddcl_core.data.plane import Landmark, Plane, Tick
from ddcl_core.orbits.catalogue import Catalogue
from ddcl_core.orbits.elements import EARTH_RADIUS

LOWEST, HIGHEST = 200.0, 100_000.0
"""km; ends of the axis of semi-major axes over the ground. What lies beyond stands at the end."""
ROUNDEST = 1e-5
"""The smallest eccentricity that the logarithmic axis shows; element sets have seven digits."""
TOP_INCLINATION = 130.0
"""Degrees at the top of the axis; the few objects that fly more steeply retrograde stand there."""

_ALTITUDES = (
    (300, "300"), (500, "500"), (1_000, "1,000"), (2_000, "2,000"), (5_000, "5,000"), (10_000, "10,000"),
    (20_000, "20,000"), (35_786, "35,786"),
)  # fmt: skip
_ECCENTRICITIES = (1e-4, 1e-3, 1e-2, 0.1, 0.7)
_INCLINATIONS = (0, 30, 60, 90, 120)

# name, semi-major axis over the ground in km, eccentricity, inclination in degrees. Public figures of the operators.
_PLACES = (
    ("Starlink", 550, 1.5e-4, 53.0),
    ("GPS", 20_182, 8e-3, 55.0),
    ("GEO belt", 35_786, 3e-4, 0.05),
    ("Molniya", 20_182, 0.70, 63.4),
)
_SHELLS = (("Starlink 70°", 570, 70.0), ("Sun-synchronous", 800, 98.6))


def along_altitude(kilometres: np.ndarray | float) -> np.ndarray:
    """Place from -1 to 1 on the logarithmic axis of semi-major axes counted from the ground, in km."""
    h = np.clip(np.asarray(kilometres, dtype=np.float64), LOWEST, HIGHEST)
    return 2.0 * np.log(h / LOWEST) / np.log(HIGHEST / LOWEST) - 1.0


def along_eccentricity(eccentricity: np.ndarray | float) -> np.ndarray:
    """Place from -1 to 1 on the logarithmic axis of eccentricities from `ROUNDEST` to 1."""
    e = np.clip(np.asarray(eccentricity, dtype=np.float64), ROUNDEST, 1.0)
    return 1.0 - 2.0 * np.log(e) / np.log(ROUNDEST)


def along_inclination(degrees: np.ndarray | float) -> np.ndarray:
    """Place from -1 to 1 on the axis of inclinations from 0 to `TOP_INCLINATION`."""
    return np.clip(2.0 * np.asarray(degrees, dtype=np.float64) / TOP_INCLINATION - 1.0, -1.0, 1.0)


def orbit_planes(catalogue: Catalogue) -> tuple[Plane, Plane]:
    """Size against shape ('shape') and size against tilt ('tilt') of every object, in the order of the catalogue.

    Size is the semi-major axis counted from the ground (a minus the Earth's radius), on a logarithmic axis: for a
    circular orbit its altitude.
    """
    x = along_altitude(catalogue.axis - EARTH_RADIUS)
    label = "semi-major axis over the ground, km"
    ticks = tuple(Tick(float(along_altitude(h)), text) for h, text in _ALTITUDES)
    shape = Plane(
        "shape", "size × shape", "Round orbits lie at the foot, stretched ones at the top.",
        label, "eccentricity", ticks,
        tuple(Tick(float(along_eccentricity(e)), f"{e:g}") for e in _ECCENTRICITIES),
        tuple(Landmark(n, float(along_altitude(h)), float(along_eccentricity(e))) for n, h, e, _ in _PLACES),
        np.stack([x, along_eccentricity(catalogue.eccentricity)], axis=1),
    )  # fmt: skip
    marks = [(name + " 53°" if name == "Starlink" else name, h, i) for name, h, _, i in _PLACES] + list(_SHELLS)
    tilt = Plane(
        "tilt", "size × tilt", "Orbits over the equator lie at the foot, over the poles at 90 degrees.",
        label, "inclination, degrees", ticks,
        tuple(Tick(float(along_inclination(i)), str(i)) for i in _INCLINATIONS),
        tuple(Landmark(n, float(along_altitude(h)), float(along_inclination(i))) for n, h, i in marks),
        np.stack([x, along_inclination(catalogue.inclination)], axis=1),
    )  # fmt: skip
    return shape, tilt
