"""What the Orbits page's examples say must happen, over five seeds, with the page's own configurations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dashboard.orbits.presets import ORBIT_PRESETS, orbit_preset
from dashboard.orbits.state import OrbitState, panels_of
from ddcl_core import TrainingRun
from ddcl_core.clustering import kmeans_clusters, score_clusters
from ddcl_core.data.scene import TokenScene, load_scene
from ddcl_core.orbits import REGIMES

SEEDS = (0, 1, 2, 7, 11)
LEO, MEO = REGIMES.index("LEO"), REGIMES.index("MEO")


@pytest.fixture(scope="module")
def scene_of():
    """scene_of(example, pair, seed): the tokens that the page would train on; each made once."""
    made: dict[tuple, TokenScene] = {}

    def make(example: str, pair: int, seed: int) -> TokenScene:
        data = orbit_preset(example).pairs[pair].left.config.data
        key = (data.imbalance, seed)
        if key not in made:
            made[key] = load_scene(data, seed)
        return made[key]

    return make


def recall(scene: TokenScene, found: np.ndarray, clusters: int) -> np.ndarray:
    return score_clusters(scene.labels, found, len(REGIMES), clusters).recall


def trained(example: str, pair: int, side: int, seed: int, scene: TokenScene, steps: int) -> TrainingRun:
    config = panels_of(OrbitState(example=example, pair=pair, seed=seed))[side].config
    run = TrainingRun(replace(config, max_steps=steps, frame_every=10, device="cpu"), scene)
    run.advance(float("inf"))
    return run


@pytest.mark.parametrize("seed", SEEDS)
def test_kmeans_gives_meo_away_between_5_and_10_times(scene_of, seed: int) -> None:
    kept, lost, later = (scene_of("rare", pair, seed) for pair in range(3))
    share = {}
    for name, scene in (("kept", kept), ("lost", lost), ("later", later)):
        share[name] = recall(scene, kmeans_clusters(scene.tokens[:, 0].astype(float), 4, seed), 4)
    assert share["kept"][MEO] > 0.9 and share["kept"][LEO] > 0.95
    assert share["lost"][MEO] < 0.15 and share["lost"][LEO] < 0.75  # given away, and LEO cut in two
    assert share["later"][MEO] < 0.2


@pytest.mark.parametrize("seed", SEEDS)
def test_eight_warm_prototypes_keep_both_at_10_times(scene_of, seed: int) -> None:
    scene = scene_of("rare", 1, seed)
    run = trained("rare", 1, 0, seed, scene, 300)
    share = recall(scene, run.assign()["lead"], 8)
    assert run.status == "stable" and share[MEO] > 0.75 and share[LEO] > 0.95


def test_and_at_50_times_it_depends_on_the_start(scene_of) -> None:
    shares = []
    for seed in SEEDS:
        scene = scene_of("rare", 2, seed)
        shares.append(recall(scene, trained("rare", 2, 0, seed, scene, 300).assign()["lead"], 8)[MEO])
    assert min(shares) < 0.2 and max(shares) > 0.9, shares


@pytest.mark.parametrize("seed", SEEDS)
def test_too_hot_falls_together_and_warm_does_not(scene_of, seed: int) -> None:
    scene = scene_of("hot", 0, seed)
    hot, warm = (trained("hot", 0, side, seed, scene, steps) for side, steps in ((0, 40), (1, 120)))
    assert 15 < hot.history["critical_temperature"][0] < 20 < 30
    assert hot.status == "collapsed" and hot.status_tracker.step <= 40 and warm.status == "stable"


@pytest.mark.parametrize("seed", SEEDS)
def test_a_fast_encoder_diverges_and_a_slow_one_does_not(scene_of, seed: int) -> None:
    scene = scene_of("speed", 0, seed)
    config = panels_of(OrbitState(example="speed", pair=0, seed=seed))[0].config
    fast = TrainingRun(replace(config, max_steps=20, device="cpu"), scene)
    fast.advance(float("inf"))
    assert fast.status == "diverged" and fast.status_tracker.step <= 20
    assert trained("speed", 0, 1, seed, scene, 100).status == "stable"


@pytest.mark.parametrize("seed", SEEDS)
def test_the_encoder_raises_the_critical_temperature(scene_of, seed: int) -> None:
    scene = scene_of("frozen", 0, seed)
    frozen, moving = (trained("frozen", 0, side, seed, scene, 100) for side in (0, 1))
    before, after = frozen.history["critical_temperature"][[0, -1]]
    assert after == pytest.approx(before) and moving.history["critical_temperature"][-1] > 1.1 * before


def test_every_example_opens_with_words_and_two_sides() -> None:
    assert len({p.key for p in ORBIT_PRESETS}) == len(ORBIT_PRESETS)
    for preset in ORBIT_PRESETS:
        for pair in range(len(preset.pairs)):
            left, right = panels_of(OrbitState(example=preset.key, pair=pair))
            assert left.config != right.config and left.config.data == right.config.data
