"""The words under the picture say what the numbers say."""

from __future__ import annotations

import numpy as np

from dashboard.live.explain import describe, explain
from dashboard.live.verdicts import course, transitions
from ddcl_core.config import EncoderConfig, RunConfig
from ddcl_core.frame import METRIC_NAMES
from ddcl_core.status import StatusTracker

N = 41


def history(**columns: object) -> dict[str, np.ndarray]:
    """A calm run of 41 steps at T = 2, T_c = 12, with some columns replaced."""
    calm = {"temperature": 2.0, "critical_temperature": 12.0, "weighted_separation": 3.0, "token_spread": 8.0}
    calm |= {"effective_prototypes": 6.0, "epsilon": 0.05}
    values = {name: np.full(N, 1.0) for name in METRIC_NAMES} | {name: np.full(N, v) for name, v in calm.items()}
    return values | {"step": np.arange(N)} | {k: np.asarray(v, dtype=float) for k, v in columns.items()}


def falling(at: int, before: float, after: float) -> np.ndarray:
    return np.where(np.arange(N) < at, before, after)


COLLAPSE = history(
    critical_temperature=falling(9, 12.0, 0.5),
    effective_prototypes=falling(14, 6.0, 1.0),
    weighted_separation=falling(6, 1.0, 0.5),
)


def test_collapse_names_its_cause_and_both_steps() -> None:
    text = describe("left", RunConfig(epsilon=1.0), COLLAPSE, 40)
    assert text.startswith("Left: The encoder drew the tokens together: T_c fell from 12 below T = 2 at step 9, before")
    assert "pulls prototypes that are close together" in text and text.endswith("Collapsed at step 14.")


def test_at_an_earlier_step_nothing_later_is_told() -> None:
    assert "Collapsed" not in describe("left", RunConfig(), COLLAPSE, 12)
    assert describe("left", RunConfig(), COLLAPSE, 5).startswith("Left: T_c is 12, about six times T = 2, so")


def test_stable_run() -> None:
    assert describe("right", RunConfig(), history(), 40).endswith("6.0 of 8 prototypes are in use.")


def test_raised_temperature_is_not_blamed_on_the_encoder() -> None:
    hot = history(temperature=falling(20, 2.0, 30.0))
    text = describe("left", RunConfig(), hot, 40)
    assert "T was raised to 30, above T_c = 12, at step 20" in text and "encoder" not in text


def test_hot_from_the_start() -> None:
    text = describe("left", RunConfig(objective="F"), history(temperature=np.full(N, 30.0)), 40)
    assert "was below T = 30 from the start" in text


def test_frozen_tokens_are_not_blamed_on_an_encoder() -> None:
    frozen = RunConfig(encoder=EncoderConfig(kind="none"))
    assert "encoder" not in describe("left", frozen, COLLAPSE, 40)


def test_objectives_without_a_threshold() -> None:
    endless = history(critical_temperature=np.full(N, np.inf))
    assert "pushes prototypes apart at any T" in describe("a", RunConfig(objective="L_OLS"), endless, 40)
    assert "pulls prototypes together at any T" in describe("a", RunConfig(objective="V"), COLLAPSE, 40)


def test_collapse_without_crossing_is_admitted() -> None:
    lone = history(effective_prototypes=falling(14, 6.0, 1.0))
    assert "Collapsed at step 14 although T_c is 12" in describe("a", RunConfig(), lone, 40)


def test_recovery_and_divergence() -> None:
    back = history(effective_prototypes=np.where((np.arange(N) > 9) & (np.arange(N) < 20), 1.0, 6.0))
    assert course(back, 8).recovered == 20
    assert "apart again since step 20" in describe("a", RunConfig(), back, 40)
    assert "apart again" not in describe("a", RunConfig(), back, 15)
    broken = history(L_q=falling(30, 1.0, np.nan))
    text = describe("a", RunConfig(encoder=EncoderConfig(final_norm=False)), broken, 40)
    assert "stopped being finite at step 30" in text and "no LayerNorm" in text


def test_items_are_in_order_and_change_only_when_the_words_do() -> None:
    items = explain([("left", RunConfig(epsilon=1.0), COLLAPSE, []), ("right", RunConfig(), history(), [])])
    steps = [item["step"] for item in items]
    assert steps == sorted(set(steps)) and {9, 14} <= set(steps)
    assert all(a["text"] != b["text"] for a, b in zip(items, items[1:]))
    assert "Left:" in items[-1]["text"] and "Right:" in items[-1]["text"]
    assert explain([]) == [] and explain([("a", RunConfig(), {n: v[:0] for n, v in history().items()}, [])]) == []


def test_one_prototype() -> None:
    assert "neither spread nor collapse" in describe("a", RunConfig(num_prototypes=1), COLLAPSE, 40)


def test_transitions_agree_with_the_status_of_the_run() -> None:
    rng = np.random.default_rng(0)
    for trial in range(200):
        K = int(rng.integers(1, 9))
        walk = history(
            weighted_separation=np.exp(np.cumsum(rng.normal(0, 0.5, N)) - 1.0),
            effective_prototypes=1.0 + np.abs(np.cumsum(rng.normal(0, 0.5, N))),
            token_spread=np.full(N, rng.choice([0.0, 1.0, 4.0])),
        )
        if trial % 3 == 0:
            walk["L_q"] = falling(30, 1.0, np.nan)
        tracker, expected = StatusTracker(K), []
        for i in range(N):
            status = tracker.update(i, {name: float(column[i]) for name, column in walk.items()})
            if not expected or expected[-1][1] != status:
                expected.append((i, status))
        assert transitions(walk, K) == expected


def test_with_a_task_no_cause_is_read_from_a_threshold_that_leaves_the_task_out() -> None:
    config = RunConfig(anchor="reconstruction")
    hot = describe("left", config, history(temperature=np.full(N, 28.0)), 40)
    assert "without the task" in hot and "pull" not in hot and "merge" not in hot and hot.endswith("prototypes are in use.")
    fell = describe("left", config, COLLAPSE, 40)
    assert fell.startswith("Left: Collapsed at step 14; by now the encoder has drawn the tokens together.")


def test_tokens_that_coincide_from_the_start_are_never_called_stable() -> None:
    spot = history(token_spread=np.zeros(N), weighted_separation=np.zeros(N))
    assert transitions(spot, 8) == [(0, "unresolved")] and course(spot, 8).unresolved
    tracker = StatusTracker(8, 0.0)
    for step in range(3):
        tracker.update(step, {name: float(values[step]) for name, values in spot.items() if name != "step"})
    assert tracker.status == "unresolved"
