"""What is seen of a codebook run at one step, measured on the images kept apart."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from ddcl_core.codebook.epoch import Usage
from ddcl_core.codebook.frame import CODEBOOK_METRICS, CodebookFrame
from ddcl_core.codebook.health import codebook_health
from ddcl_core.codebook.rate import bits_per_pixel
from ddcl_core.metrics import (
    critical_temperature_from,
    lambda_max,
    separation_min,
    token_covariance,
    token_spread,
    weighted_separation,
)

if TYPE_CHECKING:
    from ddcl_core.codebook.run import CodebookRun


@torch.no_grad()
def capture(run: "CodebookRun") -> CodebookFrame:
    """Encode, quantize softly and hard, and decode the images kept apart; nothing of the run changes."""
    model, config, x = run.model, run.config, run.held_out
    model.eval()
    z = model.encode(x)  # E, h, w, d
    coded = model.codebook(z)
    shown = config.shown_images
    soft = model.decode(coded.quantized)
    if config.codebook == "soft":
        hard = model.decode(model.codebook.lookup(coded.indices).to(z.dtype))
    else:
        hard = soft
    errors = torch.stack(
        [(y - x).square().mean() for y in (soft, hard)] + [coded.total, coded.ols, coded.variance]
    ).tolist()
    covariance = token_covariance(z)
    so_far, last, now, weight = _usages(run)
    weighted = now.used
    if config.codebook == "soft":
        weighted = float((weight >= 0.1 / config.num_codes).mean())
    codes = _host(model.codebook.codes)
    spread = token_spread(covariance)
    apart = weighted_separation(codes, now.shares)
    # An untrained encoder's outputs lie close together and a collapsing one's do again: the wider cloud is the scale.
    scale = math.sqrt(2.0 * max(spread, run.initial_spread)) if math.isfinite(spread) else math.nan
    values = {
        "epoch": float(len(run.epochs.rows)), "epsilon": run.epsilon,
        "temperature": run.temperature if config.codebook == "soft" else math.nan,
        "train_error": run.train_error, "error": errors[0], "error_hardened": errors[1],
        "error_relative": errors[0] / run.blank_error, "error_hardened_relative": errors[1] / run.blank_error,
        "L_q": errors[2], "L_OLS": errors[3], "V": errors[4],
        "weighted_separation": apart, "separation_relative": apart / scale if scale else 0.0,
        "separation_min": separation_min(codes), "token_spread": spread,
        "critical_temperature": critical_temperature_from(lambda_max(covariance), config.objective)
        if config.codebook == "soft" else math.nan,
        "used_epoch": so_far.used, "used_last": last.used, "perplexity_epoch": so_far.perplexity,
        "perplexity_last": last.perplexity, "dead_epoch": float(so_far.dead), "dead_last": float(last.dead),
        "used": now.used, "used_weight": weighted,
        "bits_per_pixel": bits_per_pixel(config.num_codes),
        "bits_per_pixel_entropy": bits_per_pixel(config.num_codes, now.shares),
    }  # fmt: skip
    health = codebook_health(
        now.used, values["separation_relative"], values["error_relative"], values["error_hardened_relative"], weighted
    )
    return CodebookFrame(
        step=run.step,
        epoch=len(run.epochs.rows),
        epsilon=run.epsilon,
        temperature=run.temperature,
        codes=codes,
        outputs=_host(z.reshape(-1, config.dim)[run._sample]),
        output_codes=coded.indices.reshape(-1)[run._sample].cpu().numpy().astype(np.uint16),
        usage_epoch=so_far.shares.astype(np.float32),
        usage_last=last.shares.astype(np.float32),
        usage=now.shares.astype(np.float32),
        weight=weight,
        reconstructions=_picture(soft[:shown]),
        reconstructions_hardened=_picture(hard[:shown]),
        tiles=_picture(model.tiles()),
        index_maps=coded.indices.cpu().numpy().astype(np.uint16),
        metrics={name: values[name] for name in CODEBOOK_METRICS},
        health=health,
        status=run.status,
        status_step=run.status_step,
    )


def _usages(run: "CodebookRun") -> tuple[Usage, Usage, Usage, np.ndarray]:
    """Usage over the epoch so far, over the last whole one, and the one a verdict rests on, with its weights (K,).

    A verdict rests on the present epoch once half of it was seen, else on the last one; before there is any, on the
    first training images as they stand.
    """
    counts, weights, last_counts, last_weights = run.epochs.host()
    so_far, last = Usage.of(counts), Usage.of(last_counts)
    if run.epochs.rows and run.epochs.batches < run.steps_per_epoch / 2:
        now, shares = last, last_weights
    elif run.epochs.batches:
        now, shares = so_far, weights
    else:
        coded = run.model.codebook(run.model.encode(run.train[: 4 * run.config.batch_images]))
        now, shares = Usage.of(coded.counts.double().cpu().numpy()), coded.weights.double().cpu().numpy()
    return so_far, last, now, (shares / max(1e-12, shares.sum())).astype(np.float32)


def _host(values: Tensor) -> np.ndarray:
    return values.detach().float().cpu().numpy().copy()


def _picture(x: Tensor) -> np.ndarray:
    """(B, C, H, W) in [0, 1], clipped -> uint8 (B, H, W, C)."""
    x = x.nan_to_num(0.5).clamp(0.0, 1.0).mul(255.0).round().to(torch.uint8)
    return x.permute(0, 2, 3, 1).cpu().numpy().copy()
