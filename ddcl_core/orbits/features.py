"""Orbits as tokens: what each number means, and how it is brought to a common scale.

    log_axis          ln(a / 1 km)          a from 6,500 to 60,000 km and more: a ratio is what matters
    eccentricity      e                     1
    cos_inclination   cos i                 1; the share of the motion along the equator, smooth at 0 and 180 degrees
    sin_inclination   sin i                 1; with cos i no two inclinations coincide
    log_perigee       ln(r_p / 1 km)        tells transfer orbits from high circular ones
    log_apogee        ln(r_a / 1 km)

Node, argument of perigee and anomaly are left out: perturbations turn the first two within months or years (in low
orbits) and the last within hours, so they say when an object was seen rather than which orbit it is in.
The angle-free elements are what regimes are defined by; perigee and apogee repeat a and e on purpose, in the form in
which the regimes differ most.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ddcl_core.errors import InputError
from ddcl_core.orbits.catalogue import Catalogue

FEATURES = ("log_axis", "eccentricity", "cos_inclination", "sin_inclination", "log_perigee", "log_apogee")
"""Names, in order; `DataConfig.dim` takes the first so many."""
FEATURE_UNITS = ("ln km", "1", "1", "1", "ln km", "ln km")


def raw_features(catalogue: Catalogue, dim: int = len(FEATURES)) -> np.ndarray:
    """(N, dim) float64 in the units of `FEATURE_UNITS`. Raises InputError for a dim that is not there."""
    if not 1 <= dim <= len(FEATURES):
        raise InputError(
            f"data.dim is {dim}, and orbits have {len(FEATURES)} features ({', '.join(FEATURES)}); "
            f"set it from 1 to {len(FEATURES)}."
        )
    a, e, i = catalogue.axis, catalogue.eccentricity, np.radians(catalogue.inclination)
    columns = (np.log(a), e, np.cos(i), np.sin(i), np.log(a * (1.0 - e)), np.log(a * (1.0 + e)))
    return np.stack(columns[:dim], axis=-1)


@dataclass(frozen=True, eq=False)
class Standardisation:
    """z = (x - mean) / deviation, both (d,) in the features' units; a constant feature has deviation 1 and is 0."""

    mean: np.ndarray
    deviation: np.ndarray

    @classmethod
    def of(cls, raw: np.ndarray) -> "Standardisation":
        """From the features (N, d) themselves: mean 0 and variance 1 (divided by N) for each."""
        mean, deviation = raw.mean(axis=0), raw.std(axis=0)
        flat = deviation <= 1e-9 * np.maximum(np.abs(mean), 1e-3)
        return cls(mean, np.where(flat, 1.0, deviation))

    def apply(self, raw: np.ndarray) -> np.ndarray:
        """(..., d) in units -> (..., d) standardised."""
        return (raw - self.mean) / self.deviation

    def invert(self, z: np.ndarray) -> np.ndarray:
        """(..., d) standardised -> (..., d) in units."""
        return z * self.deviation + self.mean


def features(catalogue: Catalogue, dim: int = len(FEATURES)) -> tuple[np.ndarray, Standardisation]:
    """Standardised features (N, dim) float64 of mean squared norm dim, and how to undo them."""
    raw = raw_features(catalogue, dim)
    scale = Standardisation.of(raw)
    return scale.apply(raw), scale


def orbit_of(raw: np.ndarray) -> dict[str, np.ndarray]:
    """The orbit that raw features (..., d >= 4) stand for, as where a prototype without an encoder lies.

    Returns 'axis' (km), 'eccentricity' (cut to [0, 0.999]) and 'inclination' (degrees). A prototype is an average,
    and an average of orbits need not be an orbit: cos i and sin i are brought back to an angle, the rest is dropped.
    """
    return {
        "axis": np.exp(raw[..., 0]),
        "eccentricity": np.clip(raw[..., 1], 0.0, 0.999),
        "inclination": np.degrees(np.arctan2(np.maximum(raw[..., 3], 0.0), raw[..., 2])),
    }
