"""Every example of the Stability Lab, over five seeds: what its two sentences say must happen.

The runs are the page's own configurations, in full size; two processes share the work.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor

import numpy as np
import pytest

from benchmarks.presets import outcome
from dashboard.presets import PRESETS, preset

SEEDS = (0, 1, 2, 7, 11)
# Steps that the words speak of: (example, pair) -> steps on the left, steps on the right.
STEPS = {
    ("collapse", 0): (130, 200),
    ("synthetic", 0): (60, 150),
    ("hot", 0): (100, 100),
    ("cooling", 0): (110, 110),
    ("cooling", 1): (45, 45),
    ("forces", 0): (60, 60),
    ("forces", 1): (60, 60),
    ("dead", 0): (100, 100),
    ("news", 0): (100, 200),
    ("task", 0): (60, 200),
}


@pytest.fixture(scope="module")
def results():
    """Futures by example, pair, side and seed; all are begun at once."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        yield {
            (key, pair, side, seed): pool.submit(outcome, panel.config.with_(seed=seed), STEPS[key, pair][side])
            for (key, pair) in STEPS
            for side, panel in enumerate(preset(key).pairs[pair].panels)
            for seed in SEEDS
        }
        pool.shutdown(wait=False, cancel_futures=True)


@pytest.fixture
def runs(results: dict[tuple, Future]) -> Callable[[str, int], list]:
    """runs(example, pair) -> [(left, right) for each seed]."""
    return lambda key, pair=0: [(results[key, pair, 0, s].result(), results[key, pair, 1, s].result()) for s in SEEDS]


def metric(run: dict, name: str) -> np.ndarray:
    return run["history"][name]


def test_every_pair_of_every_example_is_tested():
    assert set(STEPS) == {(p.key, i) for p in PRESETS for i in range(len(p.pairs))}


def test_collapse_against_stability(runs):
    for left, right in runs("collapse"):
        assert left["status"] == "collapsed" and 80 <= left["step"] <= 115
        assert metric(left, "critical_temperature")[60] < 2.0
        assert right["status"] == "stable" and right["first_collapse"] is None
        assert metric(right, "weighted_separation")[-1] > metric(right, "weighted_separation")[0]


def test_synthetic_topics(runs):
    for left, right in runs("synthetic"):
        assert left["status"] == "collapsed"
        assert (metric(left, "critical_temperature")[10:] < 2.0).all()
        assert right["status"] == "stable" and (metric(right, "critical_temperature") > 2.0).all()


def test_too_hot(runs):
    for left, right in runs("hot"):
        assert (metric(left, "critical_temperature") < 30.0).all()
        assert left["status"] == "collapsed" and 65 <= left["step"] <= 95
        assert right["status"] == "stable" and (metric(right, "critical_temperature") > 2.0).all()


def test_cooling_saves_a_slow_encoder_and_not_a_fast_one(runs):
    for held, cooled in runs("cooling", 0):
        assert held["status"] == "collapsed" and cooled["status"] == "stable" and cooled["first_collapse"] is None
        assert metric(cooled, "temperature")[0] == 6.0 and metric(cooled, "temperature")[40] == pytest.approx(0.5)
    for held, cooled in runs("cooling", 1):
        assert held["status"] == cooled["status"] == "collapsed"


def test_which_force_separates(runs):
    for ols, variance in runs("forces", 0):
        assert metric(ols, "weighted_separation")[-1] > 4 * metric(ols, "weighted_separation")[0]
        assert variance["status"] == "collapsed" and (np.diff(metric(variance, "weighted_separation")) < 0).all()
    for loss, free in runs("forces", 1):
        assert metric(free, "critical_temperature")[0] < 17.0 < metric(loss, "critical_temperature")[0]
        assert metric(loss, "weighted_separation")[-1] > 3 * metric(loss, "weighted_separation")[0]
        assert free["status"] == "collapsed" and (np.diff(metric(free, "F_tilde")) <= 1e-4).all()


def test_dead_prototypes(runs):
    for random, placed in runs("dead"):
        assert metric(random, "dead_prototypes")[-1] >= 6  # most of twelve
        assert metric(placed, "dead_prototypes")[-1] <= 3
        assert metric(placed, "dead_prototypes")[0] == 0


def test_real_text_without_an_anchor(runs):
    for left, right in runs("news"):
        assert left["status"] == "collapsed" and 50 <= left["step"] <= 90
        assert right["status"] == "stable"
        assert metric(right, "effective_prototypes")[-1] < metric(right, "effective_prototypes")[50]
        assert metric(right, "critical_temperature")[-1] < 0.75 * metric(right, "critical_temperature")[50]


def test_real_text_with_a_task(runs):
    for fast, slow in runs("task"):
        assert metric(fast, "effective_prototypes")[-1] <= 3.2
        assert metric(slow, "effective_prototypes")[-1] >= 5.5
        assert metric(slow, "accuracy")[-1] > 0.7 and metric(slow, "accuracy")[-1] > metric(fast, "accuracy")[-1]
    assert any(fast["status"] == "collapsed" for fast, _ in runs("task"))
