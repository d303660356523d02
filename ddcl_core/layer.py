"""DDCLAttention: a prototype readout that replaces a CLS token or pooling on top of any encoder."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import torch
from torch import Tensor, nn

from ddcl_core.distances import check_temperature
from ddcl_core.errors import InputError
from ddcl_core.initialization import initialize
from ddcl_core.losses import QuantizationLosses, quantization_losses
from ddcl_core.optim import parameter_groups


@dataclass(frozen=True)
class DDCLOutput:
    """What `DDCLAttention` returns.

    tokens (B, T, dim) and pooled (B, dim) in the dtype of the input; assignments (B, T, H, K) in float32 or float64,
    zero for padding. losses: means over real tokens, summed over heads; its assignments and distances are
    (B, T, H, K), its centroids (B, T, dim).
    """

    tokens: Tensor
    pooled: Tensor
    assignments: Tensor
    losses: QuantizationLosses


class DDCLAttention(nn.Module):
    r"""Soft competition of K prototypes for every token, in each of H subspaces.

    With x_n^h in R^(dim/H) the h-th part of token n, p_k^h the prototypes of head h, and T the temperature:

        q_nk^h = softmax_k(-|x_n^h - p_k^h|^2 / T)          assignments
        mu_n   = concat_h sum_k q_nk^h p_k^h                soft centroid
        y_n    = LayerNorm(x_n + mu_n)                      tokens; without the residual LayerNorm(mu_n)
        pooled = mean of y_n over the real tokens           zero for a document of nothing but padding

    One pass, no iteration: cost and memory are linear in the number of tokens and of prototypes. Training and
    evaluation mode do the same (no dropout, no running statistics). To freeze the prototypes, call
    `layer.prototypes.requires_grad_(False)`; outputs and losses stay the same and gradients still reach the tokens.
    The losses are returned, not added anywhere: descend `out.losses.total` (or another) yourself.

    dim, num_prototypes, num_heads: sizes; num_heads must divide dim. temperature: T > 0, in the unit of squared
    tokens; assign `layer.temperature = 0.5` at any time; it is saved in the state dict and not rounded by `.half()`.
    residual, norm: as above. Prototypes start standard normal; call `initialize_from(tokens)` before training, since
    prototypes far from the tokens die.

    Shapes: tokens (B, T, dim); mask (B, T), True = real token; prototypes (H, K, dim / H).
    Raises InputError for sizes, temperatures, tokens and masks that do not fit.

    Source: Cirrincione and Kumar, Collapse-Free Prototype Readout Layer for Transformer Encoders, arXiv 2604.03850
    (2026), the layer and its multi-head form.
    """

    def __init__(
        self,
        dim: int,
        num_prototypes: int,
        num_heads: int = 1,
        temperature: float = 1.0,
        residual: bool = True,
        norm: bool = True,
    ) -> None:
        super().__init__()
        for name, value in (("dim", dim), ("num_prototypes", num_prototypes), ("num_heads", num_heads)):
            if not isinstance(value, int) or value < 1:
                raise InputError(f"{name} is {value!r}; it must be a whole number, 1 or more.")
        if dim % num_heads:
            raise InputError(f"num_heads is {num_heads} and does not divide dim = {dim}; choose a divisor of {dim}.")
        self.dim, self.num_prototypes, self.num_heads = dim, num_prototypes, num_heads
        self.residual = residual
        self.temperature = temperature
        self.prototypes = nn.Parameter(torch.randn(num_heads, num_prototypes, dim // num_heads))  # H, K, D
        self.norm = nn.LayerNorm(dim) if norm else nn.Identity()

    @property
    def temperature(self) -> float:
        """T. Setting it raises InputError unless it is a finite number above 0."""
        return self._temperature

    @temperature.setter
    def temperature(self, value: float) -> None:
        self._temperature = check_temperature(value)

    def forward(self, tokens: Tensor, mask: Tensor | None = None) -> DDCLOutput:
        """tokens (B, T, dim), mask (B, T) with True = real token (None: all are) -> `DDCLOutput`."""
        self._check(tokens, mask)
        batch, length, _ = tokens.shape
        if mask is not None:  # padding may hold anything, NaN included
            tokens = torch.where(mask.bool()[..., None], tokens, tokens.new_zeros(()))
        parts = tokens.unflatten(-1, (self.num_heads, -1))  # B, T, H, D
        losses = _sum_heads(
            [quantization_losses(parts[:, :, h], self.prototypes[h], self.temperature, mask)
             for h in range(self.num_heads)]
        )  # fmt: skip
        with torch.autocast(tokens.device.type, enabled=False):
            readout = losses.centroids + tokens if self.residual else losses.centroids  # B, T, dim; float32 or float64
            readout = self._normalize(readout)
            if mask is None:
                pooled = readout.mean(1)
            else:
                readout = readout * mask[..., None].to(readout.dtype)
                pooled = readout.sum(1) / mask.sum(1, keepdim=True).clamp(min=1)
        return DDCLOutput(readout.to(tokens.dtype), pooled.to(tokens.dtype), losses.assignments, losses)

    @torch.no_grad()
    def initialize_from(
        self,
        tokens: Tensor,
        mask: Tensor | None = None,
        method: str = "scaled",
        scale: float = 0.6,
        generator: torch.Generator | None = None,
    ) -> "DDCLAttention":
        """Place the prototypes of every head among the real tokens, as `initialize` does, and return the layer.

        tokens (N, dim) or (B, T, dim), mask (N,) or (B, T). In distributed training call it on one rank and broadcast.
        Raises InputError as `initialize` does.
        """
        if tokens.shape[-1:] != (self.dim,) or (mask is not None and mask.shape != tokens.shape[:-1]):
            raise InputError(
                f"Tokens of shape {tuple(tokens.shape)}{_and_mask(mask)} do not fit a layer of dim {self.dim}."
                " Give tokens (B, T, dim) and a mask (B, T)."
            )
        real = tokens.reshape(-1, self.dim) if mask is None else tokens[mask.bool()]  # N, dim
        for bank, part in zip(self.prototypes, real.unflatten(-1, (self.num_heads, -1)).unbind(1), strict=True):
            bank.copy_(initialize(part, self.num_prototypes, method, scale, generator))
        return self

    def parameter_groups(self, encoder: nn.Module, lr_prototypes: float, epsilon: float) -> list[dict[str, Any]]:
        """Two groups for any torch optimiser: the encoder at epsilon * lr_prototypes, the prototypes at lr_prototypes.

        The LayerNorm of this layer moves with the encoder. The encoder may contain this layer; nothing occurs twice.
        """
        slow = [*encoder.parameters(), *self.norm.parameters()]
        return parameter_groups(slow, self.prototypes, lr_prototypes, epsilon)

    def get_extra_state(self) -> Tensor:
        """T for the state dict, as a float64 tensor that also safetensors can hold."""
        return torch.tensor(self.temperature, dtype=torch.float64)

    def set_extra_state(self, state: Tensor) -> None:
        """T from a state dict."""
        self.temperature = float(state)

    def extra_repr(self) -> str:
        return (
            f"dim={self.dim}, num_prototypes={self.num_prototypes}, num_heads={self.num_heads}, "
            f"temperature={self.temperature:g}, residual={self.residual}"
        )

    def _normalize(self, x: Tensor) -> Tensor:
        """LayerNorm in the dtype of x, so that a float64 input keeps its digits and half weights do no harm."""
        if not isinstance(self.norm, nn.LayerNorm):
            return x
        weight, bias = self.norm.weight.to(x.dtype), self.norm.bias.to(x.dtype)
        return nn.functional.layer_norm(x, self.norm.normalized_shape, weight, bias, self.norm.eps)

    def _check(self, tokens: Tensor, mask: Tensor | None) -> None:
        fits = tokens.dim() == 3 and tokens.shape[-1] == self.dim and tokens.is_floating_point() and tokens.numel() > 0
        if not fits or (mask is not None and mask.shape != tokens.shape[:2]):
            raise InputError(
                f"Tokens of shape {tuple(tokens.shape)}, {tokens.dtype}{_and_mask(mask)} do not fit this layer; "
                f"give floating-point tokens (B, T, {self.dim}) with B, T >= 1 and a mask (B, T)."
            )


def _and_mask(mask: Tensor | None) -> str:
    return "" if mask is None else f" with a mask of shape {tuple(mask.shape)}"


def _sum_heads(heads: list[QuantizationLosses]) -> QuantizationLosses:
    """0-d losses are added; assignments and distances (B, T, K) stacked to (B, T, H, K); centroids joined along dim."""
    join = {"assignments": lambda xs: torch.stack(xs, -2), "distances": lambda xs: torch.stack(xs, -2),
            "centroids": lambda xs: torch.cat(xs, -1)}  # fmt: skip
    return QuantizationLosses(
        **{f.name: join.get(f.name, sum)([getattr(head, f.name) for head in heads]) for f in fields(QuantizationLosses)}
    )
