"""Hard vector quantization with a straight-through estimator, with gradient or moving-average codes."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from ddcl_core.codebook.base import (
    CHUNK_LIMIT,
    Codebook,
    CodebookOutput,
    _unflatten_indices,
    centred,
    mean_of,
    nearest_code,
)
from ddcl_core.errors import InputError
from ddcl_core.initialization import JITTER


class HardCodebook(Codebook):
    """The decoder gets the nearest code; its gradient is copied to the encoder past the choice.

        i_n = argmin_k |z_n - p_k|^2,   quantized = z_n + sg(p_i - z_n)
        loss = loss_weight |sg(z_n) - p_i|^2 + commitment |z_n - sg(p_i)|^2          (means over n)

    ema_decay: None trains the codes by the first term; a number in 0..1 drops it and lets them follow moving averages,
    count_k <- decay count_k + (1 - decay) n_k and likewise the sum of outputs, p_k = sum_k / count_k.
    revive_below: with ema_decay only; after the update, a code whose moving count is below it moves onto a random
    output of the batch, *and its count and sum start anew* at twice the limit, so that the next average does not undo
    the move. Fewer outputs than dead codes: outputs are taken again with a small jitter. 0 never revives.

    Averages and revival happen in training mode only and stop while `frozen` is True; evaluation mode and frozen
    codebooks change nothing. Running state lies in buffers; revival draws from (seed, number of updates), so a saved
    codebook goes on exactly. Raises InputError for values that do not fit.
    Sources: van den Oord et al., arXiv 1711.00937 (2017), appendix A.1 for the averages; Dhariwal et al., arXiv
    2005.00341 (2020), for revival.
    """

    def __init__(
        self, num_codes: int, dim: int, commitment: float = 0.25, loss_weight: float = 1.0,
        ema_decay: float | None = None, revive_below: float = 0.0, chunk_limit: int = CHUNK_LIMIT, seed: int = 0,
    ) -> None:  # fmt: skip
        super().__init__(num_codes, dim, chunk_limit, seed)
        if ema_decay is not None and not 0.0 <= ema_decay <= 1.0:
            raise InputError(
                f"ema_decay is {ema_decay!r}; it must be a number from 0 to 1, or None for gradient codes."
            )
        if not (math.isfinite(revive_below) and revive_below >= 0.0) or (revive_below and ema_decay is None):
            raise InputError(f"revive_below is {revive_below!r}; it must be 0 or more, and above 0 needs ema_decay.")
        self.commitment, self.loss_weight = float(commitment), float(loss_weight)
        self.ema_decay, self.revive_below, self.seed = ema_decay, float(revive_below), seed
        self.frozen = False
        if ema_decay is not None:
            self.codes.requires_grad_(False)
            self.register_buffer("average_count", torch.ones(num_codes))
            self.register_buffer("average_sum", self.codes.detach().clone())
            self.register_buffer("updates", torch.zeros((), dtype=torch.int64))

    def forward(self, z: Tensor, mask: Tensor | None = None) -> CodebookOutput:
        """z (..., d), mask (...) -> `CodebookOutput`; see the class."""
        lead, flat, real = self._flatten(z, mask)
        with torch.autocast(z.device.type, enabled=False):
            points, codes, centre = centred(flat, self.codes)
            with torch.no_grad():
                indices = nearest_code(points, codes, centre, self.chunk_limit)  # N
                counts = torch.bincount(indices, minlength=self.num_codes)
            chosen = codes[indices]  # N, d
            total = mean_of((points - chosen.detach()).square().sum(-1))
            loss = self.commitment * total
            if self.ema_decay is None:
                loss = loss + self.loss_weight * mean_of((points.detach() - chosen).square().sum(-1))
            quantized = points + (chosen - points).detach() + centre
            if self.ema_decay is not None and self.training and not self.frozen:
                self._follow(points.detach() + centre, indices, counts)
        value = total.detach()
        return CodebookOutput(
            self._unflatten(quantized, real, z), _unflatten_indices(indices, real, lead), loss,
            value, value, torch.zeros_like(value), value, counts, counts.to(value.dtype),
        )  # fmt: skip

    @torch.no_grad()
    def _codes_were_set(self) -> None:
        if self.ema_decay is not None:
            self.average_count.fill_(1.0)
            self.average_sum.copy_(self.codes)

    @torch.no_grad()
    def _follow(self, points: Tensor, indices: Tensor, counts: Tensor) -> None:
        if not len(points):
            return
        new = torch.zeros_like(self.average_sum).index_add_(0, indices, points.to(self.average_sum.dtype))
        self.average_count.lerp_(counts.to(self.average_count.dtype), 1.0 - self.ema_decay)
        self.average_sum.lerp_(new, 1.0 - self.ema_decay)
        # A code unused for long has a count near zero: it stays where it is rather than at 0 / 0.
        held = self.average_count[:, None] > 1e-6
        self.codes.copy_(torch.where(held, self.average_sum / self.average_count[:, None].clamp(min=1e-6), self.codes))
        if self.revive_below:
            self._revive(points)
        self.updates += 1

    def _revive(self, points: Tensor) -> None:
        dead = (self.average_count < self.revive_below).nonzero().squeeze(-1)
        if not len(dead):
            return
        generator = torch.Generator().manual_seed((self.seed * 1_000_003 + int(self.updates)) % 2**63)
        order = torch.randperm(len(points), generator=generator)
        order = order.repeat(-(-len(dead) // len(points)))[: len(dead)].to(points.device)
        fresh = points[order].to(self.codes.dtype)
        if len(dead) > len(points):
            noise = torch.randn(fresh.shape, generator=generator).to(fresh)
            fresh = fresh + JITTER * points.std(0, correction=0).mean().clamp(min=JITTER).to(fresh) * noise
        self.codes[dead] = fresh
        self.average_count[dead] = 2.0 * self.revive_below
        self.average_sum[dead] = 2.0 * self.revive_below * fresh
