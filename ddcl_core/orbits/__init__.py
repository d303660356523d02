"""Orbits of satellites and debris: catalogues, synthetic populations, and tokens made of them.

Reading needs the `sgp4` package, which is imported when a file is read; everything else is numpy.
"""

from ddcl_core.orbits.catalogue import Catalogue, Cloud, Problem
from ddcl_core.orbits.elements import EARTH_RADIUS, GEO_RADIUS, REGIME_RULES, REGIMES, orbit_paths, regimes
from ddcl_core.orbits.features import FEATURE_UNITS, FEATURES, Standardisation, features, orbit_of, raw_features
from ddcl_core.orbits.names import KINDS, NAMED_CLOUDS, family_of, kind_of
from ddcl_core.orbits.population import regime_shares, synthetic_population
from ddcl_core.orbits.reader import load_catalogue, read_catalogue
from ddcl_core.orbits.scene import catalogue_for, orbit_scene

__all__ = [
    "EARTH_RADIUS", "FEATURES", "FEATURE_UNITS", "GEO_RADIUS", "KINDS", "NAMED_CLOUDS", "REGIMES", "REGIME_RULES",
    "Catalogue", "Cloud", "Problem", "Standardisation", "catalogue_for", "family_of", "features", "kind_of",
    "load_catalogue", "orbit_of", "orbit_paths", "orbit_scene", "raw_features", "read_catalogue", "regime_shares",
    "regimes", "synthetic_population",
]  # fmt: skip
