"""What the Hierarchy page does without a browser: links, sides, reading documents through levels, and cooling's splits."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from dashboard.engine import kinds
from dashboard.engine.actor import LiveRun
from dashboard.hierarchy import cooling, kind, worker
from dashboard.hierarchy.cooling import COOLING_PRESETS, CoolingConfig
from dashboard.hierarchy.presets import HIERARCHY_PRESETS, TOPICS, hierarchy_preset
from dashboard.hierarchy.sections import _view
from dashboard.hierarchy.state import SHAPES, TEXTS, HierarchyState, from_query, panels_of, to_query
from dashboard.live import wire
from ddcl_core import DataConfig, EncoderConfig, RunConfig
from ddcl_core.data.scene import load_scene
from ddcl_core.hierarchy import HierarchyConfig, HierarchyRun, LevelConfig

torch.set_num_threads(1)
TEXT = ("The team won the match after a late goal in the cup.", "Shares fell as the bank reported a loss on the market.",
        "A striker scored twice and the goalkeeper saved a penalty.", "Profits rose and the stock market gained today.") * 2  # fmt: skip
OWN = HierarchyConfig(
    RunConfig(
        data=DataConfig(kind="custom", texts=tuple(f"{t} Number {i}." for i, t in enumerate(TEXT)), text_labels=("a", "b") * 4,
                        num_documents=8, tokens_per_document=12, dim=8),
        encoder=EncoderConfig("residual", heads=4), num_prototypes=5, epsilon=0.05, max_steps=20, frame_every=5,
    ),
    (LevelConfig(3), LevelConfig(2)),
)  # fmt: skip


@pytest.fixture(scope="module")
def run() -> HierarchyRun:
    made = kind.make(OWN, load_scene(OWN.data, OWN.seed), None)
    made.advance(1e9)
    return made


def test_documents_are_read_through_all_levels(run: HierarchyRun) -> None:
    look = worker.reading(run)
    assert [q.shape[1] for q in look["chains"]] == [5, 3, 2] and [len(names) for names in look["names"]] == [5, 3, 2]
    fine, middle = (q.astype(float) for q in look["chains"][:2])
    frame = run.look()
    assert np.allclose(middle, fine @ frame.links[0], atol=2e-3)
    assert all(np.allclose(q.astype(float).sum(1), 1, atol=5e-3) for q in look["chains"])
    views = [_view(look, level) for level in range(3)]
    assert views[2].mixture.shape == (8, 2) and np.allclose(views[2].mixture.sum(1), 1, atol=5e-3)
    assert views[0].words_of(0)[0][:2] == (0, 3) and views[1].name(0)
    rows = worker.compression(run)
    kept = {row["method"]: row["kept"] for row in rows if row["method"].startswith("DDCL")}
    assert set(kept) == {"DDCL, level 1", "DDCL, level 2", "DDCL, level 3"} and all(value <= 1 for value in kept.values())


def test_a_live_hierarchy_sends_all_levels() -> None:
    live = LiveRun(TOPICS.to_dict(), load_scene(TOPICS.data, TOPICS.seed), kind="hierarchy")
    result = live.advance(1e4, {"until_step": 4, "temperature@1": 9.0})
    header, arrays = wire.unpack(result["frames"])
    assert arrays["usage"].shape[1] == 16 and arrays["x_links"].shape[1] == 48 and arrays["x_top_words"].shape[1:] == (16, 3)
    assert arrays["metrics"].shape[1] == len(kind.METRIC_NAMES) and "ols_norm" not in arrays
    at = kind.METRIC_NAMES.index("temperature@1")
    assert (arrays["metrics"][:, at] == 9.0).all()
    still = wire.unpack(live.still(1))[0]
    assert still["sizes"] == [12, 4] and still["panel"] == 1 and len(still["vocabulary"]) == 6


def test_cooling_frames_carry_groups_and_due_temperatures() -> None:
    config = COOLING_PRESETS[0].pairs[0].left.config
    assert kinds.kind_name(config) == "cooling" and cooling.config_of(config.to_dict()) == config
    assert isinstance(config.with_(seed=3), CoolingConfig)
    live = LiveRun(config.to_dict(), load_scene(config.data, config.seed), kind="cooling")
    arrays = wire.unpack(live.advance(1e4, {"until_step": 30})["frames"])[1]
    assert arrays["x_groups"].shape[1] == 8 and (arrays["x_due"] > 0).all()
    assert np.allclose(arrays["x_due"][-1], arrays["metrics"][-1, kinds.kind_of(config).METRIC_NAMES.index("critical_temperature")], rtol=0.05)


@pytest.mark.parametrize("preset", COOLING_PRESETS, ids=lambda p: p.key)
@pytest.mark.parametrize("seed", (7, 0))
def test_branches_part_a_little_below_where_they_are_due(preset, seed: int) -> None:
    config = preset.pairs[0].left.config.with_(seed=seed)
    made = cooling.make(config, load_scene(config.data, seed), None)
    frames = []
    for frame in made.advance(1e9):
        metrics = np.array([frame.epsilon, frame.temperature])
        frames.append({"step": frame.step, "metrics": metrics} | {f"x_{n}": v for n, v in cooling.extras(frame, made).items()})
    splits = cooling.splits_of(frames)
    assert len(splits) >= 3 and splits[0].predicted == pytest.approx(made.history["critical_temperature"][0], rel=0.05)
    assert 0.8 < splits[0].temperature / splits[0].predicted < 1.02
    assert all(split.temperature < 1.05 * split.predicted for split in splits)
    assert splits[-1].temperature < splits[0].temperature


def test_links_come_back_and_bad_ones_are_said() -> None:
    state = HierarchyState("levels", "hot-fine", 3, (0.2, None), (None, 4.0), shape="24-8-3", texts="bbc", map="pca")
    assert from_query(to_query(state)) == (state, [])
    cool = HierarchyState("cooling", "news", 2)
    assert from_query(to_query(cool)) == (cool, [])
    state, problems = from_query({"mode": "fly", "example": "x", "shape": "1-2", "texts": "y", "eps": "1", "T": "-1,2", "seed": "z"})
    assert state == HierarchyState() and len(problems) == 7


def test_every_choice_gives_runs_on_the_same_tokens() -> None:
    for preset in HIERARCHY_PRESETS:
        for shape in SHAPES:
            for texts in TEXTS:
                left, right = panels_of(HierarchyState(example=preset.key, shape=shape, texts=texts))
                assert left.config.data == right.config.data
    left, right = panels_of(HierarchyState(own="upload:x", own_size=30))
    assert left.config.data.kind == "custom" and left.config.base.batch_documents is None
    assert hierarchy_preset("two").pairs[0].left.label == "24, 8, 3"
