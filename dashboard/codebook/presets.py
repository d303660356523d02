"""The Codebook page's examples: what runs, what to watch. `tests/codebook/test_codebook_presets.py` checks them.

Nothing here needs torch.
"""

from __future__ import annotations

from dataclasses import replace

from dashboard.presets import Pair, Panel, Preset
from ddcl_core.codebook.config import CodebookConfig
from ddcl_core.config import ScheduleConfig

COOLING = ScheduleConfig("exponential", 2.0, 0.13, 128)
SOFT = CodebookConfig(
    codebook="soft",
    objective="F",
    loss_weight=0.1,
    epsilon=0.05,
    lr_codes=0.02,
    lr_decoder=1e-3,
    latent_norm="batch",
    initialization="scaled",
    init_scale=0.3,
    dim=4,
    schedule=COOLING,
    frame_every=4,
    max_steps=320,
)
"""The best that `python -m benchmarks.codebook_search` found: no code lost, errors like those of hard codebooks."""
HARD = replace(
    SOFT, codebook="hard", loss_weight=1.0, epsilon=1.0, lr_codes=2e-3, lr_decoder=2e-3, initialization="kmeans++",
    init_scale=1.0,
)  # fmt: skip
"""The same encoder with hard vector quantization: codes placed on outputs, one learning rate for all, as is usual."""

WIDE = replace(HARD, dim=16, latent_norm="none")
REVIVED = replace(WIDE, codebook="ema", revive_below=1.0)
MIXED = replace(SOFT, loss_weight=0.02, epsilon=0.1, lr_codes=0.04, lr_decoder=2e-3).with_(temperature=4.0)
PURER = ScheduleConfig("exponential", 4.0, 0.1, 240)


CODEBOOK_PRESETS: tuple[Preset, ...] = (
    Preset(
        "alive",
        "Healthy soft codebook",
        "Same images, encoder, seed and budget. Left, the best soft codebook of a search: cooled from T = 2 to 0.13 "
        "it keeps all or nearly all codes in use. Right, hard quantization loses about half of them, and its pictures "
        "come back about as well. No soft codebook was found that uses every code and beats hard VQ on every seed.",
        (Pair("", Panel("Soft, cooled", SOFT), Panel("Hard VQ", HARD)),),
        steps_per_second=16.0,
    ),
    Preset(
        "dead",
        "Dead codes in hard VQ",
        "Sixteen numbers a code, hard on both sides. Left, plain: most of the 64 codes are never chosen again, since "
        "only a code that is chosen learns. Right, codes follow moving averages, and one that falls out of use is put "
        "onto an output of the batch: about nine in ten are in use within 200 steps.",
        (Pair("", Panel("Hard VQ", WIDE), Panel("Moving averages with revival", REVIVED)),),
        steps_per_second=16.0,
    ),
    Preset(
        "hot",
        "Soft but too hot: usage deceives",
        "Left, T = 10 throughout, above T_c: every code carries its even share of every output, so by weight usage is "
        "100 %. But all codes are the same, separation is near 0 and the pictures are grey. Full usage is thermal "
        "collapse here, not health. Right, the same start, cooled from T = 2.",
        (Pair("", Panel("Hot, T = 10", SOFT.with_(temperature=10.0)), Panel("Cooled", SOFT)),),
        steps_per_second=16.0,
    ),
    Preset(
        "cold",
        "Soft but too cold",
        "Left, T = 0.02 from the start: each output sees its nearest code alone, and the soft codebook loses codes as "
        "a hard one does. Right, cooled from T = 2 to 0.13: early on every code is pulled along, so all find a place.",
        (Pair("", Panel("Cold, T = 0.02", SOFT.with_(temperature=0.02)), Panel("Cooled", SOFT)),),
        steps_per_second=16.0,
    ),
    Preset(
        "argmax",
        "A mixture is not yet a code",
        "A weak codebook loss, and T = 4 held on the left: pictures come back well from mixtures of codes, but with "
        "one code a cell the error is twice as large or more. Watch the thin line of the error chart, the error after "
        "argmax. Right, T falls from 4 to 0.1 and the gap closes.",
        (Pair("", Panel("Held at T = 4", MIXED), Panel("Cooled to 0.1", replace(MIXED, schedule=PURER))),),
        steps_per_second=16.0,
    ),
)


def codebook_preset(key: str) -> Preset:
    """The example of this key. Raises KeyError when there is none."""
    return next(p for p in CODEBOOK_PRESETS if p.key == key)
