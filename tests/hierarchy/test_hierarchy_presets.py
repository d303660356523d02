"""What the Hierarchy page's examples say happens, on several seeds."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest
import torch

from dashboard.engine.packing import history_arrays
from dashboard.hierarchy import kind
from dashboard.hierarchy.presets import HIERARCHY_PRESETS, hierarchy_preset
from ddcl_core.hierarchy import HierarchyRun

torch.set_num_threads(1)
seeds = pytest.mark.parametrize("seed", (0, 1, 7))


@lru_cache(maxsize=32)
def run(key: str, side: int, seed: int, step: int = 200) -> HierarchyRun:
    """One side of an example after `step` steps."""
    made = HierarchyRun(hierarchy_preset(key).pairs[0].panels[side].config.with_(seed=seed))
    made.advance(1e9, {"until_step": step})
    assert made.violations == [0] * len(made.violations)
    return made


def collapse_steps(made: HierarchyRun) -> tuple[int | None, int | None]:
    return made.status_tracker.collapsed_step, made.level_status[0].collapsed_step


@seeds
def test_the_hot_coarse_level_collapses_alone(seed: int) -> None:
    fine, coarse = collapse_steps(run("hot-coarse", 0, seed))
    assert fine is None and coarse is not None and coarse < 60
    assert collapse_steps(run("hot-coarse", 1, seed)) == (None, None)


@seeds
def test_the_hot_fine_level_takes_the_coarse_one_along(seed: int) -> None:
    fine, coarse = collapse_steps(run("hot-fine", 0, seed))
    assert 90 < fine < 130 and abs(fine - coarse) < 20
    assert run("hot-fine", 0, seed).model.temperatures == [2.0]


@seeds
def test_a_fast_encoder_collapses_the_coarse_level_first(seed: int) -> None:
    fine, coarse = collapse_steps(run("fast-fine", 0, seed))
    assert coarse < 25 and 35 < fine < 75
    assert collapse_steps(run("fast-fine", 1, seed)) == (None, None)


def test_the_news_tree_has_words_and_flows_that_add_up() -> None:
    config = hierarchy_preset("two").pairs[0].right.config.with_(max_steps=40)
    from ddcl_core.data.scene import load_scene

    made = kind.make(config, load_scene(config.data, config.seed), None)
    frame = made.advance(1e9)[-1]
    extra = kind.extras(frame, made)
    flows = extra["links"].reshape(16, 6)
    assert flows.sum() == pytest.approx(1, abs=1e-3) and np.allclose(flows.sum(1), frame.usage, atol=1e-4)
    assert np.allclose(flows.sum(0), frame.upper_usage[0], atol=1e-4)
    named = [made.vocabulary[i] for i in extra["top_words"].ravel() if i >= 0]
    assert extra["top_words"].shape == (22, 3) and len(named) > 40 and "the" not in named
    header, _ = kind.still(made)
    assert header["sizes"] == [16, 6] and header["vocabulary"] == made.vocabulary
    sent = history_arrays(made.history, kind.METRIC_NAMES, -1)["metrics"]
    assert sent.shape[1] == len(kind.METRIC_NAMES) and np.isnan(sent[:, kind.METRIC_NAMES.index("V@3")]).all()
    assert np.array_equal(sent[:, kind.METRIC_NAMES.index("V@1")], made.history["V@1"].astype(np.float32))
    shown = kind.frame_of(frame)
    assert len(shown.prototypes) == 22 == len(shown.usage) and shown.assignments.shape[1] == 16
    again = kind.make(config, made.scene, made.save())
    assert again.step == 40 and again.vocabulary == made.vocabulary


def test_names_are_those_of_the_formula() -> None:
    q = np.array([[1, 0], [1, 0], [1, 0], [0, 1], [0, 1.0]])
    words = np.array([0, 0, 1, 2, -1])
    tops = kind.top_words(q, words, 3)
    assert tops.tolist() == [[0, 1, -1], [2, -1, -1]]
    assert kind.top_words(q, np.full(5, -1), 0).tolist() == [[-1] * 3] * 2, "no word can name anything"


def test_every_example_has_two_sides_on_the_same_tokens() -> None:
    for preset in HIERARCHY_PRESETS:
        left, right = (panel.config for panel in preset.pairs[0].panels)
        assert left.data == right.data and left.seed == right.seed
