"""The usual methods on the same features, computed on a worker; and what each did with each regime."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

MOST_FOR_HDBSCAN = 6_000
"""HDBSCAN's time grows with the square of the number of objects; of larger catalogues it sees a random part."""
MOST_FOR_MIXTURE = 12_000

Report = Callable[[float, str], None]


def cluster_all(
    points: np.ndarray, labels: np.ndarray, classes: int, clusters: int, seed: int, report: Report
) -> list[dict[str, Any]]:
    """k-means and Gaussian mixtures with as many clusters as regimes and as prototypes, and HDBSCAN, each scored.

    points (N, d): features. labels (N,): regimes, used for the scores alone. Returns rows as `row` makes them, with
    `objects`, the number of objects that the method saw.
    """
    from ddcl_core import clustering

    counts = sorted({classes, clusters})
    plan: list[tuple[str, int, int, Callable[[np.ndarray], np.ndarray]]] = []
    for k in counts:
        plan.append((f"k-means, {k} clusters", k, len(points), lambda x, k=k: clustering.kmeans_clusters(x, k, seed)))
    for k in counts:
        mixture = lambda x, k=k: clustering.mixture_clusters(x, k, seed)  # noqa: E731
        plan.append((f"Gaussian mixture, {k} parts", k, MOST_FOR_MIXTURE, mixture))
    plan.append(("HDBSCAN, finds its own number", 0, MOST_FOR_HDBSCAN, clustering.hdbscan_clusters))
    order = np.random.default_rng(seed).permutation(len(points))
    rows = []
    for done, (name, k, most, method) in enumerate(plan):
        report(done / len(plan), f"Comparing: {name}")
        if k > len(points):
            continue
        seen = np.sort(order[:most])
        found = method(points[seen].astype(np.float64))
        rows.append(row(name, labels[seen], found, classes, k or None))
    report(1.0, "The other methods are through")
    return rows


def row(name: str, labels: np.ndarray, found: np.ndarray, classes: int, clusters: int | None = None) -> dict[str, Any]:
    """One method's scores as plain numbers; see `ddcl_core.clustering.ClusterScores`."""
    from ddcl_core.clustering import score_clusters

    s = score_clusters(labels, found, classes, clusters)
    return {
        "name": name, "accuracy": s.accuracy, "nmi": s.nmi, "ari": s.ari, "balanced": s.balanced_accuracy,
        "recall": s.recall.tolist(), "majority": s.majority_recall.tolist(), "clusters": s.clusters, "noise": s.noise,
        "objects": len(labels),
    }  # fmt: skip
