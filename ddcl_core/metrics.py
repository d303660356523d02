"""What is measured at every step. Definitions: DESIGN, section 2, "Metrics".

Sums over tokens are made on the tokens' device; one small vector then travels to the host, where the rest is float64
numpy. All arguments may be tensors or arrays; nothing here is differentiated.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from ddcl_core.config import OBJECTIVES
from ddcl_core.distances import squared_distances
from ddcl_core.errors import InputError
from ddcl_core.frame import LOSS_METRICS
from ddcl_core.losses import QuantizationLosses

METRIC_NAMES = LOSS_METRICS
"""The keys of `compute_metrics`, in order."""

Array = Tensor | np.ndarray
_CRITICAL_FACTOR = {"L_q": 4.0, "F": 2.0}


def compute_metrics(
    z: Tensor, prototypes: Tensor, losses: QuantizationLosses, objective: str = "L_q", mask: Tensor | None = None
) -> dict[str, float]:
    """Every metric of `METRIC_NAMES` as a float, with a single copy from the device.

    z (N, d) or (B, T, d): the tokens `losses` was made from; prototypes (K, d); mask as there. Separations have the
    unit of z; `token_spread`, `lambda_max` and `critical_temperature` that unit squared, like the losses.
    Non-finite tokens or prototypes give NaN, never an exception. Raises InputError for an unknown objective.
    """
    k, d = prototypes.shape
    with torch.no_grad():
        six = torch.stack(
            (losses.total, losses.ols, losses.variance, losses.entropy, losses.free_energy,
             losses.normalized_free_energy)
        )  # fmt: skip
        covariance = token_covariance(z, mask)
        parts = (six, usage(losses.assignments, mask), covariance.reshape(-1), prototypes.reshape(-1))
        host = _host(torch.cat(parts))
    six, share, covariance, points = np.split(host, np.cumsum([6, k, d * d]))
    table = _distance_table(points.reshape(k, d))
    covariance = covariance.reshape(d, d)
    largest = lambda_max(covariance)
    closest, mean = _closest_and_mean(table)
    values = (
        *six, closest, mean, _weighted(table, share), effective_prototypes(share), dead_prototypes(share),
        critical_temperature_from(largest, objective), largest, token_spread(covariance),
    )  # fmt: skip
    return dict(zip(METRIC_NAMES, map(float, values), strict=True))


def usage(assignments: Tensor, mask: Tensor | None = None) -> Tensor:
    """u_k = mean_n q_nk over real tokens: (..., K) with mask (...) -> (K,); sums to one (to zero without any)."""
    q = assignments.detach().reshape(-1, assignments.shape[-1])  # N, K
    if mask is None:
        return q.mean(0)
    real = mask.reshape(-1).to(q.dtype)  # N
    return (real @ torch.where(mask.reshape(-1, 1).bool(), q, q.new_zeros(()))) / real.sum().clamp(min=1.0)


class UsageMeter:
    """Usage over many batches (an epoch). Over one batch alone it depends on the batch size and says little."""

    def __init__(self) -> None:
        self.tokens = 0
        self._sum: np.ndarray | float = 0.0

    def update(self, assignments: Tensor, mask: Tensor | None = None) -> None:
        """Add a batch: assignments (..., K), mask (...) with True = real."""
        count = int(mask.sum()) if mask is not None else assignments[..., 0].numel()
        self._sum = self._sum + count * _host(usage(assignments, mask))
        self.tokens += count

    def compute(self) -> np.ndarray:
        """u (K,) over everything added so far. Raises InputError if that was nothing."""
        if not self.tokens:
            raise InputError("No tokens were added to the usage meter; call update(assignments) first.")
        return np.asarray(self._sum) / self.tokens


def token_covariance(z: Tensor, mask: Tensor | None = None) -> Tensor:
    """C = mean_n (z_n - m)(z_n - m)^T over real tokens (divided by N, not N - 1): (..., d) -> (d, d).

    In float32 or float64; centred twice, so that the rounding of the mean does not show in a collapsed cloud.
    """
    z = z.detach().reshape(-1, z.shape[-1])  # N, d
    z = z.to(torch.promote_types(z.dtype, torch.float32))
    with torch.autocast(z.device.type, enabled=False):
        if mask is None:
            z = z - z.mean(0)
            z = z - z.mean(0)
            return (z.mT @ z) / max(1, z.shape[0])
        real = mask.reshape(-1, 1).to(z.dtype)  # N, 1
        count = real.sum().clamp(min=1.0)
        z = torch.where(real > 0, z, z.new_zeros(()))
        for _ in range(2):
            z = (z - (real * z).sum(0) / count) * real
        return (z.mT @ z) / count


def lambda_max(covariance: Array) -> float:
    """The largest eigenvalue of a covariance (d, d): the variance of the tokens along their widest direction."""
    covariance = _host(covariance)
    return float(np.linalg.eigvalsh(covariance)[-1]) if np.isfinite(covariance).all() else float("nan")


def token_spread(covariance: Array) -> float:
    """tr C = mean_n |z_n - m|^2 for a covariance (d, d)."""
    return float(np.trace(_host(covariance)))


def critical_temperature(tokens: Tensor, objective: str = "L_q", mask: Tensor | None = None) -> float:
    """T_c: prototypes that start near the token mean separate for T < T_c and merge for T > T_c.

        F: 2 lambda_max(C)    L_q: 4 lambda_max(C)    L_OLS: infinite (always separates)    V: 0 (never separates)

    tokens (N, d) or (B, T, d), mask (N,) or (B, T). Linearised around the mean, with frozen tokens; a training encoder
    moves C and T_c with it. Source: Rose, Gurewitz and Fox, Phys. Rev. Lett. 65 (1990) for F; DESIGN, section 2,
    fact 3, for the others. Raises InputError for an unknown objective. See `critical_temperature_from` for a known
    lambda_max.
    """
    return critical_temperature_from(lambda_max(token_covariance(tokens, mask)), objective)


def critical_temperature_from(largest: float, objective: str) -> float:
    """T_c from lambda_max(C), as in `critical_temperature`."""
    if objective not in OBJECTIVES:
        raise InputError(f"The objective is {objective!r}; choose one of {', '.join(OBJECTIVES)}.")
    if objective in _CRITICAL_FACTOR:
        return _CRITICAL_FACTOR[objective] * largest
    return float("inf") if objective == "L_OLS" else 0.0


def separation_min(prototypes: Array) -> float:
    """S(P) = min_{j<k} |p_j - p_k| for prototypes (K, d); zero for K = 1."""
    return _closest_and_mean(_distance_table(_host(prototypes)))[0]


def separation_mean(prototypes: Array) -> float:
    """mean_{j<k} |p_j - p_k| for prototypes (K, d); zero for K = 1."""
    return _closest_and_mean(_distance_table(_host(prototypes)))[1]


def weighted_separation(prototypes: Array, usage: Array) -> float:
    """sqrt(sum_jk u_j u_k |p_j - p_k|^2) for prototypes (K, d) and usage u (K,): dead prototypes do not count."""
    return _weighted(_distance_table(_host(prototypes)), _host(usage))


def effective_prototypes(usage: Array) -> float:
    """exp(-sum_k u_k log u_k), the perplexity of the usage (K,): 1 (all tokens on one) to K (even)."""
    u = _host(usage)
    if not np.isfinite(u).all():
        return float("nan")
    used = u[u > 0]
    return float(np.exp(-(used * np.log(used)).sum()))


def dead_prototypes(usage: Array) -> int:
    """How many prototypes have u_k < 1 / (10 K); usage (K,)."""
    u = _host(usage)
    return int((u < 1.0 / (10 * u.size)).sum())


def _host(values: Array) -> np.ndarray:
    """float64 on the host; one copy from the device."""
    if isinstance(values, Tensor):
        values = values.detach().cpu().double().numpy()
    return np.asarray(values, dtype=np.float64)


def _distance_table(points: np.ndarray) -> np.ndarray:
    """|p_j - p_k|^2 as (K, K)."""
    p = torch.from_numpy(np.ascontiguousarray(points))
    return squared_distances(p, p).numpy()


def _closest_and_mean(table: np.ndarray) -> tuple[float, float]:
    k = len(table)
    if k < 2:
        return 0.0, 0.0
    pairs = np.sqrt(table[_upper(k)])
    return float(pairs.min()), float(pairs.mean())


@lru_cache(maxsize=32)
def _upper(k: int) -> tuple[np.ndarray, np.ndarray]:
    return np.triu_indices(k, 1)


def _weighted(table: np.ndarray, share: np.ndarray) -> float:
    return float(np.sqrt(share @ table @ share))
