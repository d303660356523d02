"""Is a codebook alive? One verdict from three numbers. Needs neither torch nor numpy.

Usage alone deceives: a codebook that is too hot uses every code, and every code is the same. So the verdict takes
usage, separation and reconstruction error together, and the same rule serves soft and hard codebooks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

USED_LIMIT = 0.9
"""Share of codes that must be used over an epoch."""
SEPARATION_LIMIT = 0.1
"""Least weighted separation, in units of the root mean square distance of two encoder outputs, sqrt(2 tr C)."""
ERROR_LIMIT = 0.5
"""Greatest reconstruction error, in units of the error of a blank picture (the mean image)."""

VERDICTS = {
    "alive": "alive",
    "dead": "dead codes",
    "thermal": "all the same: thermal collapse",
    "collapsed": "collapsed: few codes, and those the same",
    "close": "codes lie close together",
    "soft_only": "alive only while soft",
    "poor": "does not reconstruct (yet)",
    "diverged": "diverged",
}
"""Every verdict's key and its words."""


@dataclass(frozen=True)
class Health:
    """A verdict (a key of `VERDICTS`), its words, one sentence of why, and the numbers it came from."""

    key: str
    words: str
    why: str
    usage: float
    separation: float
    error: float
    hardened_error: float

    @property
    def alive(self) -> bool:
        """Whether the verdict is 'alive'."""
        return self.key == "alive"


def codebook_health(
    usage: float,
    separation: float,
    error: float,
    hardened_error: float | None = None,
    weight_usage: float | None = None,
) -> Health:
    """The verdict on a codebook, soft or hard; the first line that applies counts.

        a number is not finite                              diverged
        separation < 0.1, error > 0.5, usage or weight_usage >= 0.9      all the same: thermal collapse
        separation < 0.1, error > 0.5                       collapsed: few codes, and those the same
        usage < 0.9                                         dead codes
        separation < 0.1                                    codes lie close together
        error > 0.5                                         does not reconstruct (yet)
        hardened_error > 0.5                                alive only while soft
        otherwise                                           alive

    usage: share of codes chosen at least once over an epoch, 0..1 (a soft codebook chooses by argmax).
    separation: weighted separation over sqrt(2 tr C), C the covariance of the encoder's outputs.
    error, hardened_error: mean squared reconstruction error over that of the mean image, as the codebook is used and
    after argmax; a hard codebook has one error, so the second may be left out.
    weight_usage: soft only; share of the codes that carry weight. Where all codes are the same, which one argmax names
    is chance, so that usage says little and the weights say that every code takes part.
    """
    hardened = error if hardened_error is None else hardened_error
    numbers = (usage, separation, error, hardened)
    key, why = _judge(*numbers, weight_usage=usage if weight_usage is None else weight_usage)
    return Health(key, VERDICTS[key], why, *map(float, numbers))


def _judge(usage: float, separation: float, error: float, hardened: float, weight_usage: float) -> tuple[str, str]:
    used = f"{100 * usage:.0f} % of the codes are used"
    apart, off = f"separation {separation:.2f}", f"error {error:.2f}"
    if not all(map(math.isfinite, (usage, separation, error, hardened))):
        return "diverged", "A number is no longer finite; lower the learning rates or raise the temperature."
    together, blank = separation < SEPARATION_LIMIT, error > ERROR_LIMIT
    if together and blank and weight_usage >= USED_LIMIT > usage:
        carry = f"{100 * weight_usage:.0f} % of the codes carry weight"
        return "thermal", f"{carry}, but all are the same ({apart}), and the pictures are blank ({off})."
    if together and blank and usage >= USED_LIMIT:
        return "thermal", f"{used}, but all are the same ({apart}), and the pictures are blank ({off})."
    if together and blank:
        return "collapsed", f"{used}, those are the same ({apart}), and the pictures are blank ({off})."
    if usage < USED_LIMIT:
        return "dead", f"Only {used} ({apart}, {off})."
    if together:
        return "close", f"{used} and pictures come back ({off}), but the codes lie close together ({apart})."
    if blank:
        return "poor", f"{used} and differ ({apart}), but the pictures do not come back ({off} of a blank one's)."
    if hardened > ERROR_LIMIT:
        return (
            "soft_only",
            f"{used} and differ ({apart}), but one code alone does not do: error {hardened:.2f} after argmax.",
        )
    return "alive", f"{used}, they differ ({apart}), and pictures come back ({off})."
