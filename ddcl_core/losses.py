"""The soft quantization loss, its exact split L_q = L_OLS + V, and the free energies.

    L_q   = mean_n sum_k q_nk d_nk                 d_nk = |z_n - p_k|^2,  q_nk = softmax_k(-d_nk / T)
    L_OLS = mean_n |z_n - mu_n|^2                  mu_n = sum_k q_nk p_k
    V     = mean_n sum_k q_nk |p_k - mu_n|^2       >= 0, and L_q = L_OLS + V for every z, P and T
    H     = mean_n -sum_k q_nk log q_nk
    F     = L_q - T H = -T mean_n log sum_k exp(-d_nk / T)
    F~    = F + T log K                            falls when T falls, as F does not

All values have the unit of z squared, except H (nats).
Source: Cirrincione and Kumar, arXiv 2604.03850 (2026), the decomposition of the quantization loss; the free energy is
that of Rose, Gurewitz and Fox, Phys. Rev. Lett. 65 (1990), up to the factor T.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from ddcl_core.distances import (
    as_working_dtype,
    check_temperature,
    excess_over_nearest,
    residuals,
    squared_distances,
)
from ddcl_core.errors import InputError

PAIRWISE_LIMIT = 512
"""Up to this K, V comes from the (K, K) table of prototype distances; beyond it from (N, K), to stay linear in K."""


@dataclass(frozen=True)
class QuantizationLosses:
    """What `quantization_losses` returns; N stands for the leading shape of z, (N,) or (B, T).

    total, ols, variance: L_q, L_OLS and V. entropy: H. free_energy, normalized_free_energy: F and F~. All 0-d.
    assignments: q (N, K), zero for padding. distances: d (N, K). centroids: mu (N, d), zero for padding.
    """

    total: Tensor
    ols: Tensor
    variance: Tensor
    entropy: Tensor
    free_energy: Tensor
    normalized_free_energy: Tensor
    assignments: Tensor
    distances: Tensor
    centroids: Tensor


def quantization_losses(
    z: Tensor, prototypes: Tensor, temperature: float, mask: Tensor | None = None
) -> QuantizationLosses:
    """Every loss of the module's head, each by its own definition: V is never L_q - L_OLS.

    z (N, d) or (B, T, d) tokens; prototypes (K, d); temperature T > 0; mask (N,) or (B, T), True = real token.
    Half precision is computed in float32, also under autocast; float64 stays float64. Padding counts nowhere, whatever
    it holds (NaN included), so a masked batch gives what the truncated one gives; nothing but padding gives zeros.

    Raises InputError for T <= 0 or not finite, for no tokens at all, and for shapes that do not fit.
    """
    with torch.autocast(z.device.type, enabled=False):
        part = split(z, prototypes, temperature, mask)
        log_k = math.log(part.q.shape[-1])
        # log(1/K sum_k e^-x) through expm1 and log1p keeps F~ exact for large T, where F is -T log K and a small rest
        lift = torch.log1p(torch.expm1(-part.excess).mean(-1))  # N, in [-log K, 0]
        total = part.mean((part.q * part.distances).sum(-1))
        entropy = part.mean((part.q * part.excess).sum(-1) + (lift + log_k))
        normalized = part.mean(part.nearest.squeeze(-1) - part.temperature * lift)
        free_energy = normalized - part.mean(torch.full_like(lift, part.temperature * log_k))
        q, centroids = part.q, part.q @ part.prototypes  # N, K and N, d
        if part.real is not None:
            q, centroids = q * part.real[:, None], centroids * part.real[:, None]
    lead = z.shape[:-1]
    return QuantizationLosses(
        total, part.ols, part.variance, entropy, free_energy, normalized,
        q.view(*lead, -1), part.distances.view(*lead, -1), centroids.view(*lead, -1),
    )  # fmt: skip


class Split(NamedTuple):
    """The two parts of L_q and what they were made from; see `split`."""

    ols: Tensor  # 0-d
    variance: Tensor  # 0-d
    q: Tensor  # N, K
    distances: Tensor  # N, K
    excess: Tensor  # N, K: (d_nk - nearest) / T
    nearest: Tensor  # N, 1
    prototypes: Tensor  # K, d, in the working dtype
    temperature: float
    real: Tensor | None  # N
    mean: Callable[[Tensor], Tensor]  # (N,) -> 0-d over real tokens


def split(z: Tensor, prototypes: Tensor, temperature: float, mask: Tensor | None = None) -> Split:
    """L_OLS and V, and what they were made from. Arguments as for `quantization_losses`."""
    flat, prototypes, temperature, real = as_rows(z, prototypes, temperature, mask)
    with torch.autocast(z.device.type, enabled=False):
        distances = squared_distances(flat, prototypes)  # N, K
        q, excess, nearest = boltzmann(distances, temperature)
        mean = token_mean(real, flat)
        ols = mean(residuals(flat, prototypes, q).square().sum(-1))
        variance = mean(token_variance(q, prototypes))
    return Split(ols, variance, q, distances, excess, nearest, prototypes, temperature, real, mean)


def as_rows(
    z: Tensor, prototypes: Tensor, temperature: float, mask: Tensor | None
) -> tuple[Tensor, Tensor, float, Tensor | None]:
    """Arguments checked and in one shape: tokens (N, d) with padding set to zero, prototypes (K, d), T, real (N,)."""
    temperature = check_temperature(temperature)
    lead = z.shape[:-1]
    if not lead or lead.numel() == 0:
        raise InputError(f"There are no tokens in z of shape {tuple(z.shape)}; give at least one token of d numbers.")
    real = _real_tokens(mask, lead)
    flat = z.reshape(-1, z.shape[-1])  # B, T, d -> N, d
    if real is not None:
        flat = torch.where(real[:, None], flat, flat.new_zeros(()))
    return *as_working_dtype(flat, prototypes), temperature, real


def boltzmann(distances: Tensor, temperature: float) -> tuple[Tensor, Tensor, Tensor]:
    """q (N, K) of distances (N, K), with the excess (N, K) and the nearest distance (N, 1) it was made from."""
    excess, nearest = excess_over_nearest(distances, temperature)
    return torch.softmax(-excess, dim=-1), excess, nearest


_FIELD = {"L_q": "total", "F": "free_energy", "L_OLS": "ols", "V": "variance"}


def objective_value(losses: QuantizationLosses, name: str) -> Tensor:
    """The loss called `name` ('L_q', 'F', 'L_OLS' or 'V'), 0-d, ready to descend. Raises InputError for another."""
    if name not in _FIELD:
        raise InputError(f"The objective is {name!r}; choose one of {', '.join(_FIELD)}.")
    return getattr(losses, _FIELD[name])


def token_variance(q: Tensor, prototypes: Tensor) -> Tensor:
    """V_n = sum_k q_nk |p_k - mu_n|^2 = 1/2 sum_jk q_nj q_nk |p_j - p_k|^2: (N, K), (K, d) -> (N,).

    The second form adds nothing but non-negative numbers made from differences, so no digit is lost at any offset.
    """
    if q.shape[-1] <= PAIRWISE_LIMIT:
        return 0.5 * ((q @ squared_distances(prototypes, prototypes)) * q).sum(-1)
    centred = prototypes - prototypes.detach().mean(0)
    return (q * squared_distances(q @ centred, centred)).sum(-1)


def _real_tokens(mask: Tensor | None, lead: torch.Size) -> Tensor | None:
    """The mask as (N,) booleans. Raises InputError if its shape is not that of the tokens."""
    if mask is None:
        return None
    if mask.shape != lead:
        raise InputError(
            f"The mask has shape {tuple(mask.shape)} and the tokens {tuple(lead)}; give one True (real) or False "
            "(padding) a token."
        )
    return mask.reshape(-1).to(torch.bool)


def token_mean(real: Tensor | None, like: Tensor) -> Callable[[Tensor], Tensor]:
    """A function (N,) -> 0-d: the mean over real tokens, zero if there is none."""
    if real is None:
        return torch.mean
    weights = real.to(like.dtype)
    weights = weights / weights.sum().clamp(min=1.0)
    return lambda values: (weights * values).sum()

