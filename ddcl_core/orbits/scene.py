"""Orbits as a scene that a `TrainingRun` trains on unchanged: each object is a document of one token."""

from __future__ import annotations

import numpy as np

from ddcl_core.config import DataConfig
from ddcl_core.data.scene import TokenScene
from ddcl_core.orbits.catalogue import Catalogue
from ddcl_core.orbits.elements import REGIMES
from ddcl_core.orbits.features import FEATURES, features
from ddcl_core.orbits.planes import orbit_planes
from ddcl_core.orbits.population import synthetic_population
from ddcl_core.orbits.reader import read_catalogue

_PROBLEMS_NAMED = 3


def catalogue_for(config: DataConfig, seed: int) -> Catalogue:
    """The catalogue of a configuration of kind 'orbits': `config.texts` as one file, or else a synthetic population.

    At most `config.num_documents` objects: of a larger file, a random choice by `seed` in the file's order, so that
    shares stay. The places in it are the documents of the scene. Raises InputError as `read_catalogue` does.
    """
    if not config.texts:
        return synthetic_population(config.num_documents, config.imbalance, config.noise, seed)
    catalogue = read_catalogue("\n".join(config.texts))
    if len(catalogue) <= config.num_documents:
        return catalogue
    chosen = np.random.default_rng(seed).permutation(len(catalogue))[: config.num_documents]
    return catalogue.take(np.sort(chosen))


def orbit_scene(config: DataConfig, seed: int, catalogue: Catalogue | None = None) -> TokenScene:
    """Objects of a catalogue as tokens (N, 1, dim): the first `config.dim` of `FEATURES`, standardised.

    Labels are regimes, always all four of `REGIMES`; `words` holds the names and `texts` one line about each object.
    `catalogue`: use this one instead of `catalogue_for(config, seed)`.
    """
    catalogue = catalogue_for(config, seed) if catalogue is None else catalogue
    z, _ = features(catalogue, config.dim)
    labels = np.asarray(catalogue.regime)
    notes = list(catalogue.notes)
    if catalogue.problems:
        said = "; ".join(f"line {p.line}: {p.reason}" for p in catalogue.problems[:_PROBLEMS_NAMED])
        more = len(catalogue.problems) - _PROBLEMS_NAMED
        notes.append(f"Left out {len(catalogue.problems)}: {said}{f'; and {more} more' if more > 0 else ''}.")
    shares = ", ".join(f"{name} {count:,}" for name, count in catalogue.counts().items())
    notes.append(f"Regimes: {shares}. Tokens are {', '.join(FEATURES[: config.dim])}, standardised.")
    return TokenScene(
        tokens=z[:, None].astype(np.float32),  # N, 1, d
        mask=np.ones((len(catalogue), 1), dtype=bool),
        labels=labels,
        token_labels=labels[:, None],
        class_names=REGIMES,
        words=[[name] for name in catalogue.names],
        texts=[catalogue.describe(n) for n in range(len(catalogue))],
        name=f"{len(catalogue):,} orbits" + ("" if config.texts else f", imbalance {config.imbalance:g}"),
        source=catalogue.source,
        notes=notes,
        planes=orbit_planes(catalogue),
    )
