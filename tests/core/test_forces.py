"""The forces are minus the gradients, and point where DESIGN, section 2, fact 1 says."""

import numpy as np
import pytest
import torch

from ddcl_core.prototype_forces import forces
from ddcl_core.losses import quantization_losses

SEEDS = range(3)


@pytest.mark.parametrize("seed", SEEDS)
def test_forces_against_finite_differences_of_numpy(draw, reference, seed):
    z, p = draw(seed, n=6, k=3, d=2)
    got = forces(z, p, 0.8)
    for part, field in ((got.ols, "ols"), (got.variance, "variance"), (got.total, "total")):
        want = -reference.numeric_gradient(lambda x, f=field: getattr(reference.losses(z, x, 0.8), f), p)
        np.testing.assert_allclose(part, want, atol=2e-8)


@pytest.mark.parametrize("seed", SEEDS)
def test_they_add_up_and_leave_no_trace(draw, seed):
    z, p = (x.requires_grad_() for x in draw(seed))
    with torch.no_grad():
        got = forces(z, p, 1.5)
    assert z.grad is None and p.grad is None and not got.total.requires_grad
    (grad,) = torch.autograd.grad(quantization_losses(z, p, 1.5).total, p)
    torch.testing.assert_close(got.total, -grad, rtol=1e-12, atol=1e-14)
    torch.testing.assert_close(got.ols + got.variance, got.total)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("temperature", [0.5, 5.0, 50.0])
def test_near_a_common_point_variance_pulls_in_and_ols_pushes_out(draw, seed, temperature):
    """To second order V = mean |delta|^2 and L_OLS = tr C - (4/T) mean delta' C delta, with delta about their mean."""
    z, p = draw(seed, n=60, k=4, d=3)
    delta = 1e-5 * (p - p.mean(0))
    covariance = torch.cov(z.T, correction=0)
    got = forces(z, z.mean(0) + delta, temperature)
    torch.testing.assert_close(got.variance, -2 / 4 * delta, rtol=1e-3, atol=1e-9)
    torch.testing.assert_close(got.ols, 8 / (4 * temperature) * delta @ covariance, rtol=1e-3, atol=1e-9)
    assert ((got.variance * delta).sum(-1) < 0).all() and ((got.ols * delta).sum() > 0).all()


def test_masked_forces_equal_truncated_ones(draw):
    z, p = draw(0, n=12)
    padded = torch.cat([z, torch.full((4, 4), torch.nan, dtype=z.dtype)]).view(2, 8, 4)
    mask = (torch.arange(16) < 12).view(2, 8)
    for a, b in zip(forces(padded, p, 1.0, mask), forces(z, p, 1.0), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-12, atol=1e-14)


def test_equal_prototypes_on_a_token_feel_finite_forces():
    for part in forces(torch.zeros(3, 2), torch.zeros(4, 2), 1e-4):
        assert torch.isfinite(part).all()
