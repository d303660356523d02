"""What a code costs, and what it buys: bits per pixel and rate-distortion points."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ddcl_core.codebook.config import CELL, CodebookConfig
from ddcl_core.codebook.images import ImageSet
from ddcl_core.errors import InputError


def bits_per_pixel(num_codes: int, usage: np.ndarray | None = None, cell: int = CELL) -> float:
    """Bits a pixel when each cell of cell x cell pixels is sent as one index.

    log2 K / cell^2 at a fixed length; with usage (K,), shares that sum to one, their entropy instead of log2 K, which
    an entropy coder approaches. Raises InputError for K or cell below 1.
    """
    if num_codes < 1 or cell < 1:
        raise InputError(f"There are {num_codes} codes in cells of {cell} pixels; both must be 1 or more.")
    if usage is None:
        return math.log2(num_codes) / cell**2
    u = np.asarray(usage, dtype=np.float64)
    u = u[u > 0]
    return float(max(0.0, -(u * np.log2(u)).sum())) / cell**2


@dataclass(frozen=True)
class RatePoint:
    """One trained codebook: its K, bits a pixel (fixed length, entropy), and errors (MSE, pixels in [0, 1])."""

    num_codes: int
    bits_per_pixel: float
    bits_per_pixel_entropy: float
    error: float
    error_hardened: float
    health: str


def rate_distortion(
    config: CodebookConfig,
    sizes: Sequence[int] = (4, 16, 64, 256),
    images: ImageSet | None = None,
    progress: Callable[[float, str], None] | None = None,
) -> list[RatePoint]:
    """Train `config` to its `max_steps` once for each K in `sizes`; distortion after argmax is what the rate pays for.

    Raises InputError as `CodebookRun` does.
    """
    from ddcl_core.codebook.run import CodebookRun

    points = []
    for done, size in enumerate(sizes):
        if progress is not None:
            progress(done / len(sizes), f"Training with {size} codes")
        run = CodebookRun(config.with_(num_codes=size, frame_every=config.max_steps), images)
        while not run.finished:
            run.advance(1e6)
        m = run.last_frame.metrics
        points.append(
            RatePoint(size, m["bits_per_pixel"], m["bits_per_pixel_entropy"], m["error"], m["error_hardened"],
                      run.health.key)
        )  # fmt: skip
    return points
