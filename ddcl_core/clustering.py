"""How well clusters agree with known classes, and the usual methods to compare with. Imports scipy and scikit-learn in
its functions only.

    ACC = max over one-to-one matchings m of mean_n [y_n = m(c_n)]        (Hungarian method; Kuhn 1955)

One-to-one means that with more clusters than classes the clusters left over count as wrong, so ACC falls with every
cluster too many; `majority_recall`, where each cluster speaks for the class it holds most of, does not.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ddcl_core.errors import InputError

NOISE = -1
"""Cluster number of an object that a method leaves without a cluster (DBSCAN, HDBSCAN)."""


@dataclass(frozen=True, eq=False)
class ClusterScores:
    """One clustering against C known classes.

    accuracy: ACC in [0, 1]. nmi: normalised mutual information (arithmetic mean). ari: adjusted Rand index.
    balanced_accuracy: mean of `recall` over the classes that occur.
    recall (C,): share of each class that lies in the cluster matched to it; NaN for a class without objects.
    majority_recall (C,): share of each class that lies in clusters in which it is the largest class.
    majority_balanced: its mean over the classes that occur. fill: share of the K clusters that hold at least
    N / (10 K) objects. clusters: number of clusters found, without noise. noise: share of objects without a cluster.
    confusion (C, clusters): objects of each class in each cluster, noise left out.
    """

    accuracy: float
    nmi: float
    ari: float
    balanced_accuracy: float
    recall: np.ndarray
    majority_recall: np.ndarray
    majority_balanced: float
    fill: float
    clusters: int
    noise: float
    confusion: np.ndarray


def score_clusters(
    labels: np.ndarray, clusters: np.ndarray, num_classes: int | None = None, num_clusters: int | None = None
) -> ClusterScores:
    """Compare clusters (N,) with classes (N,), both whole numbers; a cluster of -1 is noise and counts as wrong.

    num_classes: C, by default the largest label + 1. num_clusters: K, by default as many as occur; give it where empty
    clusters should lower `fill`. Raises InputError for no objects, lengths that differ, or a negative label.
    """
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

    labels, clusters = np.asarray(labels, dtype=np.int64), np.asarray(clusters, dtype=np.int64)
    if labels.ndim != 1 or labels.shape != clusters.shape or not len(labels):
        raise InputError(
            f"Labels of shape {labels.shape} and clusters of shape {clusters.shape} cannot be compared; give one of "
            "each for every object."
        )
    if labels.min() < 0 or clusters.min() < NOISE:
        raise InputError("Labels must be 0 or more, and clusters 0 or more or -1 for noise.")
    confusion = confusion_matrix(labels, clusters, num_classes, num_clusters)
    C, K = confusion.shape
    size = np.bincount(labels, minlength=C).astype(float)  # C
    occurs = size > 0
    recall = np.where(occurs, 0.0, np.nan)
    hits = 0
    for row, column in match_clusters(confusion):
        hits += confusion[row, column]
        if occurs[row]:
            recall[row] = confusion[row, column] / size[row]
    largest = confusion.argmax(axis=0)  # K
    majority = np.array([confusion[c, largest == c].sum() for c in range(C)])
    with np.errstate(invalid="ignore"):
        majority = np.where(occurs, majority / size, np.nan)
    return ClusterScores(
        accuracy=float(hits / len(labels)),
        nmi=float(normalized_mutual_info_score(labels, clusters)),
        ari=float(adjusted_rand_score(labels, clusters)),
        balanced_accuracy=float(recall[occurs].mean()),
        recall=recall, majority_recall=majority, majority_balanced=float(majority[occurs].mean()),
        fill=cluster_fill(confusion.sum(axis=0)),
        clusters=int((confusion.sum(axis=0) > 0).sum()),
        noise=float((clusters == NOISE).mean()),
        confusion=confusion,
    )  # fmt: skip


def confusion_matrix(
    labels: np.ndarray, clusters: np.ndarray, num_classes: int | None = None, num_clusters: int | None = None
) -> np.ndarray:
    """(C, K) counts of objects by class and cluster; noise (-1) is left out."""
    C = max(num_classes or 0, int(labels.max()) + 1)
    K = max(num_clusters or 0, int(clusters.max()) + 1, 1)
    real = clusters >= 0
    return np.bincount(labels[real] * K + clusters[real], minlength=C * K).reshape(C, K)


def match_clusters(confusion: np.ndarray) -> list[tuple[int, int]]:
    """The one-to-one pairs (class, cluster) that hold the most objects; min(C, K) pairs of a (C, K) table."""
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(confusion, maximize=True)
    return [(int(r), int(c)) for r, c in zip(rows, columns)]


def cluster_fill(sizes: np.ndarray) -> float:
    """Share of the K clusters of these sizes (K,) that hold at least N / (10 K) objects: not dead, in DDCL's words."""
    sizes = np.asarray(sizes, dtype=float)
    return float((sizes >= sizes.sum() / (10 * len(sizes))).mean()) if sizes.sum() else 0.0


