"""What soft and hard codebooks have in common: one interface for any encoder-decoder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ddcl_core.codebook.config import INITIALIZATIONS
from ddcl_core.distances import as_working_dtype
from ddcl_core.errors import InputError
from ddcl_core.initialization import initialize

CHUNK_LIMIT = 2**24
"""Most scores (numbers, N*K) held at a time; 64 MB in float32."""


@dataclass(frozen=True)
class CodebookOutput:
    """What a codebook returns; '...' is the leading shape of z.

    quantized (..., d): what the decoder gets, in z's dtype, zero for padding. indices (...): nearest code, -1 for
    padding. loss: the codebook's part of the loss, ready to add. total, ols, variance: L_q, L_OLS and V (0 when hard);
    free_energy: F (L_q when hard). All 0-d. counts (K,): how many outputs are nearest to k. weights (K,):
    sum_n q_nk, equal to counts when hard.
    """

    quantized: Tensor
    indices: Tensor
    loss: Tensor
    total: Tensor
    ols: Tensor
    variance: Tensor
    free_energy: Tensor
    counts: Tensor
    weights: Tensor


class Codebook(nn.Module):
    """K codes p_k in R^d; see `SoftCodebook` and `HardCodebook`.

    forward(z (..., d), mask (...)) -> `CodebookOutput`. mask: True = real; padding counts nowhere, whatever it holds.
    Computed in float32 (float64 stays) with autocast off; the output has z's dtype.
    chunk_limit: most scores N*K held at a time; beyond it rows are taken in chunks, with the same result.

    Raises InputError for K or d below 1, and for inputs that do not fit.
    """

    def __init__(self, num_codes: int, dim: int, chunk_limit: int = CHUNK_LIMIT, seed: int = 0) -> None:
        super().__init__()
        for name, value in (("num_codes", num_codes), ("dim", dim), ("chunk_limit", chunk_limit)):
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise InputError(f"{name} is {value!r}; it must be a whole number, 1 or more.")
        self.chunk_limit = chunk_limit
        self.codes = nn.Parameter(_uniform(num_codes, dim, torch.Generator().manual_seed(seed)))

    @property
    def num_codes(self) -> int:
        """K."""
        return self.codes.shape[0]

    @property
    def dim(self) -> int:
        """d."""
        return self.codes.shape[1]

    @torch.no_grad()
    def initialize_from(
        self, z: Tensor, method: str = "kmeans++", scale: float = 1.0, generator: torch.Generator | None = None
    ) -> None:
        """Place the codes: 'scaled' or 'kmeans++' on outputs z (..., d), 'random' normal, or 'uniform' in +-1/K.

        See `ddcl_core.initialization.initialize`; raises InputError as it does.
        """
        if method not in INITIALIZATIONS:
            raise InputError(f"The initialization is {method!r}; choose one of {', '.join(INITIALIZATIONS)}.")
        if method == "uniform":
            start = _uniform(self.num_codes, self.dim, generator)
        else:
            start = initialize(z.reshape(-1, z.shape[-1]), self.num_codes, method, scale, generator)
        self.codes.copy_(start)
        self._codes_were_set()

    def _codes_were_set(self) -> None:
        """Hook for running state that belongs to the codes."""

    @torch.no_grad()
    def nearest(self, z: Tensor, mask: Tensor | None = None) -> Tensor:
        """Index of the nearest code, (..., d) -> (...) int64; -1 for padding. The lowest index wins a tie."""
        lead, flat, real = self._flatten(z, mask)
        with torch.autocast(z.device.type, enabled=False):
            return _unflatten_indices(nearest_code(*centred(flat, self.codes), self.chunk_limit), real, lead)

    def lookup(self, indices: Tensor) -> Tensor:
        """The codes of indices (...) -> (..., d); zero for -1. Raises InputError for other indices outside 0..K-1."""
        if indices.numel() and not -1 <= int(indices.min()) <= int(indices.max()) < self.num_codes:
            raise InputError(f"There are codes 0 to {self.num_codes - 1}; the indices hold {int(indices.max())}.")
        return self.codes[indices.clamp(min=0)] * (indices >= 0)[..., None].to(self.codes.dtype)

    def harden(self, z: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Replace each output by its nearest code: (..., d) -> codes (..., d) in z's dtype, indices (...)."""
        indices = self.nearest(z, mask)
        return self.lookup(indices).to(z.dtype), indices

    def _flatten(self, z: Tensor, mask: Tensor | None) -> tuple[torch.Size, Tensor, Tensor | None]:
        """Leading shape, real rows (N, d), and the mask as (B,) booleans; padding is left out, not zeroed."""
        if not isinstance(z, Tensor) or z.dim() < 1 or z.shape[-1] != self.dim:
            shape = tuple(z.shape) if isinstance(z, Tensor) else type(z).__name__
            raise InputError(f"The encoder's output is {shape}; its last dimension must be d = {self.dim}.")
        lead, flat = z.shape[:-1], z.reshape(-1, self.dim)
        if mask is None:
            return lead, flat, None
        if mask.shape != lead:
            raise InputError(f"The mask has shape {tuple(mask.shape)} and the outputs {tuple(lead)}; they must agree.")
        real = mask.reshape(-1).bool()
        return lead, flat[real], real

    def _unflatten(self, rows: Tensor, real: Tensor | None, like: Tensor) -> Tensor:
        """Rows (N, d) back into the shape and dtype of `like`, zero for padding."""
        if real is not None:
            rows = rows.new_zeros(real.shape[0], self.dim).index_put((real.nonzero().squeeze(-1),), rows)
        return rows.to(like.dtype).reshape(like.shape)


def centred(z: Tensor, codes: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """z - c (N, d), p - c (K, d) and c (d), the mean code held fixed, in the working dtype.

    Scores use the expanded square, which is only exact near the origin; distances do not depend on c.
    """
    z, codes = as_working_dtype(z, codes)
    centre = codes.detach().mean(0)
    return z - centre, codes - centre, centre


def nearest_code(z: Tensor, codes: Tensor, _centre: Tensor, limit: int) -> Tensor:
    """argmin_k |z_n - p_k|^2 = argmax_k 2 z_n.p_k - |p_k|^2 for centred z (N, d), p (K, d) -> (N,) int64."""
    bias = -codes.square().sum(-1)  # K
    parts = [torch.addmm(bias, z[rows], codes.mT, alpha=2.0).argmax(-1) for rows in chunks(len(z), len(codes), limit)]
    return torch.cat(parts) if parts else torch.zeros(0, dtype=torch.int64, device=z.device)


def chunks(n: int, k: int, limit: int) -> Iterator[slice]:
    """Row slices with at most `limit` scores each (at least one row)."""
    step = max(1, limit // k)
    for start in range(0, n, step):
        yield slice(start, start + step)


def _unflatten_indices(indices: Tensor, real: Tensor | None, lead: torch.Size) -> Tensor:
    if real is None:
        return indices.reshape(lead)
    return indices.new_full(real.shape, -1).masked_scatter_(real, indices).reshape(lead)


def mean_of(rows: Tensor) -> Tensor:
    """Mean of (N,); zero, still part of the graph, when there is no row."""
    return rows.sum() / max(1, rows.shape[0])


def _uniform(num_codes: int, dim: int, generator: torch.Generator | None) -> Tensor:
    return (2.0 * torch.rand(num_codes, dim, generator=generator) - 1.0) / num_codes
