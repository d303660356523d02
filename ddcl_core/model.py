"""The trainable parts of a run in one module, and the objective that they descend."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ddcl_core.config import RunConfig
from ddcl_core.data.scene import TokenScene
from ddcl_core.encoders import build_encoder
from ddcl_core.errors import InputError
from ddcl_core.initialization import initialize
from ddcl_core.losses import QuantizationLosses, objective_value, quantization_losses


@dataclass(frozen=True)
class Evaluation:
    """One forward pass: tokens z (N, d) without padding, their losses, and the scalar that is descended.

    anchor: the task's loss, 0 without one. accuracy: share of documents that the head classifies right, or nan.
    """

    z: Tensor
    losses: QuantizationLosses
    loss: Tensor
    anchor: Tensor
    accuracy: Tensor


class RunModel(nn.Module):
    """Encoder, prototypes P (K, d) and, with an anchor, a linear head.

    loss = objective_weight * objective(z, P, T) + anchor_weight * anchor, where the anchor is the cross-entropy of a
    linear head on the mean soft centroid of each document, or mean_n |x_n - head(mu_n)|^2, the input
    tokens x_n reconstructed from the soft centroids, in the unit of L_q. The head learns at the prototypes' rate: both are readout.
    All parameters are drawn on the CPU, so that a seed means the same on every device.
    """

    def __init__(self, config: RunConfig, scene: TokenScene) -> None:
        super().__init__()
        self.config = config
        tokens = torch.from_numpy(scene.tokens).float()  # B, T, d
        mask = torch.from_numpy(scene.mask).bool()  # B, T
        labels = torch.from_numpy(scene.labels).long()  # B
        dim = tokens.shape[-1]
        self.register_buffer("tokens", tokens, persistent=False)
        self.register_buffer("mask", mask, persistent=False)
        self.register_buffer("labels", labels, persistent=False)
        self._all_real = bool(mask.all())  # asked once: on a GPU the question costs a wait at every step
        self.encoder = build_encoder(config.encoder, dim, config.seed)
        generator = torch.Generator().manual_seed(config.seed)
        with torch.no_grad():
            start = self.encode()
        centres = initialize(start, config.num_prototypes, config.initialization, config.init_scale, generator)
        self.prototypes = nn.Parameter(centres.clone())
        self.head = self._build_head(config.anchor, dim, len(scene.class_names), generator)
        self.head_rate = config.lr_prototypes
        if config.anchor == "reconstruction":
            self.head_rate = min(self.head_rate, 0.5 / (max(config.anchor_weight, 1e-6) * (1 + dim)))

    def prototype_parameters(self) -> list[nn.Parameter]:
        """What learns at the prototypes' rate beside the head."""
        return [self.prototypes]

    @staticmethod
    def _build_head(anchor: str, dim: int, classes: int, generator: torch.Generator) -> nn.Linear | None:
        if anchor == "none":
            return None
        if anchor == "classification" and classes < 2:
            raise InputError(
                f"The classification task needs documents of at least two classes, and these have {classes}; "
                "choose another task or documents with labels."
            )
        head = nn.Linear(dim, classes if anchor == "classification" else dim)
        bound = 1 / math.sqrt(dim)
        with torch.no_grad():
            head.bias.zero_()
            if anchor == "reconstruction":
                nn.init.eye_(head.weight)
            else:
                head.weight.uniform_(-bound, bound, generator=generator)
        return head

    def encode(self, documents: Tensor | None = None) -> Tensor:
        """Encoded tokens of the given documents (all by default), padding left out: (N, d)."""
        tokens, mask = self._select(documents)
        return self._flat(self.encoder(tokens, None if self._all_real else mask), mask)

    def _select(self, documents: Tensor | None) -> tuple[Tensor, Tensor]:
        return (self.tokens, self.mask) if documents is None else (self.tokens[documents], self.mask[documents])

    def _flat(self, values: Tensor, mask: Tensor) -> Tensor:
        values = values.flatten(0, 1)  # B, T, d -> B T, d
        return values if self._all_real else values[mask.flatten()]  # N, d

    def evaluate(self, temperature: float, documents: Tensor | None = None, *, train_encoder: bool = True) -> Evaluation:
        """Forward pass at `temperature`; without `train_encoder` no gradient reaches the encoder."""
        with torch.set_grad_enabled(train_encoder and torch.is_grad_enabled()):
            z = self.encode(documents)
        losses = quantization_losses(z, self.prototypes, temperature)
        loss = self.config.objective_weight * objective_value(losses, self.config.objective)
        anchor, accuracy = self._anchor(losses.centroids, documents)
        if self.head is not None:
            loss = loss + self.config.anchor_weight * anchor
        return Evaluation(z, losses, loss, anchor, accuracy)

    def _anchor(self, centroids: Tensor, documents: Tensor | None) -> tuple[Tensor, Tensor]:
        nothing = centroids.new_zeros(()), centroids.new_full((), math.nan)
        if self.head is None:
            return nothing
        tokens, mask = self._select(documents)
        if self.config.anchor == "reconstruction":
            return (self.head(centroids) - self._flat(tokens, mask)).square().sum(-1).mean(), nothing[1]
        owner = torch.arange(len(mask), device=mask.device)[:, None].expand_as(mask)[mask]  # N: document of each token
        count = mask.sum(1).clamp(min=1)[:, None]
        pooled = centroids.new_zeros(len(mask), centroids.shape[-1]).index_add(0, owner, centroids) / count  # B, d
        logits = self.head(pooled)
        labels = self.labels if documents is None else self.labels[documents]
        return F.cross_entropy(logits, labels), (logits.argmax(-1) == labels).float().mean()
