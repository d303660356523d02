"""Every metric by hand and against numpy; and that usage alone would hide what separation shows."""

import math

import numpy as np
import pytest
import torch

from ddcl_core import metrics as m
from ddcl_core.errors import InputError
from ddcl_core.losses import quantization_losses

SEEDS = range(3)
SQUARE = torch.tensor([[0.0, 0.0], [3.0, 4.0], [3.0, 0.0]])  # pairwise distances 5, 3, 4


def test_separations_by_hand():
    assert m.separation_min(SQUARE) == 3.0
    assert m.separation_mean(SQUARE) == 4.0
    even = torch.full((3,), 1 / 3)
    assert m.weighted_separation(SQUARE, even) == pytest.approx(math.sqrt(2 * (25 + 9 + 16) / 9))
    dead = torch.tensor([0.0, 0.5, 0.5])  # the far one does not count
    assert m.weighted_separation(SQUARE, dead) == pytest.approx(math.sqrt(0.5 * 16))


def test_usage_metrics_by_hand():
    assert m.effective_prototypes(torch.full((8,), 1 / 8)) == pytest.approx(8)
    assert m.effective_prototypes(np.array([1.0, 0.0, 0.0])) == 1.0
    assert m.effective_prototypes(np.array([0.5, 0.5, 0.0])) == pytest.approx(2)
    assert m.dead_prototypes(np.array([0.9, 0.0251, 0.0249, 0.05])) == 1  # the border is 1 / 40


def test_one_prototype_has_no_separation():
    one = torch.ones(1, 3)
    assert (m.separation_min(one), m.separation_mean(one), m.weighted_separation(one, torch.ones(1))) == (0, 0, 0)


@pytest.mark.parametrize("objective, factor", [("F", 2.0), ("L_q", 4.0), ("V", 0.0), ("L_OLS", math.inf)])
def test_critical_temperature_by_hand(objective, factor):
    tokens = torch.tensor([[3.0, 0.0], [-3.0, 0.0], [0.0, 1.0], [0.0, -1.0]])  # C = diag(4.5, 0.5)
    want = factor * 4.5
    assert m.critical_temperature(tokens, objective) == pytest.approx(want)
    assert m.critical_temperature_from(0.0, objective) == (math.inf if objective == "L_OLS" else 0.0)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype, offset, tolerance", [
    (torch.float64, 0.0, 1e-12), (torch.float64, 1e4, 1e-9), (torch.float32, 0.0, 1e-5), (torch.float32, 1e4, 1e-5),
])  # fmt: skip
def test_covariance_near_and_far(draw, seed, dtype, offset, tolerance):
    z = (draw(seed, n=200)[0] + offset).to(dtype)
    want = np.cov(z.double().numpy().T, bias=True)
    got = m.token_covariance(z)
    np.testing.assert_allclose(got.double(), want, atol=tolerance)
    assert m.lambda_max(got) == pytest.approx(np.linalg.eigvalsh(want)[-1], rel=tolerance)
    assert m.token_spread(got) == pytest.approx(np.trace(want), rel=tolerance)


def test_covariance_of_a_collapsed_cloud_keeps_its_digits():
    z = 7.0 + 1e-4 * torch.randn(1000, 3, generator=torch.Generator().manual_seed(0))
    np.testing.assert_allclose(m.token_covariance(z), np.cov(z.double().numpy().T, bias=True), rtol=1e-3, atol=1e-11)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("objective", ["L_q", "F", "L_OLS", "V"])
def test_compute_metrics_against_the_definitions(draw, reference, seed, objective):
    z, p = draw(seed, n=30)
    got = m.compute_metrics(z, p, quantization_losses(z, p, 0.7), objective)
    assert tuple(got) == m.METRIC_NAMES and all(type(v) is float for v in got.values())
    want = reference.losses(z, p, 0.7)
    u = want.assignments.mean(0)
    x = p.numpy()
    gaps = np.sqrt(((x[:, None] - x) ** 2).sum(-1))
    widest = np.linalg.eigvalsh(np.cov(z.numpy().T, bias=True))[-1]
    expected = {
        "L_q": want.total, "L_OLS": want.ols, "V": want.variance, "H": want.entropy, "F": want.free_energy,
        "F_tilde": want.normalized_free_energy, "separation_min": gaps[gaps > 0].min(),
        "separation_mean": gaps.sum() / (5 * 4), "weighted_separation": math.sqrt(u @ gaps**2 @ u),
        "effective_prototypes": math.exp(-(u * np.log(u)).sum()), "dead_prototypes": float((u < 0.02).sum()),
        "critical_temperature": {"L_q": 4 * widest, "F": 2 * widest, "L_OLS": math.inf, "V": 0.0}[objective],
        "lambda_max": widest, "token_spread": np.trace(np.cov(z.numpy().T, bias=True)),
    }  # fmt: skip
    assert got == pytest.approx(expected, rel=1e-10)


def test_compute_metrics_masked_equals_truncated(draw):
    z, p = draw(0, n=12)
    padded = torch.cat([z, torch.full((4, 4), torch.nan, dtype=z.dtype)]).view(2, 8, 4)
    mask = (torch.arange(16) < 12).view(2, 8)
    masked = m.compute_metrics(padded, p, quantization_losses(padded, p, 1.0, mask), "F", mask)
    assert masked == pytest.approx(m.compute_metrics(z, p, quantization_losses(z, p, 1.0), "F"), rel=1e-12)


def test_non_finite_values_give_nan_and_no_exception(draw):
    z, p = draw(0)
    z[3, 1] = math.nan
    got = m.compute_metrics(z, p, quantization_losses(z, p, 1.0))
    assert math.isnan(got["L_q"]) and math.isnan(got["lambda_max"]) and math.isnan(got["effective_prototypes"])


def test_full_usage_can_hide_a_collapse_that_separation_shows(draw):
    z, _ = draw(0, n=50)
    p = z.mean(0) + 1e-4 * torch.randn(5, 4, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    got = m.compute_metrics(z, p, quantization_losses(z, p, 5.0))
    assert got["effective_prototypes"] > 4.99 and got["weighted_separation"] < 1e-3


def test_usage_over_an_epoch_does_not_depend_on_the_batches(draw):
    z, p = draw(0, n=30)
    q = quantization_losses(z, p, 0.3).assignments
    meter = m.UsageMeter()
    for part in q.split([1, 9, 20]):
        meter.update(part)
    np.testing.assert_allclose(meter.compute(), q.mean(0), rtol=1e-12)
    masked = m.UsageMeter()
    masked.update(q, torch.arange(30) < 7)
    np.testing.assert_allclose(masked.compute(), q[:7].mean(0), rtol=1e-12)
    with pytest.raises(InputError, match="No tokens"):
        m.UsageMeter().compute()


def test_unknown_objective_gets_a_sentence():
    with pytest.raises(InputError, match="objective is 'loss'"):
        m.critical_temperature(torch.ones(3, 2), "loss")
