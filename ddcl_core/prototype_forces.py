"""The two forces on every prototype: minus the gradients of L_OLS and of V, by automatic differentiation.

    force_OLS_k = -dL_OLS/dp_k,    force_V_k = -dV/dp_k,    their sum = -dL_q/dp_k

Near a common point descending V pulls prototypes together and descending L_OLS drives them apart (DESIGN, section 2,
fact 1), whatever the slogan says; that is why they are computed and not asserted.
Source: Cirrincione and Kumar, arXiv 2604.03850 (2026), the section on the forces on prototypes.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from ddcl_core.distances import prototype_pullback, squared_distances
from ddcl_core.losses import as_rows, boltzmann, token_mean, token_variance


class Forces(NamedTuple):
    """ols, variance, total: (K, d) each, in the unit of the tokens; total = ols + variance = -dL_q/dp."""

    ols: Tensor
    variance: Tensor
    total: Tensor


def forces(
    z: Tensor,
    prototypes: Tensor,
    temperature: float,
    mask: Tensor | None = None,
    distances: Tensor | None = None,
) -> Forces:
    """The forces on the prototypes at this instant; nothing is tracked and no `.grad` is touched.

    z (N, d) or (B, T, d), prototypes (K, d), T > 0, mask (N,) or (B, T) with True = real -> three tensors (K, d).
    distances: |z_n - p_k|^2 (N, K) or (B, T, K) where they are known already, as in `QuantizationLosses.distances`.
    Works inside `torch.no_grad`. Raises InputError as `quantization_losses` does.
    """
    with torch.autocast(z.device.type, enabled=False):
        z, prototypes, temperature, real = as_rows(z.detach(), prototypes.detach(), temperature, mask)
        if distances is None:
            distances = squared_distances(z, prototypes)
        # Differentiated as far as the distances (N, K), which L_q and V share: beyond them lies the only work with
        # N K d numbers, and both flows take that way together.
        with torch.enable_grad():
            d = distances.detach().reshape(len(z), -1).to(z.dtype).requires_grad_()  # N, K
            free = prototypes.clone().requires_grad_()  # p in V, apart from the distances
            q, _, _ = boltzmann(d, temperature)
            mean = token_mean(real, z)
            (total,) = torch.autograd.grad(mean((q * d).sum(-1)), d, retain_graph=True)
            variance, directly = torch.autograd.grad(mean(token_variance(q, free)), (d, free))
        total, variance = prototype_pullback(torch.stack((total, variance)), z, prototypes)
        variance = variance + directly
    return Forces(variance - total, -variance, -total)
