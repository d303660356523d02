"""DDCLHierarchy: prototypes that are themselves quantized, level by level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ddcl_core.distances import check_temperature, squared_distances
from ddcl_core.errors import InputError
from ddcl_core.initialization import initialize
from ddcl_core.losses import boltzmann, quantization_losses


@dataclass(frozen=True)
class LevelOutput:
    """One level. assignments q (M, K) of its M points; total, ols, variance: L_q, L_OLS and V, weighted means over the
    points, each by its own definition; usage (K,): weighted mean of q, which sums to 1."""

    assignments: Tensor
    total: Tensor
    ols: Tensor
    variance: Tensor
    usage: Tensor


@dataclass(frozen=True)
class HierarchyOutput:
    """levels: a LevelOutput each, from fine to coarse; the first has the tokens as its points (padding left out)."""

    levels: tuple[LevelOutput, ...]

    @property
    def total(self) -> Tensor:
        """Sum of L_q over the levels."""
        return sum((level.total for level in self.levels[1:]), self.levels[0].total)


class DDCLHierarchy(nn.Module):
    r"""L stacked DDCL levels: tokens z -> p^1 -> p^2 -> ...

    Level l has K_l prototypes and a temperature T_l. Level 1 has the N tokens as its points, each with weight w = 1/N;
    level l + 1 has the prototypes of level l as its points, weighted with their usage u^l:

        q^l_mk = softmax_k(-|x_m - p_k|^2 / T_l),   x = p^(l-1), w = u^(l-1)
        u^l_k  = sum_m w_m q^l_mk                                       sums to 1: usage of all tokens
        L_q^l  = sum_m w_m sum_k q_mk |x_m - p_k|^2 = L_OLS^l + V^l     V^l >= 0 on every level

    epsilons: of the levels above the first; the gradient of level l's loss reaches the prototypes it reads multiplied by
    its epsilon, so that they follow it more slowly than its own (two timescales at each level). Usage carries no gradient.

    dim d; sizes (K_1, ..., K_L); temperatures, one each or one for all. Call `initialize_from(tokens)` before training.
    Raises InputError for sizes, temperatures and tokens that do not fit. Source: arXiv 2604.03850, stacked layers.
    """

    def __init__(
        self,
        dim: int,
        sizes: Sequence[int],
        temperatures: float | Sequence[float] = 1.0,
        epsilons: float | Sequence[float] = 0.1,
    ) -> None:
        super().__init__()
        sizes = list(sizes)
        if not sizes or any(k < 1 for k in sizes):
            raise InputError(f"The levels have {sizes} prototypes; give each level 1 or more.")
        self.prototypes = nn.ParameterList([nn.Parameter(torch.randn(k, dim)) for k in sizes])
        self.temperatures = _one_each(temperatures, len(sizes), "temperatures")
        self.epsilons = _one_each(epsilons, len(sizes), "epsilons")
        for temperature in self.temperatures:
            check_temperature(temperature)

    @torch.no_grad()
    def initialize_from(
        self, tokens: Tensor, mask: Tensor | None = None, scale: float = 0.6, generator: torch.Generator | None = None
    ) -> None:
        """Start level 1 on tokens (B, T, d) or (N, d) and each further level on the prototypes below it."""
        points = tokens.reshape(-1, tokens.shape[-1])
        points = points if mask is None else points[mask.reshape(-1)]
        for level in self.prototypes:
            level.copy_(initialize(points, len(level), "scaled", scale, generator).to(level))
            points = level

    def forward(self, tokens: Tensor, mask: Tensor | None = None) -> HierarchyOutput:
        """Losses, assignments and usage of every level; tokens (B, T, d) or (N, d), mask True = real."""
        points = tokens.reshape(-1, tokens.shape[-1])
        points = points if mask is None else points[mask.reshape(-1)]
        if not len(points):
            raise InputError("There is no token to read; give at least one that is not padding.")
        first = quantization_losses(points, self.prototypes[0], self.temperatures[0])
        levels = [
            LevelOutput(
                first.assignments, first.total, first.ols, first.variance, first.assignments.detach().mean(0)
            )
        ]  # fmt: skip
        for level in range(1, len(self.prototypes)):
            below, own = self.prototypes[level - 1], self.prototypes[level]
            levels.append(
                upper_level(below, own, levels[-1].usage, self.temperatures[level], self.epsilons[level])
            )  # fmt: skip
        return HierarchyOutput(tuple(levels))

    @torch.no_grad()
    def chain(self, tokens: Tensor) -> list[Tensor]:
        """Assignment of tokens (N, d) to the prototypes of each level, through the levels below: N, K_l each."""
        output = self(tokens)
        chained = [output.levels[0].assignments]
        for level in output.levels[1:]:
            chained.append(chained[-1] @ level.assignments)
        return chained


def upper_level(below: Tensor, own: Tensor, weights: Tensor, temperature: float, epsilon: float) -> LevelOutput:
    """A level that reads `below` (M, d) with weights (M,) by prototypes `own` (K, d); see `DDCLHierarchy`.

    The value does not depend on epsilon: it scales the gradient with respect to `below` alone.
    """
    with torch.autocast(own.device.type, enabled=False):
        points = below.detach() + epsilon * (below - below.detach())
        if own.dtype in (torch.float16, torch.bfloat16):
            points, own = points.float(), own.float()
        distances = squared_distances(points, own)  # M, K
        q, _, _ = boltzmann(distances, check_temperature(temperature))
        centroids = q @ own  # M, d
        w = weights.detach().to(points.dtype)
        ols = (w * (points - centroids).square().sum(-1)).sum()
        spread = (own[None] - centroids[:, None]).square().sum(-1)  # M, K
        variance = (w * (q * spread).sum(-1)).sum()
        total = (w * (q * distances).sum(-1)).sum()
        return LevelOutput(q, total, ols, variance, (w[:, None] * q.detach()).sum(0))


def _one_each(values: float | Sequence[float], count: int, name: str) -> list[float]:
    given = [float(values)] * count if isinstance(values, (int, float)) else [float(v) for v in values]
    if len(given) == count - 1 and name == "epsilons":
        given = [1.0, *given]
    if len(given) != count:
        raise InputError(f"There are {len(given)} {name} for {count} levels; give one each.")
    return given
