"""Splits while cooling: groups, their critical temperatures, and the first split where theory puts it."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from ddcl_core import DataConfig, EncoderConfig, RunConfig, ScheduleConfig, TrainingRun
from ddcl_core.data.scene import TokenScene
from ddcl_core.hierarchy import cluster_temperatures, coincident, measured_splits

torch.set_num_threads(1)


def test_groups_chain_up() -> None:
    p = np.array([[0.0, 0], [5, 0], [0.9, 0], [1.8, 0], [5.5, 0]])
    assert coincident(p, 1.0).tolist() == [0, 1, 0, 0, 1]
    assert coincident(p, 0.1).tolist() == [0, 1, 2, 3, 4]


def test_critical_temperatures_by_hand() -> None:
    tokens = np.array([[0.0, 0], [2.0, 0], [10.0, 0], [10.0, 6.0]])
    q = np.array([[0.5, 0.5, 0], [0.5, 0.5, 0], [0, 0, 1], [0, 0, 1.0]])
    assert cluster_temperatures(tokens, q, np.array([0, 0, 1])).tolist() == pytest.approx([2.0, 2.0, 18.0])
    whole = cluster_temperatures(tokens, q, np.zeros(3, int))
    assert whole[0] == pytest.approx(2 * np.linalg.eigvalsh(np.cov(tokens.T, bias=True))[-1])
    assert cluster_temperatures(tokens, np.eye(4)[:, :3] * 0, np.arange(3)).tolist() == [0, 0, 0]


def test_splits_in_a_row_of_frames() -> None:
    groups = [np.array(g) for g in ([0, 0, 0], [0, 0, 1], [0, 0, 0], [0, 1, 1], [0, 1, 2])]
    critical = [np.full(3, 9.0), np.full(3, 8.0), np.full(3, 7.0), np.array([1.0, 3.0, 3.0]), np.zeros(3)]
    found = measured_splits([0, 1, 2, 3, 4], [10, 9, 8, 6, 2], groups, critical)
    assert [(s.step, s.temperature, s.predicted, s.members, s.parts) for s in found] == [
        (3, 6.0, 7.0, (0, 1, 2), 2), (4, 2.0, 3.0, (1, 2), 2),
    ]  # the one that came together again does not count  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
def test_the_first_split_comes_just_below_twice_the_largest_variance(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tokens = rng.normal(size=(1, 300, 2)) * np.array([0.5, 0.5])
    tokens[0, :150, 0] += 3.0
    tokens[0, 150:, 0] -= 3.0
    scene = TokenScene(tokens, np.ones((1, 300), bool), np.zeros(1, int), np.zeros((1, 300), int), ("all",), [["x"] * 300],
                       None, "two blobs", "made here")  # fmt: skip
    largest = 2 * np.linalg.eigvalsh(np.cov(tokens[0].T, bias=True))[-1]
    config = RunConfig(
        data=DataConfig(num_documents=1, tokens_per_document=300, dim=2), encoder=EncoderConfig("none"), objective="F",
        num_prototypes=4, lr_prototypes=0.8, init_scale=0.03, sample_tokens=300, max_steps=400, frame_every=2, seed=seed,
        schedule=ScheduleConfig("exponential", 1.1 * largest, 0.3 * largest, 400),
    )  # fmt: skip
    frames = TrainingRun(config, scene).advance(1e9)
    reach = 0.05 * float(np.sqrt(2 * tokens[0].var(0).sum()))
    groups = [coincident(f.prototypes, reach) for f in frames]
    critical = [cluster_temperatures(f.tokens, f.assignments, g) for f, g in zip(frames, groups)]
    found = measured_splits([f.step for f in frames], [f.temperature for f in frames], groups, critical)
    assert found and found[0].predicted == pytest.approx(largest, rel=0.02)
    assert 0.8 * largest < found[0].temperature <= 1.01 * largest, "cooling is not infinitely slow, so it lags a little"
