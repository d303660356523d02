"""Stacked levels: the split on every level, gradients scaled by epsilon, runs that repeat, restore and never violate V >= 0."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from ddcl_core import DataConfig, EncoderConfig, InputError, RunConfig
from ddcl_core.hierarchy import (
    DDCLHierarchy, HierarchyConfig, HierarchyRun, LevelConfig, compression_curve, level_names,
)  # fmt: skip
from ddcl_core.hierarchy.layer import upper_level

torch.set_num_threads(1)
BASE = RunConfig(
    data=DataConfig(num_documents=12, tokens_per_document=8, dim=8, clusters=3), encoder=EncoderConfig("residual", heads=4),
    num_prototypes=6, epsilon=0.05, max_steps=30, frame_every=1,
)  # fmt: skip
CONFIG = HierarchyConfig(BASE, (LevelConfig(3), LevelConfig(2, temperature=1.0, epsilon=0.5)))


@pytest.mark.parametrize("dtype, tolerance", [(torch.float64, 1e-12), (torch.float32, 1e-5)])
@pytest.mark.parametrize("seed", range(5))
def test_the_split_is_exact_and_v_is_not_negative_on_every_level(dtype: torch.dtype, tolerance: float, seed: int) -> None:
    torch.manual_seed(seed)
    layer = DDCLHierarchy(5, (7, 4, 2), (2.0, 0.3, 50.0)).to(dtype)
    tokens = 3.0 * torch.randn(4, 6, 5, dtype=dtype) + 10.0
    layer.initialize_from(tokens)
    for level in layer(tokens).levels:
        assert level.variance.item() >= 0
        assert level.total.item() == pytest.approx(level.ols.item() + level.variance.item(), rel=tolerance)
        assert level.usage.sum().item() == pytest.approx(1, rel=1e-5)
        torch.testing.assert_close(level.assignments.sum(-1), torch.ones_like(level.assignments[:, 0]))


def test_a_level_by_hand() -> None:
    below = torch.tensor([[0.0], [1.0], [4.0]], dtype=torch.float64, requires_grad=True)
    own = torch.tensor([[0.0], [3.0]], dtype=torch.float64, requires_grad=True)
    w, T, eps = torch.tensor([0.5, 0.25, 0.25], dtype=torch.float64), 2.0, 0.1
    out = upper_level(below, own, w, T, eps)
    d = np.array([[0.0, 9.0], [1.0, 4.0], [16.0, 1.0]])
    q = np.exp(-d / T)
    q /= q.sum(1, keepdims=True)
    mu = q @ np.array([0.0, 3.0])
    assert out.total.item() == pytest.approx((w.numpy() * (q * d).sum(1)).sum())
    assert out.ols.item() == pytest.approx((w.numpy() * (np.array([0.0, 1.0, 4.0]) - mu) ** 2).sum())
    assert np.allclose(out.usage.numpy(), w.numpy() @ q)
    out.total.backward()
    plain = below.detach().clone().requires_grad_()
    upper_level(plain, own.detach(), w, T, 1.0).total.backward()
    assert torch.allclose(below.grad, 0.1 * plain.grad) and own.grad.abs().sum() > 0


def test_masked_equals_truncated_and_chains_multiply() -> None:
    torch.manual_seed(0)
    layer = DDCLHierarchy(4, (5, 2), 1.5)
    tokens = torch.randn(2, 6, 4)
    mask = torch.tensor([[True] * 6, [True] * 4 + [False] * 2])
    layer.initialize_from(tokens, mask)
    flat = torch.cat([tokens[0], tokens[1, :4]])
    one, two = layer(tokens, mask), layer(flat)
    for a, b in zip(one.levels, two.levels):
        torch.testing.assert_close(a.total, b.total)
    chained = layer.chain(flat)
    torch.testing.assert_close(chained[1], two.levels[0].assignments @ two.levels[1].assignments)
    with pytest.raises(InputError, match="no token"):
        layer(tokens, torch.zeros_like(mask))


def test_degenerate_levels() -> None:
    layer = DDCLHierarchy(3, (4, 1, 1), 1.0)
    same = torch.ones(5, 3)
    layer.initialize_from(same)
    out = layer(same)
    out.total.backward()
    assert torch.isfinite(out.total) and all(torch.isfinite(p.grad).all() for p in layer.prototypes)
    assert out.levels[2].variance.item() == 0
    for bad in ((), (3, 0)):
        with pytest.raises(InputError):
            DDCLHierarchy(3, bad)
    with pytest.raises(InputError, match="one each"):
        DDCLHierarchy(3, (4, 2), (1.0, 2.0, 3.0))


def test_configurations() -> None:
    assert HierarchyConfig.from_dict(CONFIG.to_dict()) == CONFIG and CONFIG.sizes == (6, 3, 2) and CONFIG.num_prototypes == 11
    changed = CONFIG.with_(**{"epsilon": 0.3, "temperature@2": 9.0, "epsilon@1": 0.0, "temperature@0": 5.0})
    assert changed.base.epsilon == 0.3 and changed.upper[1].temperature == 9.0 and changed.upper[0].epsilon == 0.0
    assert changed.temperature == 5.0 and changed.scene_digest() == CONFIG.scene_digest()
    for wrong in (lambda: HierarchyConfig(BASE, ()), lambda: HierarchyConfig(BASE, (LevelConfig(7),)),
                  lambda: CONFIG.with_(**{"epsilon@3": 1.0}), lambda: HierarchyConfig.from_dict({"other": 1})):  # fmt: skip
        with pytest.raises(InputError):
            wrong()


def test_runs_repeat_whatever_the_slicing_and_restore_exactly() -> None:
    whole, sliced = HierarchyRun(CONFIG), HierarchyRun(CONFIG)
    wanted = whole.advance(1e9, {"until_step": 10}) + whole.advance(1e9, {"temperature@1": 5.0, "epsilon@2": 0.0, "epsilon": 0.2})
    frames = []
    while not sliced.finished:
        controls = {"temperature@1": 5.0, "epsilon@2": 0.0, "epsilon": 0.2} if sliced.step == 10 else {}
        frames += sliced.advance(0.0, {**controls, "until_step": sliced.step + 1})
        sliced = HierarchyRun.restore(sliced.save(), sliced.scene)
    assert [f.step for f in wanted] == [f.step for f in frames]
    for a, b in zip(wanted, frames):
        np.testing.assert_equal(a.metrics, b.metrics)
        for x, y in zip((*a.upper, *a.links, a.tokens), (*b.upper, *b.links, b.tokens)):
            np.testing.assert_array_equal(x, y)
    np.testing.assert_equal(whole.history, sliced.history)
    assert whole.violations == sliced.violations == [0, 0, 0]
    with pytest.raises(InputError, match="no control"):
        whole.advance(0.0, {"epsilon@3": 1.0})
    with pytest.raises(InputError, match="snapshot of a hierarchy"):
        HierarchyRun.restore(b"nothing")


def test_the_sign_of_v_is_checked_at_every_step_also_between_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    from ddcl_core.hierarchy import run as module

    assert module.is_violation(np.array([-1e-3, -1e-12, 0.0, np.nan]), np.array([1.0, 1.0, 1.0, np.nan])).tolist() == [True, False, False, False]
    seen: list[np.ndarray] = []

    def third_step_is_wrong(variance: np.ndarray, total: np.ndarray) -> np.ndarray:
        seen.append(variance)
        return np.array([False, len(seen) == 3, False])

    monkeypatch.setattr(module, "is_violation", third_step_is_wrong)
    run = HierarchyRun(CONFIG.with_(batch_documents=2, frame_every=50))
    run.advance(1e9, {"until_step": 7})
    assert len(seen) == 7 and run.violations == [0, 1, 0] and all((v >= 0).all() and len(v) == 3 for v in seen)
    assert np.ptp([v[0] for v in seen]) > 0, "each step's own mini-batch"
    run = HierarchyRun(CONFIG.with_(frame_every=5))
    run.advance(1e9, {"until_step": 5})
    assert run.history["violations"].tolist() == [0.0] * 6


def test_frames_and_metrics_agree_with_the_layer() -> None:
    run = HierarchyRun(CONFIG)
    frame = run.advance(1e9, {"until_step": 5})[-1]
    layer = DDCLHierarchy(8, CONFIG.sizes, (2.0, 2.0, 1.0))
    with torch.no_grad():
        for own, value in zip(layer.prototypes, (frame.prototypes, *frame.upper)):
            own.copy_(torch.from_numpy(value))
        z = run.model.encode()
        out = layer(z)
    assert frame.metrics["V"] == pytest.approx(out.levels[0].variance.item(), rel=1e-4)
    for level in (1, 2):
        assert frame.metrics[f"L_q@{level}"] == pytest.approx(out.levels[level].total.item(), rel=1e-4)
        assert np.allclose(frame.upper_usage[level - 1], out.levels[level].usage.numpy(), atol=1e-5)
        assert np.allclose(frame.links[level - 1].sum(1), 1, atol=1e-5)
    assert set(level_names(2)) <= set(frame.metrics) and set(level_names(2)) <= set(run.history)
    before = run.violations, run.history["step"][-1]
    assert run.look().step == 5 and (run.violations, run.history["step"][-1]) == before


@pytest.mark.parametrize("seed", range(3))
def test_heating_one_level_collapses_that_level_alone(seed: int) -> None:
    hot = CONFIG.with_(seed=seed, max_steps=150, **{"temperature@1": 200.0, "epsilon@1": 0.0})
    run = HierarchyRun(hot)
    run.advance(1e9)
    m = run.last_frame.metrics
    assert m["temperature@1"] > m["critical_temperature@1"] and m["collapsed@1"] == 1.0
    assert run.status == "stable" and m["effective_prototypes"] > 2


def test_compression_curve_keeps_what_it_should() -> None:
    rng = np.random.default_rng(0)
    labels = np.arange(40) % 2
    owners = np.repeat(np.arange(40), 5)
    centres = np.array([[4.0, 0, 0], [-4.0, 0, 0]])
    tokens = centres[labels[owners]] + 0.3 * rng.normal(size=(200, 3))
    q = np.eye(2)[labels[owners]]
    rows = compression_curve(tokens, owners, labels, [(q, centres)])
    ddcl = next(row for row in rows if row["method"].startswith("DDCL"))
    residual = ((tokens - centres[labels[owners]]) ** 2).sum() / ((tokens - tokens.mean(0)) ** 2).sum()
    assert ddcl["numbers"] == 2 and ddcl["kept"] == pytest.approx(1 - residual) and ddcl["accuracy"] == 1.0
    kmeans = next(row for row in rows if row["method"] == "k-means")
    assert kmeans["kept"] == pytest.approx(ddcl["kept"], abs=0.01) and {r["method"] for r in rows} >= {"PCA of the mean"}
    with pytest.raises(InputError, match="at least 4"):
        compression_curve(tokens[:5], owners[:5], labels[:1], [])
