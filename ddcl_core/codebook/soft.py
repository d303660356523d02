"""Soft DDCL quantization without a straight-through estimator."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from ddcl_core.codebook.base import CHUNK_LIMIT, Codebook, CodebookOutput, _unflatten_indices, centred, chunks, mean_of
from ddcl_core.config import OBJECTIVES
from ddcl_core.distances import check_temperature
from ddcl_core.errors import InputError

_CACHE = 2**18  # scores at a time: few calls, and they stay near a CPU core
_LOWEST = -46.0  # q stays above 1e-20: products with denormal numbers are a hundred times slower


class SoftCodebook(Codebook):
    """The decoder gets the soft centroid, so every code gets a gradient from every output.

        q_nk = softmax_k(-|z_n - p_k|^2 / T),   mu_n = sum_k q_nk p_k = quantized
        loss = loss_weight * objective,         objective: L_q = L_OLS + V, or F, L_OLS, V alone

    temperature: T > 0, changed at any time with `set_temperature`; kept in a buffer, so that it is saved.
    Training and evaluation mode behave alike; freezing is `codes.requires_grad_(False)`. Memory is linear in N*K, and
    bounded by `chunk_limit` beyond it (assignments are then made again in the backward pass). First derivatives only.
    Assignments come from matrix products of centred values: their error is about eps * |z - c| |p - c| / T.

    Raises InputError for T <= 0, an unknown objective, and inputs that do not fit.
    Source: Cirrincione and Kumar, arXiv 2604.03850 (2026).
    """

    def __init__(
        self, num_codes: int, dim: int, temperature: float = 1.0, objective: str = "L_q", loss_weight: float = 1.0,
        chunk_limit: int = CHUNK_LIMIT, seed: int = 0,
    ) -> None:  # fmt: skip
        super().__init__(num_codes, dim, chunk_limit, seed)
        if objective not in OBJECTIVES:
            raise InputError(f"The objective is {objective!r}; choose one of {', '.join(OBJECTIVES)}.")
        self.objective, self.loss_weight = objective, float(loss_weight)
        self.register_buffer("_temperature", torch.zeros((), dtype=torch.float64))
        self.set_temperature(temperature)

    @property
    def temperature(self) -> float:
        """T."""
        return float(self._temperature)

    def set_temperature(self, temperature: float) -> None:
        """Change T; raises InputError unless it is a finite number above 0."""
        self._temperature.fill_(check_temperature(temperature))

    def forward(self, z: Tensor, mask: Tensor | None = None) -> CodebookOutput:
        """z (..., d), mask (...) -> `CodebookOutput`; see the class."""
        lead, flat, real = self._flatten(z, mask)
        temperature = self.temperature
        with torch.autocast(z.device.type, enabled=False):
            flat, codes, centre = centred(flat, self.codes)
            squares = codes.square().sum(-1, keepdim=True)  # K, 1
            table = torch.cat((codes, squares), 1)  # K, d + 1
            y, log_sum, indices, weights = _SoftAverage.apply(flat, table, temperature, self.chunk_limit)
            mu, mean_square = y[:, :-1], y[:, -1]  # N, d and N
            own = flat.square().sum(-1)  # N
            ols = mean_of((flat - mu).square().sum(-1))
            variance = mean_of((mean_square - mu.square().sum(-1)).clamp(min=0.0))
            total = mean_of(own - 2.0 * (flat * mu).sum(-1) + mean_square)
            free_energy = mean_of(own - temperature * log_sum)
            loss = {"L_q": total, "F": free_energy, "L_OLS": ols, "V": variance}[self.objective]
            counts = torch.bincount(indices, minlength=self.num_codes)
        return CodebookOutput(
            self._unflatten(mu + centre, real, z), _unflatten_indices(indices, real, lead), self.loss_weight * loss,
            total, ols, variance, free_energy, counts, weights,
        )  # fmt: skip


class _SoftAverage(torch.autograd.Function):
    """y_n = sum_k q_nk a_k with a_k = (p_k, |p_k|^2), and log sum_k exp(s_nk), s_nk = (2 z_n.p_k - |p_k|^2) / T.

    With e = exp(s - max s) and its row sums r, q = e / r is never written out. Backwards, for gradients g of y and h of
    the log-sum: ds_nk = q_nk (g_n.a_k + h_n - g_n.y_n), then dz = 2/T ds p and da = q^T g + ds^T (2 z, -1)/T. Fused by
    hand, because autograd's passes over (N, K) would cost more than a small encoder.
    """

    @staticmethod
    def forward(ctx, z: Tensor, table: Tensor, temperature: float, limit: int):
        n, k = z.shape[0], table.shape[0]
        scaled = torch.cat((z * (2.0 / temperature), z.new_full((n, 1), -1.0 / temperature)), 1)  # N, d + 1
        y = z.new_empty(n, table.shape[1])
        log_sum, total = z.new_empty(n), z.new_empty(n)
        indices = torch.empty(n, dtype=torch.int64, device=z.device)
        weights = z.new_zeros(k)
        kept = z.new_empty(n, k) if n * k <= limit else None
        codes, squares = _by_columns(table[:, :-1]), table[:, -1].contiguous()
        for rows in _blocks(z, k, limit):
            e, total[rows], top, indices[rows] = _exponentials(
                scaled[rows], table, None if kept is None else kept[rows]
            )
            y[rows] = torch.cat((e @ codes, (e @ squares)[:, None]), 1) / total[rows, None]
            log_sum[rows] = top + total[rows].log()
            weights += total[rows].reciprocal() @ e
        ctx.temperature, ctx.limit = temperature, limit
        ctx.save_for_backward(scaled, table, y, total, *(() if kept is None else (kept,)))
        ctx.mark_non_differentiable(indices, weights)
        return y, log_sum, indices, weights

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_y: Tensor, grad_log: Tensor, _indices, _weights):
        scaled, table, y, total, *kept = ctx.saved_tensors
        per_t = 2.0 / ctx.temperature
        with torch.autocast(scaled.device.type, enabled=False):
            g = grad_y / total[:, None]  # N, d + 1
            shift = grad_log / total - (g * y).sum(-1)  # N
            flow_in = torch.cat((g, shift[:, None]), 1)  # N, d + 2
            ones = torch.cat((table, table.new_ones(len(table), 1)), 1)  # K, d + 2
            codes = _by_columns(table[:, :-1] * per_t)  # K, d
            grad_z = torch.empty_like(y[:, :-1])
            grad_table = table.new_zeros(table.shape[1], table.shape[0])  # d + 1, K by rows: quicker to add to
            for rows in _blocks(scaled, len(table), ctx.limit):
                e = kept[0][rows] if kept else _exponentials(scaled[rows], table)[0]
                flow = (flow_in[rows] @ ones.mT).mul_(e)  # n, K: ds
                grad_z[rows] = flow @ codes
                grad_table.addmm_(g[rows].mT, e).addmm_(scaled[rows].mT, flow)
        return grad_z, grad_table.mT, None, None


def _blocks(z: Tensor, k: int, limit: int) -> Iterator[slice]:
    """Rows at most `limit` scores at a time; on a CPU no more than its cache holds, which is twice as fast."""
    return chunks(len(z), k, min(limit, _CACHE) if z.device.type == "cpu" else limit)


def _by_columns(table: Tensor) -> Tensor:
    """The same (K, d), laid out by columns: products (n, K) @ (K, d) with few columns are three times as fast."""
    return table.mT.contiguous().mT


def _exponentials(scaled: Tensor, table: Tensor, out: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """e = exp(s - top) (n, K), its row sums (n), top = max_k s (n) and where it is (n)."""
    scores = torch.mm(scaled, table.mT, out=out)
    top, where = scores.max(-1)
    e = scores.sub_(top[:, None]).clamp_(min=_LOWEST).exp_()
    return e, e.sum(-1), top, where
