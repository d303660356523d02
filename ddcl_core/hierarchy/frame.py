"""What a hierarchy run shows of one step, beyond the first level. Needs numpy, not torch."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ddcl_core.frame import Frame

LEVEL_METRICS = (
    "epsilon", "temperature", "L_q", "L_OLS", "V", "weighted_separation", "effective_prototypes", "critical_temperature",
    "collapsed",
)  # fmt: skip
"""Of each level above the first, named `V@1` for the second and so on; collapsed: 1 by the rule of `ddcl_core.status`."""


def level_names(levels: int) -> tuple[str, ...]:
    """Names of a hierarchy's further metrics, in order: those of `levels` levels above the first, and how often V of any
    level was negative so far, see `HierarchyRun.violations`."""
    return ("violations", *(f"{name}@{level}" for level in range(1, levels + 1) for name in LEVEL_METRICS))


@dataclass(frozen=True)
class HierarchyFrame(Frame):
    """A Frame of the first level, with the levels above it.

    upper: prototypes (K_l, d) of each level above. upper_usage: (K_l,) how much of all tokens each holds. links:
    (K_l, K_l+1) assignments of each level's prototypes to the next level's, rows sum to 1.
    """

    upper: tuple[np.ndarray, ...] = field(default=())
    upper_usage: tuple[np.ndarray, ...] = field(default=())
    links: tuple[np.ndarray, ...] = field(default=())
