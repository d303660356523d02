"""The exact split, the free energies and their gradients, against loops in numpy and against hand-made numbers."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ddcl_core import losses as losses_module
from ddcl_core.errors import InputError
from ddcl_core.losses import objective_value, quantization_losses

SEEDS = range(4)
SCALARS = ("total", "ols", "variance", "entropy", "free_energy", "normalized_free_energy")


def scalars(result):
    return {name: getattr(result, name).item() for name in SCALARS}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("temperature", [0.05, 1.0, 30.0])
def test_all_losses_against_numpy_loops(draw, reference, seed, temperature):
    z, p = draw(seed)
    got, want = quantization_losses(z, p, temperature), reference.losses(z, p, temperature)
    for name in SCALARS:
        assert float(getattr(got, name)) == pytest.approx(getattr(want, name), rel=1e-11, abs=1e-13), name
    np.testing.assert_allclose(got.assignments, want.assignments, rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(got.centroids, want.centroids, rtol=1e-10, atol=1e-13)


def test_losses_by_hand():
    """One token at 0, prototypes at 1 and -1: q = 1/2 each, mu = 0."""
    got = quantization_losses(torch.zeros(1, 1).double(), torch.tensor([[1.0], [-1.0]]).double(), 2.0)
    want = dict(total=1.0, ols=0.0, variance=1.0, entropy=math.log(2), free_energy=1 - 2 * math.log(2),
                normalized_free_energy=1.0)  # fmt: skip
    assert scalars(got) == pytest.approx(want, abs=1e-15)


def test_losses_by_hand_with_uneven_assignment():
    """Token 0, prototypes 0 and 1, T = 1 / log 3: q = (3/4, 1/4), mu = 1/4."""
    temperature = 1 / math.log(3)
    got = quantization_losses(torch.zeros(1, 1).double(), torch.tensor([[0.0], [1.0]]).double(), temperature)
    entropy = 2 * math.log(2) - 0.75 * math.log(3)
    want = dict(total=1 / 4, ols=1 / 16, variance=3 / 16, entropy=entropy, free_energy=-temperature * math.log(4 / 3),
                normalized_free_energy=temperature * math.log(3 / 2))  # fmt: skip
    assert scalars(got) == pytest.approx(want, rel=1e-14)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 30),
    k=st.integers(1, 12),
    d=st.integers(1, 9),
    log_t=st.floats(-4, 6),
    offset=st.sampled_from([0.0, 1.0, 1e4]),
    scale=st.sampled_from([1e-2, 1.0, 50.0]),
    shape=st.sampled_from(["random", "on prototypes", "equal prototypes", "two far clusters"]),
    dtype=st.sampled_from([torch.float32, torch.float64]),
)
def test_split_is_exact(seed, n, k, d, log_t, offset, scale, shape, dtype):
    g = torch.Generator().manual_seed(seed)
    z = torch.randn(n, d, generator=g, dtype=torch.float64) * scale + offset
    p = torch.randn(k, d, generator=g, dtype=torch.float64) * scale + offset
    if shape == "on prototypes":
        z = p[torch.randint(k, (n,), generator=g)]
    elif shape == "equal prototypes":
        p = p[:1].expand(k, d).clone()
    elif shape == "two far clusters":
        z[: n // 2] -= 1e4
        p[: k // 2] -= 1e4
    got = quantization_losses(z.to(dtype), p.to(dtype), 10**log_t)
    total, parts = float(got.total), float(got.ols) + float(got.variance)
    tolerance = 1e-12 if dtype == torch.float64 else 1e-5
    assert math.isfinite(total) and float(got.variance) >= 0 and float(got.ols) >= 0
    assert abs(total - parts) <= tolerance * abs(total) + 1e-30


@pytest.mark.parametrize("offset", [0.0, 1e4])
@pytest.mark.parametrize("dtype, tolerance", [(torch.float32, 1e-5), (torch.float64, 1e-12)])
def test_variance_is_its_own_number_not_a_difference(draw, offset, dtype, tolerance):
    """Prototypes 1e-3 apart and tokens 1e2 away: V is 1e-10 of L_q, far below what a difference could show."""
    z, p = draw(0, n=10, k=4)
    z, p = (100 * z + offset).to(dtype), (1e-3 * p + offset).to(dtype)
    got = quantization_losses(z, p, 1e6)
    exact = np.asarray(p.double())
    exact = ((exact - exact.mean(0)) ** 2).sum(-1).mean()  # q is even at this temperature
    assert float(got.variance) == pytest.approx(exact, rel=max(tolerance, 2e-5))


@pytest.mark.parametrize("seed", SEEDS)
def test_variance_beyond_the_pairwise_limit_is_the_same(draw, monkeypatch, seed):
    z, p = (x.requires_grad_() for x in draw(seed))
    results = []
    for limit in (512, 0):
        monkeypatch.setattr(losses_module, "PAIRWISE_LIMIT", limit)
        variance = quantization_losses(z, p, 0.8).variance
        results.append((variance, *torch.autograd.grad(variance, (z, p))))
    for a, b in zip(*results, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("temperature", [0.3, 2.0])
def test_gradients_of_free_energy_and_total_by_their_formulas(draw, seed, temperature):
    z, p = draw(seed)
    p.requires_grad_()
    got = quantization_losses(z, p, temperature)
    q, d = got.assignments.detach(), got.distances.detach()
    pull = p.detach() - z[:, None]  # N, K, d
    want_f = (2 * q[..., None] * pull).mean(0)
    level = (q * d).sum(-1, keepdim=True)
    want_total = (2 * (q * (1 - (d - level) / temperature))[..., None] * pull).mean(0)
    (grad_f,) = torch.autograd.grad(got.free_energy, p, retain_graph=True)
    (grad_total,) = torch.autograd.grad(got.total, p, retain_graph=True)
    (grad_tilde,) = torch.autograd.grad(got.normalized_free_energy, p)
    torch.testing.assert_close(grad_f, want_f, rtol=1e-11, atol=1e-13)
    torch.testing.assert_close(grad_tilde, want_f, rtol=1e-11, atol=1e-13)
    torch.testing.assert_close(grad_total, want_total, rtol=1e-11, atol=1e-13)


def test_gradient_of_variance_at_fixed_assignments(draw):
    """dV_n/dP = 2 P Sigma_q with Sigma_q = diag(q) - q q^T, P as columns; q is fixed by a vanishing response 1/T."""
    z, p = draw(3, n=1)
    p.requires_grad_()
    got = quantization_losses(z, p, 1e9)
    (grad,) = torch.autograd.grad(got.variance, p)
    q = got.assignments[0].detach()
    sigma = torch.diag(q) - torch.outer(q, q)
    torch.testing.assert_close(grad, (2 * p.detach().T @ sigma).T, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", ["L_q", "F", "L_OLS", "V"])
@pytest.mark.parametrize("seed", [0, 1])
def test_gradients_against_finite_differences_of_numpy(draw, reference, name, seed):
    z, p = draw(seed, n=6, k=3, d=2)
    field = {"L_q": "total", "F": "free_energy", "L_OLS": "ols", "V": "variance"}[name]
    a, b = z.clone().requires_grad_(), p.clone().requires_grad_()
    objective_value(quantization_losses(a, b, 0.9), name).backward()
    want_p = reference.numeric_gradient(lambda x: getattr(reference.losses(z, x, 0.9), field), p)
    want_z = reference.numeric_gradient(lambda x: getattr(reference.losses(x, p, 0.9), field), z)
    np.testing.assert_allclose(b.grad, want_p, atol=2e-8)
    np.testing.assert_allclose(a.grad, want_z, atol=2e-8)


@pytest.mark.parametrize("seed", SEEDS)
def test_cooling_lowers_normalized_free_energy_and_raises_free_energy(draw, seed):
    z, p = draw(seed)
    hot_to_cold = [quantization_losses(z, p, t) for t in (8.0, 4.0, 1.0, 0.2, 0.01)]
    tilde = [float(x.normalized_free_energy) for x in hot_to_cold]
    plain = [float(x.free_energy) for x in hot_to_cold]
    assert tilde == sorted(tilde, reverse=True) and plain == sorted(plain)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("temperature", [1e-4, 1e-2, 1e2, 1e6])
def test_extreme_temperatures_stay_finite_and_right(draw, reference, dtype, temperature):
    z, p = draw(5, dtype=dtype)
    a, b = z.clone().requires_grad_(), p.clone().requires_grad_()
    got = quantization_losses(a, b, temperature)
    want = reference.losses(z, p, temperature)
    for name in ("total", "ols", "variance", "entropy", "free_energy", "normalized_free_energy"):
        loose = {torch.float32: 2e-5, torch.float64: 1e-9}[dtype]
        value = getattr(got, name).item()
        assert value == pytest.approx(getattr(want, name), rel=loose, abs=loose * 0.1), name
    sum(objective_value(got, name) for name in ("L_q", "F", "L_OLS", "V")).backward()
    assert torch.isfinite(a.grad).all() and torch.isfinite(b.grad).all()


def test_normalized_free_energy_keeps_its_digits_in_float32_at_high_temperature(draw):
    """F = -T log K + 2e0 at T = 1e6 has no digit left for the rest; F~ tends to the mean distance instead."""
    z, p = draw(0, dtype=torch.float32)
    got = quantization_losses(z, p, 1e6)
    assert float(got.normalized_free_energy) == pytest.approx(float(got.distances.mean()), rel=1e-4)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_dtype_sweep(draw, dtype):
    z, p = draw(2, n=12, dtype=dtype)
    a, b = z.clone().requires_grad_(), p.clone().requires_grad_()
    got = quantization_losses(a, b, 1.0)
    want = torch.float64 if dtype == torch.float64 else torch.float32
    assert {getattr(got, name).dtype for name in (*SCALARS, "assignments", "distances", "centroids")} == {want}
    same = quantization_losses(z.double(), p.double(), 1.0)
    assert got.total.item() == pytest.approx(same.total.item(), rel=1e-5)
    got.total.backward()
    assert a.grad.dtype == dtype and torch.isfinite(b.grad).all()


def test_autocast_changes_nothing(draw):
    z, p = draw(2, dtype=torch.float32)
    p.requires_grad_()
    results = []
    for enabled in (False, True):
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=enabled):
            got = quantization_losses(z, p, 0.5)
            (grad,) = torch.autograd.grad(got.ols + got.total, p)
        results.append((scalars(got), grad, got.assignments.dtype))
    assert results[0][0] == results[1][0] and torch.equal(results[0][1], results[1][1])
    assert results[1][2] == torch.float32


@pytest.mark.parametrize("padding", [0.0, 1e6, math.nan, math.inf])
@pytest.mark.parametrize("seed", SEEDS)
def test_masked_equals_truncated(draw, seed, padding):
    z, p = draw(seed, n=14)
    mask = torch.rand(2, 10, generator=torch.Generator().manual_seed(seed)).argsort(-1) < 7  # 14 real tokens
    padded = torch.full((2, 10, 4), padding, dtype=z.dtype)
    padded[mask] = z
    a, b, c = padded.clone().requires_grad_(), p.clone().requires_grad_(), p.clone().requires_grad_()
    masked, plain = quantization_losses(a, b, 0.7, mask), quantization_losses(z, c, 0.7)
    assert scalars(masked) == pytest.approx(scalars(plain), rel=1e-12)
    assert masked.assignments.shape == (2, 10, 5) and masked.centroids.shape == (2, 10, 4)
    torch.testing.assert_close(masked.assignments[mask], plain.assignments)
    assert masked.assignments[~mask].abs().max() == 0 and masked.centroids[~mask].abs().max() == 0
    (masked.total + masked.ols + masked.free_energy).backward()
    (plain.total + plain.ols + plain.free_energy).backward()
    torch.testing.assert_close(b.grad, c.grad, rtol=1e-11, atol=1e-13)
    assert a.grad[~mask].abs().max() == 0 and torch.isfinite(a.grad).all()


def test_nothing_but_padding_gives_zeros():
    z, p = torch.full((2, 3, 4), math.nan), torch.randn(3, 4, requires_grad=True)
    got = quantization_losses(z, p, 1.0, torch.zeros(2, 3, dtype=torch.bool))
    assert scalars(got) == dict.fromkeys(SCALARS, 0.0)
    (got.total + got.ols + got.variance + got.free_energy).backward()
    assert p.grad.abs().max() == 0


@pytest.mark.parametrize("n, k, d", [(1, 1, 1), (1, 5, 3), (7, 1, 3), (2, 9, 1)])
def test_degenerate_sizes(draw, reference, n, k, d):
    z, p = draw(0, n, k, d)
    got, want = quantization_losses(z, p, 1.0), reference.losses(z, p, 1.0)
    assert scalars(got) == pytest.approx({x: getattr(want, x) for x in SCALARS}, rel=1e-12, abs=1e-14)
    if k == 1:
        assert float(got.variance) == 0 and float(got.entropy) == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize("seed", SEEDS)
def test_prototype_order_and_token_order_do_not_matter(draw, seed):
    z, p = draw(seed)
    g = torch.Generator().manual_seed(seed)
    order_p, order_z = torch.randperm(5, generator=g), torch.randperm(20, generator=g)
    a, b = quantization_losses(z, p, 0.6), quantization_losses(z[order_z], p[order_p], 0.6)
    assert scalars(a) == pytest.approx(scalars(b), rel=1e-12)
    torch.testing.assert_close(a.assignments[order_z][:, order_p], b.assignments)


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: quantization_losses(torch.ones(0, 2), torch.ones(1, 2), 1.0), "no tokens"),
        (lambda: quantization_losses(torch.ones(3, 2), torch.ones(1, 2), 0.0), "temperature"),
        (lambda: quantization_losses(torch.ones(3, 2), torch.ones(1, 2), 1.0, torch.ones(2)), "mask"),
        (lambda: quantization_losses(torch.ones(3, 2), torch.ones(1, 5), 1.0), "width"),
        (lambda: objective_value(quantization_losses(torch.ones(3, 2), torch.ones(1, 2), 1.0), "loss"), "L_OLS"),
    ],
)
def test_bad_input_gets_a_sentence(call, words):
    with pytest.raises(InputError, match=words):
        call()