class Interval(NamedTuple):
    """Mean of repeated measurements with the bounds of its 95 % interval."""

    mean: float
    low: float
    high: float

    @property
    def half(self) -> float:
        """Half the width of the interval."""
        return (self.high - self.low) / 2


def mean_interval(values: Iterable[float], confidence: float = 0.95) -> Interval:
    """Mean and Student-t interval over independent repetitions (seeds); NaN bounds for a single one.

    mean +- t_{n-1} s / sqrt(n). Values that are NaN are left out. Raises InputError when nothing is left.
    """
    from scipy.stats import t

    x = np.array([v for v in values if not math.isnan(v)], dtype=float)
    if not len(x):
        raise InputError("There are no measurements to average; run at least one seed.")
    if len(x) == 1:
        return Interval(float(x[0]), math.nan, math.nan)
    half = float(t.ppf(0.5 + confidence / 2, len(x) - 1) * x.std(ddof=1) / math.sqrt(len(x)))
    return Interval(float(x.mean()), float(x.mean() - half), float(x.mean() + half))


def kmeans_clusters(points: np.ndarray, clusters: int, seed: int = 0) -> np.ndarray:
    """k-means++ with ten starts on points (N, d) -> cluster of each (N,)."""
    from sklearn.cluster import KMeans

    return KMeans(clusters, n_init=10, random_state=seed).fit_predict(points)


def mixture_clusters(points: np.ndarray, clusters: int, seed: int = 0) -> np.ndarray:
    """Gaussian mixture with full covariances, three starts from k-means, on points (N, d) -> (N,)."""
    from sklearn.mixture import GaussianMixture

    return GaussianMixture(clusters, n_init=3, random_state=seed, reg_covar=1e-4).fit_predict(points)


def dbscan_clusters(points: np.ndarray, min_samples: int = 10, quantile: float = 0.95) -> np.ndarray:
    """DBSCAN whose radius is the `quantile` of the distances to the `min_samples`-th neighbour -> (N,), -1 for noise.

    That is the knee rule of Ester et al. (KDD 1996) with a fixed quantile, so that no label is needed.
    """
    from sklearn.cluster import DBSCAN
    from sklearn.neighbors import NearestNeighbors

    if len(points) <= min_samples:
        return np.full(len(points), NOISE)
    distances, _ = NearestNeighbors(n_neighbors=min_samples).fit(points).kneighbors(points)
    radius = max(float(np.quantile(distances[:, -1], quantile)), 1e-9)
    return DBSCAN(eps=radius, min_samples=min_samples).fit_predict(points)


def hdbscan_clusters(points: np.ndarray, min_cluster_size: int | None = None) -> np.ndarray:
    """HDBSCAN (Campello et al. 2013) -> (N,), -1 for noise; the least cluster is 0.5 % of the points, at least 10."""
    from sklearn.cluster import HDBSCAN

    size = max(10, len(points) // 200) if min_cluster_size is None else min_cluster_size
    if len(points) <= size:
        return np.full(len(points), NOISE)
    return HDBSCAN(min_cluster_size=size, copy=True).fit_predict(points)


class Anomalies(NamedTuple):
    """places (n,): the objects farthest from every prototype, the farthest first; distances (n,); nearest (n,): the
    prototype each is nearest to."""

    places: np.ndarray
    distances: np.ndarray
    nearest: np.ndarray


def anomalies(
    tokens: np.ndarray, prototypes: np.ndarray, count: int = 20, usage: Sequence[float] | None = None
) -> Anomalies:
    """The `count` tokens (N, d) with the largest distance to their nearest prototype (K, d), in the tokens' unit.

    usage (K,): with it, prototypes that hold less than 1 / (10 K) of the tokens do not count: one that has moved to a
    single outlier would hide it. Raises InputError for shapes that do not fit.
    """
    nearest, distances = nearest_prototypes(tokens, prototypes, usage)
    order = np.argsort(-distances, kind="stable")[:count]
    return Anomalies(order, distances[order], nearest[order])


def nearest_prototypes(
    tokens: np.ndarray, prototypes: np.ndarray, usage: Sequence[float] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Index (N,) of and distance (N,) to the nearest prototype; arguments as for `anomalies`.

    It is also DDCL's hard assignment: argmax_k q_nk does not depend on T.
    """
    tokens, prototypes = np.asarray(tokens, dtype=np.float64), np.asarray(prototypes, dtype=np.float64)
    if tokens.ndim != 2 or prototypes.ndim != 2 or tokens.shape[1] != prototypes.shape[1] or not len(prototypes):
        raise InputError(
            f"Tokens of shape {tokens.shape} do not fit prototypes of shape {prototypes.shape}; give (N, d) and (K, d)."
        )
    K = len(prototypes)
    alive = np.arange(K)
    if usage is not None:
        alive = np.flatnonzero(np.asarray(usage, dtype=float) >= 1.0 / (10 * K))
        alive = alive if len(alive) else np.arange(K)
    squared = np.stack([((tokens - prototypes[k]) ** 2).sum(axis=1) for k in alive], axis=1)  # N, alive
    best = squared.argmin(axis=1)
    return alive[best], np.sqrt(squared[np.arange(len(tokens)), best])
