"""Readouts: tokens (B, T, D) of a document to one vector (B, D'), all behind one interface.

    readout(tokens, mask, cls) -> (vector (B, D'), penalty)       mask True = real; penalty 0 but for DDCL

Slot Attention: Locatello et al., NeurIPS 2020, algorithm 1. The latent readout: cross-attention of the Perceiver, Jaegle
et al., ICML 2021, section 3. DDCL: Cirrincione and Kumar, arXiv 2604.03850, the readout.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ddcl_core.errors import InputError
from ddcl_core.initialization import initialize
from ddcl_core.losses import quantization_losses
from ddcl_core.metrics import lambda_max, token_covariance

READOUTS = ("DDCL", "DDCL with residual", "CLS", "mean", "max", "attention pooling", "Slot Attention", "Perceiver latents")
TEMPERATURE_SHARE = 1.0
"""T of the DDCL readouts over the critical temperature; chosen among 0.1, 0.3, 1 and 3 on two seeds that no table uses."""
Read = tuple[Tensor, Tensor]


def masked_mean(tokens: Tensor, mask: Tensor) -> Tensor:
    """Mean over the real tokens: (B, T, D), (B, T) -> (B, D); 0 for a document without any."""
    return (tokens * mask[..., None]).sum(1) / mask.sum(1, keepdim=True).clamp(min=1)


class _Simple(nn.Module):
    """CLS, mean and max: nothing to learn."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind

    def forward(self, tokens: Tensor, mask: Tensor, cls: Tensor) -> Read:
        nothing = tokens.new_zeros(())
        if self.kind == "CLS":
            return cls, nothing
        if self.kind == "mean":
            return masked_mean(tokens, mask), nothing
        highest = tokens.masked_fill(~mask[..., None], -math.inf).amax(1)
        return torch.where(mask.any(1, keepdim=True), highest, 0.0), nothing


class AttentionPooling(nn.Module):
    """One learned query: softmax_n(w . x_n / sqrt(D)) weighs the tokens."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.query = nn.Parameter(torch.zeros(dim))

    def forward(self, tokens: Tensor, mask: Tensor, cls: Tensor) -> Read:
        scores = (tokens @ self.query / math.sqrt(tokens.shape[-1])).masked_fill(~mask, -1e9)
        return torch.einsum("bt,btd->bd", scores.softmax(1) * mask, tokens), tokens.new_zeros(())


class SlotAttention(nn.Module):
    """K slots that compete for the tokens in `iterations` rounds; the vector is the mean of the slots."""

    def __init__(self, dim: int, slots: int, iterations: int = 3) -> None:
        super().__init__()
        self.iterations = iterations
        self.start = nn.Parameter(torch.randn(slots, dim) / math.sqrt(dim))
        self.to_q, self.to_k, self.to_v = (nn.Linear(dim, dim, bias=False) for _ in range(3))
        self.update = nn.GRUCell(dim, dim)
        self.norm_in, self.norm_slots = nn.LayerNorm(dim), nn.LayerNorm(dim)

    def forward(self, tokens: Tensor, mask: Tensor, cls: Tensor) -> Read:
        B, _, D = tokens.shape
        x = self.norm_in(tokens)
        k, v = self.to_k(x), self.to_v(x)
        slots = self.start.expand(B, -1, -1)
        for _ in range(self.iterations):
            logits = torch.einsum("bkd,btd->bkt", self.to_q(self.norm_slots(slots)), k) / math.sqrt(D)
            share = logits.softmax(1) * mask[:, None]  # slots compete for each token
            share = share / share.sum(2, keepdim=True).clamp(min=1e-8)
            read = torch.einsum("bkt,btd->bkd", share, v)
            slots = self.update(read.flatten(0, 1), slots.flatten(0, 1)).view(B, -1, D)
        return slots.mean(1), tokens.new_zeros(())


class PerceiverLatents(nn.Module):
    """K learned latents read the tokens by cross-attention once, with an MLP; the vector is their mean."""

    def __init__(self, dim: int, latents: int, heads: int = 4) -> None:
        super().__init__()
        self.latents = nn.Parameter(torch.randn(latents, dim) / math.sqrt(dim))
        self.attend = nn.MultiheadAttention(dim, heads if dim % heads == 0 else 1, batch_first=True)
        self.norm_in, self.norm_out = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, dim), nn.GELU(), nn.Linear(dim, dim))

    def forward(self, tokens: Tensor, mask: Tensor, cls: Tensor) -> Read:
        x = self.norm_in(tokens)
        seen = mask.clone()
        seen[:, 0] |= ~mask.any(1)  # a document without tokens attends to its padding, instead of nowhere
        latents = self.latents.expand(len(tokens), -1, -1)
        latents = latents + self.attend(latents, x, x, key_padding_mask=~seen, need_weights=False)[0]
        return (latents + self.mlp(self.norm_out(latents))).mean(1), tokens.new_zeros(())


class DDCLReadout(nn.Module):
    """Mean soft centroid of K prototypes; penalty L_q per dimension, which keeps the prototypes on the tokens.

    residual: mean of LayerNorm(token + soft centroid) instead, as `DDCLAttention` has it by default. The readout is then no
    sum over prototypes any more.

    Prototypes start on data (k-means++), and T is `share` of the critical temperature 2 lambda_max of the tokens.
    """

    def __init__(
        self, sample: Tensor, prototypes: int, seed: int, share: float = TEMPERATURE_SHARE, residual: bool = False
    ) -> None:
        super().__init__()
        self.residual = residual
        generator = torch.Generator().manual_seed(seed)
        self.prototypes = nn.Parameter(initialize(sample, prototypes, "kmeans++", 1.0, generator))
        self.temperature = float(share * 2.0 * lambda_max(token_covariance(sample)))

    def assign(self, tokens: Tensor, mask: Tensor) -> Tensor:
        """Mixture of each document: mean q over its real tokens, (B, K)."""
        losses = quantization_losses(tokens, self.prototypes, self.temperature, mask)
        return masked_mean(losses.assignments, mask)

    def forward(self, tokens: Tensor, mask: Tensor, cls: Tensor) -> Read:
        losses = quantization_losses(tokens, self.prototypes, self.temperature, mask)
        read = losses.centroids
        if self.residual:
            read = F.layer_norm(torch.where(mask[..., None], tokens, 0.0) + read, tokens.shape[-1:])
        return masked_mean(read, mask), losses.total / tokens.shape[-1]


def build_readout(name: str, dim: int, units: int, sample: Tensor, seed: int) -> nn.Module:
    """The readout called `name`, one of READOUTS. units: prototypes, slots or latents. sample: tokens (N, D) to start on.

    Raises InputError for another name.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        if name in ("DDCL", "DDCL with residual"):
            return DDCLReadout(sample, units, seed, residual=name != "DDCL")
        if name in ("CLS", "mean", "max"):
            return _Simple(name)
        if name == "attention pooling":
            return AttentionPooling(dim)
        if name == "Slot Attention":
            return SlotAttention(dim, units)
        if name == "Perceiver latents":
            return PerceiverLatents(dim, units)
    raise InputError(f"There is no readout called {name!r}; choose one of {', '.join(READOUTS)}.")


def cross_entropy(head: nn.Linear, vector: Tensor, labels: Tensor) -> Tensor:
    """Cross-entropy of a linear head on a readout."""
    return F.cross_entropy(head(vector), labels)
