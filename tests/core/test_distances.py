"""Distances and assignments where others lose digits: far from the origin, at zero distance, at extreme T."""

import numpy as np
import pytest
import torch

from ddcl_core.distances import assignments, log_assignments, residuals, squared_distances
from ddcl_core.errors import InputError

SEEDS = range(4)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype, tolerance", [(torch.float64, 1e-14), (torch.float32, 1e-6)])
@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_distances_are_exact_near_and_far(draw, seed, dtype, tolerance, offset):
    z, p = (x + offset for x in draw(seed, n=30, k=6, d=8, dtype=dtype))
    exact = ((z.double().numpy()[:, None] - p.double().numpy()) ** 2).sum(-1)
    np.testing.assert_allclose(squared_distances(z, p).double().numpy(), exact, rtol=tolerance)


def test_distances_by_hand():
    d = squared_distances(torch.tensor([[0.0, 0.0], [3.0, 4.0]]), torch.tensor([[3.0, 4.0], [0.0, 1.0], [0.0, 0.0]]))
    assert d.tolist() == [[25.0, 1.0, 0.0], [0.0, 18.0, 25.0]]


def test_expanded_formula_would_fail_the_offset_test(draw):
    z, p = (x + 1e4 for x in draw(0, dtype=torch.float32))
    expanded = z.square().sum(-1)[:, None] - 2 * z @ p.T + p.square().sum(-1)
    assert (expanded - squared_distances(z, p)).abs().max() > 1.0  # the trap is real: hundreds of per cent


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_gradient_is_zero_and_finite_where_token_meets_prototype(dtype):
    z = torch.zeros(3, 2, dtype=dtype, requires_grad=True)
    p = torch.zeros(2, 2, dtype=dtype, requires_grad=True)
    squared_distances(z, p).sum().backward()
    assert z.grad.abs().max() == 0 and p.grad.abs().max() == 0


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("chunk", [1, 17, 40, 10_000])
def test_chunks_change_nothing(draw, seed, chunk):
    results = []
    for elements in (None, chunk):
        z, p = (x.requires_grad_() for x in draw(seed, n=23, k=4, d=3))
        d = squared_distances(z, p, chunk_elements=elements)
        r = residuals(z, p, assignments(d, 0.7), chunk_elements=elements)
        (d.sin().sum() + r.cos().sum()).backward()
        results.append((d, r, z.grad, p.grad))
    for plain, chunked in zip(*results, strict=True):
        torch.testing.assert_close(chunked, plain, rtol=1e-13, atol=1e-13)


def test_gradients_against_finite_differences_twice(draw):
    z, p = (x.requires_grad_() for x in draw(1, n=4, k=3, d=2))

    def chain(z, p):
        d = squared_distances(z, p, chunk_elements=12)
        return d, residuals(z, p, assignments(d, 1.3), chunk_elements=12)

    assert torch.autograd.gradcheck(chain, (z, p))
    assert torch.autograd.gradgradcheck(chain, (z, p))


@pytest.mark.parametrize("seed", SEEDS)
def test_autograd_of_the_plain_formula_gives_the_same_gradient(draw, seed):
    z, p = draw(seed)
    weights = torch.randn(20, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    grads = []
    for function in (squared_distances, lambda z, p: (z[:, None] - p).square().sum(-1)):
        a, b = z.clone().requires_grad_(), p.clone().requires_grad_()
        grads.append(torch.autograd.grad((function(a, b) * weights).sum(), (a, b)))
    for mine, plain in zip(*grads, strict=True):
        torch.testing.assert_close(mine, plain, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_widened(dtype):
    z, p = torch.full((2, 3), 300.0, dtype=dtype), torch.zeros(2, 3, dtype=dtype)
    d = squared_distances(z, p)  # 270000 would overflow float16
    assert d.dtype == torch.float32 and torch.equal(d, torch.full((2, 2), 3 * float(z[0, 0]) ** 2))


@pytest.mark.parametrize("temperature", [1e-4, 1e-2, 1.0, 1e3, 1e6])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_assignments_are_finite_at_every_temperature(temperature, dtype):
    d = torch.tensor([[0.0, 1.0, 4.0], [1e8, 1e8 + 64, 2e8], [5.0, 5.0, 5.0]], dtype=dtype, requires_grad=True)
    q = assignments(d, temperature)
    log_q = log_assignments(d, temperature)
    (q.square().sum() + (q * log_q).sum()).backward()
    for x in (q, log_q, d.grad):
        assert torch.isfinite(x).all()
    torch.testing.assert_close(q.sum(-1), torch.ones(3, dtype=dtype))
    torch.testing.assert_close(log_q.exp(), q)
    assert torch.allclose(q[2], torch.full((3,), 1 / 3, dtype=dtype))


def test_assignments_by_hand():
    q = assignments(torch.tensor([[0.0, np.log(3.0) * 2]], dtype=torch.float64), 2.0)  # weights 1 and 1/3
    torch.testing.assert_close(q, torch.tensor([[0.75, 0.25]], dtype=torch.float64))


@pytest.mark.parametrize("bad", [0.0, -1.0, float("nan"), float("inf"), "hot", None])
def test_impossible_temperatures_get_a_sentence(bad):
    for function in (assignments, log_assignments):
        with pytest.raises(InputError, match="temperature T is .*finite number above 0"):
            function(torch.ones(1, 2), bad)


@pytest.mark.parametrize(
    "z, p",
    [
        (torch.ones(2, 3), torch.ones(2, 4)),
        (torch.ones(2, 3), torch.ones(0, 3)),
        (torch.ones(3), torch.ones(2, 3)),
        (torch.ones(2, 3, dtype=torch.long), torch.ones(2, 3)),
        ([[1.0]], torch.ones(1, 1)),
    ],
)
def test_shapes_that_do_not_fit_get_a_sentence(z, p):
    with pytest.raises(InputError):
        squared_distances(z, p)
