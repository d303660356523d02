"""Scores against values worked out by hand, brute force and scikit-learn; baselines; intervals; anomalies."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics

from ddcl_core.clustering import (
    anomalies, cluster_fill, dbscan_clusters, hdbscan_clusters, kmeans_clusters, mean_interval, mixture_clusters,
    nearest_prototypes, score_clusters,
)  # fmt: skip
from ddcl_core.errors import InputError

SEEDS = range(5)


def test_scores_by_hand():
    labels = np.array([0] * 6 + [1] * 3 + [2])
    clusters = np.array([2, 2, 2, 2, 1, 1, 0, 0, 1, 0])
    s = score_clusters(labels, clusters)
    # class 0 -> cluster 2 (4 of 6), class 1 -> cluster 0 (2 of 3), class 2 -> cluster 1 (0 of 1)
    assert s.accuracy == pytest.approx(0.6)
    np.testing.assert_allclose(s.recall, [4 / 6, 2 / 3, 0])
    assert s.balanced_accuracy == pytest.approx((4 / 6 + 2 / 3) / 3)
    np.testing.assert_allclose(s.majority_recall, [1, 2 / 3, 0])  # clusters 1 and 2 speak for class 0
    assert s.confusion.tolist() == [[0, 2, 4], [2, 1, 0], [1, 0, 0]]
    assert (s.fill, s.clusters, s.noise) == (1.0, 3, 0.0)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("classes", "clusters"), [(4, 4), (3, 5), (5, 3), (1, 4), (4, 1)])
def test_accuracy_equals_the_best_of_all_matchings(classes, clusters, seed):
    rng = np.random.default_rng(seed)
    y, c = rng.integers(0, classes, 60), rng.integers(0, clusters, 60)
    s = score_clusters(y, c, classes, clusters)
    names = list(range(max(classes, clusters)))
    best = max(np.mean(np.array(p)[c] == y) for p in permutations(names))
    assert s.accuracy == pytest.approx(best)
    assert s.nmi == pytest.approx(metrics.normalized_mutual_info_score(y, c))
    assert s.ari == pytest.approx(metrics.adjusted_rand_score(y, c))
    renamed = rng.permutation(clusters)[c]
    assert score_clusters(y, renamed, classes, clusters).accuracy == pytest.approx(best)


def test_noise_counts_as_wrong_and_empty_clusters_and_classes_are_told():
    y = np.array([0, 0, 0, 2])
    s = score_clusters(y, np.array([0, 0, -1, -1]), num_classes=4, num_clusters=4)
    assert s.accuracy == 0.5 and s.noise == 0.5 and s.clusters == 1 and s.fill == 0.25
    assert s.recall[0] == pytest.approx(2 / 3) and np.isnan(s.recall[[1, 3]]).all() and s.recall[2] == 0
    assert score_clusters(y, np.full(4, -1)).accuracy == 0.0
    assert cluster_fill(np.array([100, 0, 1, 3])) == 0.5 and cluster_fill(np.zeros(3)) == 0.0


@pytest.mark.parametrize(
    ("labels", "clusters", "reason"),
    [([], [], "be compared"), ([0, 1], [0], "be compared"), ([-1], [0], "0 or more"), ([0], [-2], "0 or more")],
)
def test_clusters_that_cannot_be_scored(labels, clusters, reason):
    with pytest.raises(InputError, match=reason):
        score_clusters(np.array(labels, int), np.array(clusters, int))


def test_interval_is_students():
    x = [0.61, 0.72, 0.66, 0.7, 0.69]
    low, high = stats.t.interval(0.95, 4, loc=np.mean(x), scale=stats.sem(x))
    got = mean_interval([*x, float("nan")])
    assert got.mean == pytest.approx(np.mean(x)) and got.low == pytest.approx(low) and got.high == pytest.approx(high)
    assert got.half == pytest.approx((high - low) / 2)
    assert mean_interval([0.5]).mean == 0.5 and np.isnan(mean_interval([0.5]).half)
    with pytest.raises(InputError, match="no measurements"):
        mean_interval([float("nan")])


@pytest.mark.parametrize("seed", SEEDS)
def test_every_baseline_finds_clusters_that_lie_far_apart(seed):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(3), (150, 80, 40))
    x = np.eye(3)[y] * 20 + rng.standard_normal((270, 3))
    for found in (kmeans_clusters(x, 3, seed), mixture_clusters(x, 3, seed), hdbscan_clusters(x), dbscan_clusters(x)):
        s = score_clusters(y, found, 3)
        assert s.accuracy > 0.85 and s.ari > 0.9
    assert (dbscan_clusters(x[:5]) == -1).all() and (hdbscan_clusters(x[:5]) == -1).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_anomalies_are_the_farthest_from_every_living_prototype(seed):
    rng = np.random.default_rng(seed)
    z = rng.standard_normal((300, 4))
    z[17] += 40.0
    p = np.vstack([rng.standard_normal((3, 4)), z[17] + 0.01])
    near, distance = nearest_prototypes(z, p)
    table = np.linalg.norm(z[:, None] - p, axis=-1)
    assert np.array_equal(near, table.argmin(1))
    np.testing.assert_allclose(distance, table.min(1))
    assert anomalies(z, p, 5).places[0] != 17  # a prototype of its own hides the outlier ...
    found = anomalies(z, p, 5, usage=[0.4, 0.3, 0.297, 0.003])  # ... unless dead ones do not count
    assert found.places[0] == 17 and (np.diff(found.distances) <= 0).all() and (found.nearest < 3).all()
    with pytest.raises(InputError, match="do not fit"):
        anomalies(z, p[:, :2])
