"""What a codebook run shows of one step. Needs numpy, not torch."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ddcl_core.codebook.health import Health

CODEBOOK_METRICS = (
    "epoch", "epsilon", "temperature", "train_error", "error", "error_hardened", "error_relative",
    "error_hardened_relative", "L_q", "L_OLS", "V", "weighted_separation", "separation_relative", "separation_min",
    "token_spread", "critical_temperature", "used_epoch", "used_last", "perplexity_epoch", "perplexity_last",
    "dead_epoch", "dead_last", "used", "used_weight", "bits_per_pixel", "bits_per_pixel_entropy",
)  # fmt: skip
"""The keys of a frame's metrics, in order.

Errors are mean squared errors of pixels in [0, 1] on the images kept apart, as the codebook is used and after argmax;
`..._relative` divides by the mean image's error; train_error is that of the last training batch. L_q, L_OLS, V,
token_spread and critical_temperature have the unit of z squared. used_...: share of codes chosen at least once;
dead_...: codes with less than a tenth of an even share; ..._epoch: the epoch so far; ..._last: the last whole epoch
(NaN before it ends); used: what the verdict rests on, the epoch so far once half of it was seen;
used_weight: share of codes that carry at least a tenth of an even share of q, which is `used` for a hard codebook.
bits_per_pixel: log2 K over the pixels of a cell; ..._entropy: the usage's entropy instead, what an entropy coder needs.
"""


@dataclass(frozen=True)
class CodebookFrame:
    """One captured step; every array is a copy, so that a frame never changes.

    step, epoch: updates and whole epochs made so far. epsilon, temperature: in force at this step.
    codes (K, d). outputs (S, d): the encoder's outputs at a fixed sample of places; output_codes (S,): nearest code.
    usage_epoch, usage_last (K,): share of training outputs whose nearest code is k, over the epoch so far and over the
    last whole one; zeros before anything was counted. usage (K,): the one of both that the verdict rests on: the
    present epoch's once half of it was seen. weight (K,): mean of q_nk over the same outputs; equals usage when hard.
    reconstructions, reconstructions_hardened (n, H, W, C) uint8: the first n of the images kept apart, as the codebook
    is used and after argmax; their originals never change and stand in `CodebookRun.sample_info()`.
    tiles (K, 8, 8, C) uint8: what the decoder makes of each code alone.
    index_maps (E, h, w) uint16: the code of every cell of all E images kept apart; a cell is 4 x 4 pixels.
    metrics: the values of CODEBOOK_METRICS. health: the verdict. status: 'training' or 'diverged', status_step when it
    became so; a diverged frame keeps the pictures of the last finite one.
    """

    step: int
    epoch: int
    epsilon: float
    temperature: float
    codes: np.ndarray
    outputs: np.ndarray
    output_codes: np.ndarray
    usage_epoch: np.ndarray
    usage_last: np.ndarray
    usage: np.ndarray
    weight: np.ndarray
    reconstructions: np.ndarray
    reconstructions_hardened: np.ndarray
    tiles: np.ndarray
    index_maps: np.ndarray
    metrics: dict[str, float] = field(default_factory=dict)
    health: Health | None = None
    status: str = "training"
    status_step: int | None = None
