"""A synthetic population of LEO, MEO, GEO and HEO objects: known regimes, with imbalance and noise as dials.

Each regime is a mixture of components that stand for what is up there; a component draws each element on its own:

    a            normal around its axis (km), or uniform between two
    e            Rayleigh(scale) for nearly circular orbits, normal around its value for elliptical ones
    i            normal around its inclination (degrees), folded to [0, 180]
    node, argument of perigee, mean anomaly          uniform, as perturbations leave them (argument of perigee of
                                                     Molniya orbits: 270 +- 10 degrees, which is what they are made for)

Sources of the numbers: the constellations' public orbits (GPS, GLONASS, Galileo, Starlink, OneWeb, Iridium, Globalstar,
Molniya), transfer orbits from the usual launch sites, and the crowded altitudes of the ESA Annual Space Environment
Report. The shares inside a regime are round numbers, not a census.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ddcl_core.errors import InputError
from ddcl_core.orbits.catalogue import Catalogue
from ddcl_core.orbits.elements import EARTH_RADIUS, GEO_RADIUS, REGIMES, mean_motion
from ddcl_core.orbits.names import KINDS

LOWEST_PERIGEE = 160.0
"""km; eccentricities are cut where an orbit would dip below it."""
RARITY = ("LEO", "GEO", "HEO", "MEO")
"""Regimes from the most to the least frequent, the order of the real catalogue; `imbalance` acts along it."""
NOISE_AXIS, NOISE_ECCENTRICITY, NOISE_INCLINATION = 0.1, 0.05, 10.0
"""Standard deviation that noise = 1 adds to ln a, to e, and to i in degrees."""


class Component(NamedTuple):
    """share of its regime; axis and its spread in km; eccentricity and spread (spread 0: Rayleigh of that scale);
    inclination and spread in degrees; argument of perigee in degrees, or None for uniform."""

    name: str
    share: float
    axis: float
    axis_spread: float
    eccentricity: float
    eccentricity_spread: float
    inclination: float
    inclination_spread: float
    perigee: float | None = None


COMPONENTS: dict[str, tuple[Component, ...]] = {
    "LEO": (
        Component("shell at 550 km", 0.25, EARTH_RADIUS + 550, 8, 0.0005, 0, 53.0, 0.05),
        Component("Sun-synchronous", 0.25, EARTH_RADIUS + 700, 110, 0.003, 0, 98.2, 0.6),
        Component("debris around 800 km", 0.25, EARTH_RADIUS + 830, 120, 0.012, 0, 92.0, 9.0),
        Component("debris at 74 degrees", 0.10, EARTH_RADIUS + 780, 90, 0.010, 0, 74.0, 0.4),
        Component("shell at 1,200 km", 0.09, EARTH_RADIUS + 1200, 20, 0.0010, 0, 87.9, 0.1),
        Component("shell at 1,400 km", 0.06, EARTH_RADIUS + 1420, 25, 0.0010, 0, 52.0, 0.2),
    ),
    "MEO": (
        Component("GPS", 0.35, 26_560, 30, 0.008, 0, 55.0, 1.0),
        Component("GLONASS", 0.25, 25_510, 30, 0.002, 0, 64.8, 0.8),
        Component("Galileo", 0.20, 29_600, 60, 0.0005, 0, 56.0, 0.8),
        Component("BeiDou", 0.12, 27_906, 60, 0.002, 0, 55.0, 0.8),
        Component("between the shells", 0.08, 16_000, 3500, 0.03, 0, 45.0, 25.0),
    ),
    "GEO": (
        Component("working, station kept", 0.45, GEO_RADIUS, 8, 0.0003, 0, 0.05, 0.05),
        Component("drifting, inclination free", 0.30, GEO_RADIUS, 60, 0.001, 0, 8.0, 4.0),
        Component("graveyard", 0.25, GEO_RADIUS + 300, 150, 0.002, 0, 9.0, 4.0),
    ),
    "HEO": (
        Component("Molniya", 0.25, 26_560, 60, 0.70, 0.03, 63.4, 1.0, 270.0),
        Component("transfer from 5 degrees", 0.30, 24_400, 900, 0.72, 0.02, 6.5, 1.5),
        Component("transfer from 28 degrees", 0.25, 23_500, 1500, 0.70, 0.04, 26.5, 1.5),
        Component("transfer from 49 degrees", 0.10, 25_000, 1500, 0.69, 0.05, 48.5, 1.5),
        Component("Tundra and science", 0.10, 42_000, 6000, 0.45, 0.12, 55.0, 18.0),
    ),
}


def regime_shares(imbalance: float) -> np.ndarray:
    """Share of each of `REGIMES` (4,): a geometric series along `RARITY` whose ends differ by the factor `imbalance`.

    1 is balanced; 50 gives LEO 0.73, GEO 0.20, HEO 0.05, MEO 0.015; the real catalogue of August 2021 has 0.81, 0.11,
    0.07 and 0.016, a factor of 51. The exponential profile is that of Cui et al., CVPR 2019.
    Raises InputError for an imbalance below 1 or not finite.
    """
    if not (np.isfinite(imbalance) and imbalance >= 1.0):
        raise InputError(f"The imbalance is {imbalance!r}; it must be 1 (balanced) or more.")
    weights = float(imbalance) ** (-np.arange(len(RARITY)) / (len(RARITY) - 1))
    shares = np.zeros(len(REGIMES))
    shares[[REGIMES.index(r) for r in RARITY]] = weights / weights.sum()
    return shares


def synthetic_population(objects: int, imbalance: float = 50.0, noise: float = 0.0, seed: int = 0) -> Catalogue:
    """A catalogue of `objects` made-up objects in random order whose `regime` is the one they were drawn from.

    imbalance: most frequent regime over rarest (`regime_shares`); every regime keeps at least one object as long as
    there are four. noise: adds normal noise to ln a, e and i (see `NOISE_AXIS`); 0 leaves the components as they are,
    1 smears LEO over 700 km and makes regimes overlap. The same arguments give the same bytes.

    Raises InputError for fewer than one object, an imbalance below 1, or a negative noise.
    """
    if objects < 1:
        raise InputError(f"The number of objects is {objects}; it must be 1 or more.")
    if not (np.isfinite(noise) and noise >= 0.0):
        raise InputError(f"The noise is {noise!r}; it must be 0 or more.")
    rng = np.random.default_rng(seed)
    regime = np.repeat(np.arange(len(REGIMES)), _whole_counts(objects, regime_shares(imbalance)))
    regime = rng.permutation(regime)  # N
    axis, eccentricity, inclination, perigee = (np.empty(objects) for _ in range(4))
    origin = np.empty(objects, dtype=object)
    for number, name in enumerate(REGIMES):
        parts = COMPONENTS[name]
        places = np.flatnonzero(regime == number)
        chosen = rng.choice(len(parts), size=len(places), p=[p.share for p in parts])
        for k, part in enumerate(parts):
            here = places[chosen == k]
            axis[here], eccentricity[here], inclination[here], perigee[here] = _draw(part, len(here), rng)
            origin[here] = part.name
    axis *= np.exp(noise * NOISE_AXIS * rng.standard_normal(objects))
    axis = np.maximum(axis, EARTH_RADIUS + LOWEST_PERIGEE + 40.0)
    eccentricity = np.abs(eccentricity + noise * NOISE_ECCENTRICITY * rng.standard_normal(objects))
    eccentricity = np.minimum(eccentricity, 1.0 - (EARTH_RADIUS + LOWEST_PERIGEE) / axis)
    inclination = np.abs(inclination + noise * NOISE_INCLINATION * rng.standard_normal(objects))
    inclination = 180.0 - np.abs(180.0 - inclination)
    node, anomaly = rng.uniform(0.0, 360.0, (2, objects))
    zeros = np.zeros(objects)
    return Catalogue(
        names=tuple(f"{REGIMES[r]}-{n + 1} {o}" for n, (r, o) in enumerate(zip(regime, origin))),
        numbers=zeros.astype(np.int64), designators=("",) * objects, epochs=zeros + 2_451_544.5,
        mean_motion=mean_motion(axis), eccentricity=eccentricity, inclination=inclination,
        node=node, perigee=perigee % 360.0, anomaly=anomaly, drag=zeros, regime=regime,
        kind=np.array([KINDS.index("debris" if "debris" in o else "payload") for o in origin], dtype=np.int64),
        families=("",) * objects,
        source=f"Synthetic orbits, generated by ddcl_core from seed {seed}; free to use.",
    )  # fmt: skip


def _draw(part: Component, count: int, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    axis = part.axis + part.axis_spread * rng.standard_normal(count)
    if part.eccentricity_spread:
        eccentricity = np.clip(part.eccentricity + part.eccentricity_spread * rng.standard_normal(count), 0.0, 0.95)
    else:
        eccentricity = rng.rayleigh(part.eccentricity, count)
    inclination = part.inclination + part.inclination_spread * rng.standard_normal(count)
    uniform = rng.uniform(0.0, 360.0, count)
    perigee = uniform if part.perigee is None else part.perigee + 10.0 * rng.standard_normal(count)
    return axis, eccentricity, inclination, perigee


def _whole_counts(total: int, shares: np.ndarray) -> np.ndarray:
    """Whole numbers that add up to `total` and follow the shares; at least one each if there are enough."""
    counts = np.floor(total * shares).astype(int)
    order = np.argsort(-(total * shares - counts), kind="stable")
    counts[order[: total - counts.sum()]] += 1
    if total >= len(counts):
        for empty in np.flatnonzero(counts == 0):
            counts[np.argmax(counts)] -= 1
            counts[empty] = 1
    return counts
