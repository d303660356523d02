"""What descending each objective does to prototypes near the token mean, on frozen tokens: DESIGN, section 2, fact 3.

Linearised, a separation grows by the factor 1 - eta (2/K) (1 - T_c/T) a step for F and L_q, so three per cent from T_c
decide within some hundred steps; L_OLS alone always grows, V alone always shrinks.
"""

import pytest
import torch

from ddcl_core.losses import objective_value, quantization_losses
from ddcl_core.metrics import critical_temperature, separation_mean

K, RATE = 3, 1.5


def frozen_tokens(seed):
    """Gaussian tokens with one clearly widest direction, rotated, off the origin."""
    g = torch.Generator().manual_seed(seed)
    z = torch.randn(300, 3, generator=g, dtype=torch.float64) * torch.tensor([1.3, 0.8, 0.5]).double()
    rotation = torch.linalg.qr(torch.randn(3, 3, generator=g, dtype=torch.float64)).Q
    return z @ rotation + 5.0, g


def separation_ratio(objective, temperature, z, g, between=(60, 260), rate=RATE):
    """Separation at the later step of gradient descent over that at the earlier, from 1e-6 around the token mean."""
    p = z.mean(0) + 1e-6 * torch.randn(K, 3, generator=g, dtype=torch.float64)
    seen = {}
    for step in range(between[1] + 1):
        if step in between:
            seen[step] = separation_mean(p)
        p.requires_grad_()
        value = objective_value(quantization_losses(z, p, temperature), objective)
        (grad,) = torch.autograd.grad(value, p)
        p = (p - rate * grad).detach()
    return seen[between[1]] / seen[between[0]]


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("objective, factor", [("F", 2.0), ("L_q", 4.0)])
def test_prototypes_separate_below_and_merge_above_the_critical_temperature(seed, objective, factor):
    z, g = frozen_tokens(seed)
    widest = torch.linalg.eigvalsh(torch.cov(z.T, correction=0))[-1].item()
    t_c = critical_temperature(z, objective)
    assert t_c == pytest.approx(factor * widest, rel=1e-12)
    assert separation_ratio(objective, 0.97 * t_c, z, g) > 50
    assert separation_ratio(objective, 1.03 * t_c, z, g) < 0.02


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("temperature", [0.5, 4.0, 40.0])
def test_ols_alone_always_separates_and_variance_alone_always_contracts(seed, temperature):
    z, g = frozen_tokens(seed)
    # a step of 0.03 T makes the growth, 1 + eta (8 / K) lambda / T a step, the same at every T
    assert separation_ratio("L_OLS", temperature, z, g, between=(20, 80), rate=0.03 * temperature) > 100
    assert separation_ratio("V", temperature, z, g, between=(20, 60), rate=0.5) < 1e-3


@pytest.mark.parametrize("seed", [0, 1])
def test_normalized_free_energy_never_rises_while_descending_and_cooling(seed):
    z, g = frozen_tokens(seed)
    p = z.mean(0) + 0.5 * torch.randn(K, 3, generator=g, dtype=torch.float64)
    values, plain = [], []
    for step in range(120):
        p.requires_grad_()
        got = quantization_losses(z, p, 6.0 * 0.97**step)
        values.append(got.normalized_free_energy.item())
        plain.append(got.free_energy.item())
        (grad,) = torch.autograd.grad(got.free_energy, p)
        p = (p - 0.2 * grad).detach()
    assert all(later <= earlier + 1e-12 for earlier, later in zip(values, values[1:]))
    assert any(later > earlier for earlier, later in zip(plain, plain[1:]))  # F itself does rise
