"""A small convolutional autoencoder around any codebook."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from ddcl_core.codebook.base import Codebook, CodebookOutput
from ddcl_core.codebook.config import CELL, LATENT_NORMS
from ddcl_core.errors import InputError


class VQVAEOutput(NamedTuple):
    """reconstruction (B, C, H, W) in the range of the input; codebook: `CodebookOutput`, leading shape (B, h, w)."""

    reconstruction: Tensor
    codebook: CodebookOutput


class VQVAE(nn.Module):
    """Encoder, codebook, decoder: x (B, C, H, W) -> z (B, h, w, d) -> quantized -> x' (B, C, H, W), h = H / 4.

    Two strided convolutions and one residual block each way; no dropout. latent_norm: 'none', 'layer' (|z|^2 = d for
    every output) or 'batch' (variance 1 in every coordinate; evaluation mode uses running averages). Without 'batch',
    training and evaluation mode differ in the codebook only. Pixels are in [0, 1].
    Raises InputError for images whose sides are not multiples of 4 or whose channels do not fit.
    Source of the shape: van den Oord et al., arXiv 1711.00937 (2017), section 4.1, made smaller.
    """

    def __init__(
        self, codebook: Codebook, channels: int = 3, hidden: int = 32, latent_norm: str = "none", seed: int = 0
    ) -> None:
        super().__init__()
        self.channels = channels
        devices = [torch.cuda.current_device()] if torch.cuda.is_available() else []
        with torch.random.fork_rng(devices):  # the same weights for the same seed, and nobody else's numbers moved
            torch.manual_seed(seed)
            self.encoder = nn.Sequential(
                nn.Conv2d(channels, hidden, 4, 2, 1), nn.ReLU(), nn.Conv2d(hidden, hidden, 4, 2, 1),
                ResidualBlock(hidden), nn.ReLU(), nn.Conv2d(hidden, codebook.dim, 1),
            )  # fmt: skip
            self.decoder = nn.Sequential(
                nn.Conv2d(codebook.dim, hidden, 3, 1, 1), ResidualBlock(hidden), nn.ReLU(),
                nn.ConvTranspose2d(hidden, hidden, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(hidden, channels, 4, 2, 1),
            )  # fmt: skip
        if latent_norm not in LATENT_NORMS:
            raise InputError(f"latent_norm is {latent_norm!r}; choose one of {', '.join(LATENT_NORMS)}.")
        self.norm = {
            "none": nn.Identity(),
            "layer": nn.LayerNorm(codebook.dim, elementwise_affine=False),
            "batch": nn.BatchNorm1d(codebook.dim, affine=False),
        }[latent_norm]
        self.codebook = codebook

    def encode(self, x: Tensor) -> Tensor:
        """x (B, C, H, W) in [0, 1] -> z (B, h, w, d)."""
        if x.dim() != 4 or x.shape[1] != self.channels or x.shape[2] % CELL or x.shape[3] % CELL:
            raise InputError(
                f"The images have shape {tuple(x.shape)}; they must be (B, {self.channels}, H, W) with H and W "
                f"multiples of {CELL}."
            )
        z = self.encoder(x - 0.5).permute(0, 2, 3, 1)  # B, d, h, w -> B, h, w, d
        return self.norm(z.flatten(0, 2)).view(z.shape)

    def decode(self, quantized: Tensor) -> Tensor:
        """quantized (B, h, w, d) -> (B, C, H, W), not clipped."""
        return self.decoder(quantized.permute(0, 3, 1, 2)) + 0.5  # B, h, w, d -> B, d, h, w

    def forward(self, x: Tensor) -> VQVAEOutput:
        """x (B, C, H, W) in [0, 1] -> `VQVAEOutput`."""
        output = self.codebook(self.encode(x))
        return VQVAEOutput(self.decode(output.quantized), output)

    @torch.no_grad()
    def tiles(self, chunk: int = 256) -> Tensor:
        """What the decoder makes of each code alone: (K, C, 8, 8), the middle of a field of 4 x 4 equal codes."""
        parts = [
            self.decode(c[:, None, None].expand(-1, 4, 4, -1))[..., 4:12, 4:12]
            for c in self.codebook.codes.split(chunk)
        ]
        return torch.cat(parts)


class ResidualBlock(nn.Module):
    """x + conv1x1(relu(conv3x3(relu(x))))."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.ReLU(), nn.Conv2d(channels, channels, 3, 1, 1), nn.ReLU(), nn.Conv2d(channels, channels, 1)
        )

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, H, W) -> (B, C, H, W)."""
        return x + self.body(x)
