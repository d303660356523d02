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

from ddcl_core.losses import split


class Forces(NamedTuple):
    """ols, variance, total: (K, d) each, in the unit of the tokens; total = ols + variance = -dL_q/dp."""

    ols: Tensor
    variance: Tensor
    total: Tensor


def forces(z: Tensor, prototypes: Tensor, temperature: float, mask: Tensor | None = None) -> Forces:
    """The forces on the prototypes at this instant; nothing is tracked and no `.grad` is touched.

    z (N, d) or (B, T, d), prototypes (K, d), T > 0, mask (N,) or (B, T) with True = real -> three tensors (K, d).
    Works inside `torch.no_grad`. Raises InputError as `quantization_losses` does.
    """
    with torch.enable_grad():
        free = prototypes.detach().clone().requires_grad_()
        parts = split(z.detach(), free, temperature, mask)
        (ols,) = torch.autograd.grad(parts.ols, free, retain_graph=True)
        (variance,) = torch.autograd.grad(parts.variance, free)
    return Forces(-ols, -variance, -(ols + variance))
