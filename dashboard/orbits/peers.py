"""The usual methods on the page's features: begun once for each scene and K, computed aside, asked for without waiting."""

from __future__ import annotations

import numpy as np

from dashboard.engine import tasks
from dashboard.engine.jobs import JobState, job_key, jobs
from ddcl_core.config import RunConfig
from ddcl_core.orbits import REGIMES, Catalogue, features


def peers(config: RunConfig, catalogue: Catalogue) -> JobState:
    """How far the comparison for these features, this K and seed is; the first question begins it, and so does the next
    one after an error. Its result is a list of `methods.row`."""
    key = job_key("peers", config.to_dict()["data"], config.seed, config.num_prototypes)
    state = jobs().state(key)
    if state.state != "idle":
        return state
    points, _ = features(catalogue, config.data.dim)
    labels = np.asarray(catalogue.regime)
    return jobs().begin(
        key, tasks.compare_methods, points.astype(np.float32), labels, len(REGIMES), config.num_prototypes, config.seed
    )
