"""Which codes an epoch used: counted over all its batches, since one batch says little."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ddcl_core.metrics import dead_prototypes, effective_prototypes


@dataclass(frozen=True)
class Usage:
    """Usage (K,) as shares of the argmax, what share of codes was chosen at all, perplexity exp(H) and dead codes."""

    shares: np.ndarray
    used: float
    perplexity: float
    dead: int

    @classmethod
    def of(cls, counts: np.ndarray) -> "Usage":
        """From counts (K,); NaN and zeros when nothing was counted."""
        total = counts.sum()
        if not total:
            return cls(np.zeros(len(counts)), float("nan"), float("nan"), len(counts))
        shares = counts / total
        return cls(shares, float((counts > 0).mean()), effective_prototypes(shares), dead_prototypes(shares))


class EpochMeter:
    """Counts of nearest codes and sums of q, over the epoch so far and over the last whole epoch.

    state: float64 (4, K) on the training device: counts and weights so far, counts and weights of the last epoch.
    rows: one (used share, perplexity, dead codes) for every finished epoch.
    """

    def __init__(self, num_codes: int, device: torch.device) -> None:
        kind = torch.float32 if device.type == "mps" else torch.float64
        self.state = torch.zeros(4, num_codes, dtype=kind, device=device)
        self.batches = 0
        self.rows: list[tuple[float, float, float]] = []

    def add(self, counts: Tensor, weights: Tensor) -> None:
        """Add a batch: counts, weights (K,) of a `CodebookOutput`."""
        self.state[0] += counts
        self.state[1] += weights
        self.batches += 1

    def close(self) -> None:
        """End the epoch."""
        usage = Usage.of(self.host()[0])
        self.rows.append((usage.used, usage.perplexity, float(usage.dead)))
        self.state[2:] = self.state[:2].clone()
        self.state[:2] = 0
        self.batches = 0

    def host(self) -> np.ndarray:
        """The state as float64 numpy (4, K)."""
        return self.state.cpu().double().numpy()
