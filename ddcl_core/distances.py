"""Squared distances, residuals and Boltzmann assignments: the first three lines of the method.

    d_nk = |z_n - p_k|^2,    q_nk = softmax_k(-d_nk / T),    r_n = z_n - mu_n = sum_k q_nk (z_n - p_k)

Everything is formed from the differences z_n - p_k. The expanded form |z|^2 - 2 z.p + |p|^2 would be faster and loses
every digit far from the origin; a square root (`torch.cdist`) has no gradient where a token sits on a prototype.
The (N, K, d) differences are made in chunks and made again in the backward pass, so they are never kept.

Source: Cirrincione and Kumar, arXiv 2604.03850 (2026), section on the readout layer; DESIGN, section 2.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from ddcl_core.errors import InputError

CHUNK_ELEMENTS = {"cpu": 2**18}
"""Most differences z_n - p_k (numbers, N*K*d) held at a time on a kind of device. On a CPU 1 MB in float32 stays in a
core's cache: forward and backward the losses took 33 ms with it and 116 ms with 16 MB at (N, d, K) = (16384, 32, 16),
and 3.9 and 4.9 ms at (1536, 32, 8)."""
OTHER_CHUNK_ELEMENTS = 2**22
"""The same elsewhere, where many launches of small kernels cost more than memory traffic (not measured)."""

_FAR = 1e4
"""exp(-x) is exactly zero in float64 from x = 746 on: clamping x = (d - d_min)/T here changes no assignment."""


def squared_distances(z: Tensor, prototypes: Tensor, *, chunk_elements: int | None = None) -> Tensor:
    """d_nk = |z_n - p_k|^2.

    z (N, d), prototypes (K, d) -> (N, K), in float32 or in float64 if either input is; never negative, exact to a few
    units in the last place at any offset, with a finite gradient (zero) where z_n = p_k. Twice differentiable.
    chunk_elements: overrides `CHUNK_ELEMENTS`; the result does not depend on it.

    Raises InputError for inputs that are not floating-point matrices of equal width.
    """
    z, prototypes = as_working_dtype(z, prototypes)
    return _SquaredDistances.apply(z, prototypes, chunk_elements or _chunk_size(z))


def residuals(z: Tensor, prototypes: Tensor, assignments: Tensor, *, chunk_elements: int | None = None) -> Tensor:
    """r_n = sum_k q_nk (z_n - p_k), which is z_n - mu_n because every row of q sums to one.

    z (N, d), prototypes (K, d), assignments (N, K) -> (N, d). Subtracting before averaging keeps all digits where
    z and mu are large and close. Raises InputError as `squared_distances` does.
    """
    z, prototypes = as_working_dtype(z, prototypes)
    return _Residuals.apply(z, prototypes, assignments.to(z.dtype), chunk_elements or _chunk_size(z))


def prototype_pullback(flows: Tensor, z: Tensor, prototypes: Tensor, *, chunk_elements: int | None = None) -> Tensor:
    """sum_nk g_nk dd_nk/dp for several g at once: what the backward pass of `squared_distances` gives for each.

    flows (M, N, K), z (N, d), prototypes (K, d), all of one dtype -> (M, K, d) = -2 sum_n g_mnk (z_n - p_k).
    """
    flows = (-2.0 * flows).permute(2, 0, 1)  # K, M, N
    chunks = _chunks(z, prototypes, chunk_elements or _chunk_size(z))
    return sum(flows[..., rows] @ diff for rows, diff in chunks).transpose(0, 1)  # K, M, d -> M, K, d


def assignments(distances: Tensor, temperature: float) -> Tensor:
    """q_nk = exp(-d_nk / T) / sum_j exp(-d_nj / T).

    distances (N, K) -> (N, K), rows sum to one. Finite for every T > 0 (tested from 1e-4 to 1e6).
    Raises InputError unless T is a finite number above 0.
    """
    excess, _ = excess_over_nearest(distances, check_temperature(temperature))
    return torch.softmax(-excess, dim=-1)


def log_assignments(distances: Tensor, temperature: float) -> Tensor:
    """log q_nk = -d_nk / T - log sum_j exp(-d_nj / T); distances (N, K) -> (N, K).

    Values are bounded below by -1e4, where q is exactly zero, so that q log q is always finite.
    Raises InputError unless T is a finite number above 0.
    """
    excess, _ = excess_over_nearest(distances, check_temperature(temperature))
    return torch.log_softmax(-excess, dim=-1)


def excess_over_nearest(distances: Tensor, temperature: float) -> tuple[Tensor, Tensor]:
    """x_nk = (d_nk - m_n) / T with m_n = min_k d_nk, held fixed: (N, K) -> (N, K) in [0, 1e4] and (N, 1).

    Shifting by m_n changes neither q nor its gradient, and keeps exp(-x) away from overflow and total underflow.
    """
    nearest = distances.detach().amin(dim=-1, keepdim=True)  # (N, 1)
    return ((distances - nearest) / temperature).clamp(max=_FAR), nearest


def check_temperature(temperature: float) -> float:
    """The temperature as a float. Raises InputError unless it is a finite number above 0."""
    try:
        value = float(temperature)
    except (TypeError, ValueError, RuntimeError):
        value = math.nan
    if not (math.isfinite(value) and value > 0.0):
        raise InputError(
            f"The temperature T is {temperature!r}; it must be a finite number above 0, for instance 1.0 "
            "(hard assignments are the limit of a small T such as 1e-4)."
        )
    return value


def as_working_dtype(z: Tensor, prototypes: Tensor) -> tuple[Tensor, Tensor]:
    """Both matrices in one dtype: float64 if either is, else float32 (half precision is widened).

    Raises InputError for inputs that are not floating-point matrices (N, d) and (K, d) with K >= 1.
    """
    for name, x in (("tokens", z), ("prototypes", prototypes)):
        if not isinstance(x, Tensor) or not x.is_floating_point() or x.dim() != 2:
            what = f"{x.dtype} {tuple(x.shape)}" if isinstance(x, Tensor) else type(x).__name__
            raise InputError(f"The {name} are {what}; they must be a floating-point tensor with two dimensions.")
    if z.shape[1] != prototypes.shape[1] or prototypes.shape[0] < 1:
        raise InputError(
            f"Tokens of shape {tuple(z.shape)} do not fit prototypes of shape {tuple(prototypes.shape)}; both need the "
            "same width d, and there must be at least one prototype."
        )
    dtype = torch.promote_types(torch.promote_types(z.dtype, prototypes.dtype), torch.float32)
    return z.to(dtype), prototypes.to(dtype)


def _chunk_size(z: Tensor) -> int:
    return CHUNK_ELEMENTS.get(z.device.type, OTHER_CHUNK_ELEMENTS)


def _chunks(z: Tensor, prototypes: Tensor, chunk_elements: int) -> Iterator[tuple[slice, Tensor]]:
    """Rows of tokens and their differences z_n - p_k as (K, n, d): contiguous sums over n and d are the fast ones."""
    step = max(1, chunk_elements // max(1, prototypes.numel()))
    for start in range(0, max(1, z.shape[0]), step):
        rows = slice(start, start + step)
        yield rows, z[rows] - prototypes[:, None]


def _join(parts: list[Tensor]) -> Tensor:
    return parts[0].contiguous() if len(parts) == 1 else torch.cat(parts)


class _SquaredDistances(torch.autograd.Function):
    """dz_n = 2 sum_k g_nk (z_n - p_k),  dp_k = -2 sum_n g_nk (z_n - p_k)."""

    @staticmethod
    def forward(ctx, z: Tensor, prototypes: Tensor, chunk: int) -> Tensor:
        ctx.save_for_backward(z, prototypes)
        ctx.chunk = chunk
        return _join([diff.square_().sum(-1).mT for _, diff in _chunks(z, prototypes, chunk)])

    @staticmethod
    def backward(ctx, grad: Tensor):
        z, prototypes = ctx.saved_tensors
        want_z, want_p, _ = ctx.needs_input_grad
        grad_z, grad_p = [], []
        flow = 2.0 * grad.mT  # K, N
        with torch.autocast(grad.device.type, enabled=False):
            for rows, diff in _chunks(z, prototypes, ctx.chunk):
                if want_z:
                    grad_z.append((diff * flow[:, rows, None]).sum(0))
                if want_p:
                    grad_p.append((flow[:, None, rows] @ diff).squeeze(1))
        return _join(grad_z) if want_z else None, -sum(grad_p) if want_p else None, None


class _Residuals(torch.autograd.Function):
    """dz_n = g_n,  dp_k = -sum_n q_nk g_n,  dq_nk = g_n . (z_n - p_k), for rows of q that sum to one."""

    @staticmethod
    def forward(ctx, z: Tensor, prototypes: Tensor, q: Tensor, chunk: int) -> Tensor:
        ctx.save_for_backward(z, prototypes, q)
        ctx.chunk = chunk
        weights = q.mT[..., None]  # K, N, 1
        return _join([diff.mul_(weights[:, rows]).sum(0) for rows, diff in _chunks(z, prototypes, chunk)])

    @staticmethod
    def backward(ctx, grad: Tensor):
        z, prototypes, q = ctx.saved_tensors
        want_z, want_p, want_q, _ = ctx.needs_input_grad
        grad_q = None
        if want_q:
            grad_q = _join([(diff * grad[rows]).sum(-1).mT for rows, diff in _chunks(z, prototypes, ctx.chunk)])
        with torch.autocast(grad.device.type, enabled=False):
            grad_p = -(q.mT @ grad) if want_p else None
        return grad if want_z else None, grad_p, grad_q, None
