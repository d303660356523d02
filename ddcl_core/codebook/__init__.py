"""Codebooks for image autoencoders: soft DDCL quantization beside hard vector quantization, behind one interface.

    config = CodebookConfig(codebook="soft", num_codes=64)
    run = CodebookRun(config)                    # trains a small convolutional VQ-VAE on image patches
    frames = run.advance(budget_ms=150)          # numpy frames; epsilon and T may change between steps
    run.health                                   # one verdict from usage, separation and reconstruction error

Importing this package is cheap; PyTorch, Pillow and scikit-learn are loaded when a name that needs them is used.
Sources: Cirrincione and Kumar, arXiv 2604.03850 (2026); van den Oord et al., arXiv 1711.00937 (2017).
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ddcl_core.codebook.config import CODEBOOKS, IMAGE_KINDS, CodebookConfig, ImageConfig
from ddcl_core.codebook.frame import CODEBOOK_METRICS, CodebookFrame
from ddcl_core.codebook.health import VERDICTS, Health, codebook_health

if TYPE_CHECKING:
    from ddcl_core.codebook.base import Codebook, CodebookOutput
    from ddcl_core.codebook.hard import HardCodebook
    from ddcl_core.codebook.images import ImageSet, load_images
    from ddcl_core.codebook.own_images import read_images
    from ddcl_core.codebook.rate import RatePoint, bits_per_pixel, rate_distortion
    from ddcl_core.codebook.run import CodebookRun
    from ddcl_core.codebook.soft import SoftCodebook
    from ddcl_core.codebook.vqvae import VQVAE

_LAZY = {
    "Codebook": "base",
    "CodebookOutput": "base",
    "CodebookRun": "run",
    "HardCodebook": "hard",
    "ImageSet": "images",
    "RatePoint": "rate",
    "SoftCodebook": "soft",
    "VQVAE": "vqvae",
    "bits_per_pixel": "rate",
    "load_images": "images",
    "read_images": "own_images",
    "rate_distortion": "rate",
}

__all__ = [
    "CODEBOOKS", "CODEBOOK_METRICS", "IMAGE_KINDS", "VERDICTS", "CodebookConfig", "CodebookFrame", "Health",
    "ImageConfig", "codebook_health", *_LAZY,
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'ddcl_core.codebook' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"ddcl_core.codebook.{_LAZY[name]}"), name)
    globals()[name] = value
    return value
