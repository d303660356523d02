"""Cooling (Rose, Gurewitz and Fox 1990): at which temperature does a cluster split, and when did it?

Prototypes that stand together on one spot and descend F part when T falls below 2 lambda_max of the covariance of what they
hold, each token weighted with its posterior. For all prototypes together that is the covariance of the tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

TOGETHER = 0.05
"""Prototypes count as one while they are closer than this share of the root mean square distance of two tokens."""


def coincident(prototypes: np.ndarray, reach: float) -> np.ndarray:
    """Group number of each prototype (K, d) -> (K,) int32: those that chain up closer than `reach` share one.

    Groups are numbered by their smallest member.
    """
    count = len(prototypes)
    near = np.linalg.norm(prototypes[:, None] - prototypes[None], axis=-1) <= reach
    groups = np.arange(count)
    for _ in range(count):
        lowest = np.array([groups[near[k]].min() for k in range(count)])
        if (lowest == groups).all():
            break
        groups = lowest
    return np.unique(groups, return_inverse=True)[1].astype(np.int32)


def cluster_temperatures(tokens: np.ndarray, assignments: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Critical temperature of the group of each prototype, (K,): 2 lambda_max of its posterior-weighted covariance.

    tokens (N, d); assignments (N, K); groups (K,) of `coincident`. A group without weight has 0.
    """
    z = tokens.astype(np.float64)
    found = np.zeros(len(groups))
    for group in np.unique(groups):
        members = groups == group
        weight = assignments[:, members].sum(axis=1, dtype=np.float64)
        total = weight.sum()
        if total <= 1e-9 * len(z):
            continue
        centred = z - weight @ z / total
        covariance = (weight[:, None] * centred).T @ centred / total
        found[members] = 2.0 * float(np.linalg.eigvalsh(covariance)[-1])
    return found


@dataclass(frozen=True)
class Split:
    """A group of prototypes that came apart. step, temperature: when it was seen. predicted: 2 lambda_max of the group just
    before. members: of the group. parts: into how many it came apart."""

    step: int
    temperature: float
    predicted: float
    members: tuple[int, ...]
    parts: int


def measured_splits(
    steps: Sequence[int], temperatures: Sequence[float], groups: Sequence[np.ndarray], critical: Sequence[np.ndarray]
) -> list[Split]:
    """The splits in a row of frames: groups (K,) and critical temperatures (K,) of each.

    A split counts when no later frame has its parts together again. predicted is the group's critical temperature in the
    last frame before, whose own T stands at `temperatures`; the split is seen between the two frames.
    """
    found = []
    for i in range(1, len(steps)):
        for group in np.unique(groups[i - 1]):
            members = np.flatnonzero(groups[i - 1] == group)
            parts = np.unique(groups[i][members])
            if len(parts) < 2:
                continue
            joined_later = any(len(np.unique(later[members])) < len(parts) for later in groups[i + 1 :])
            if not joined_later:
                found.append(
                    Split(int(steps[i]), float(temperatures[i]), float(critical[i - 1][members[0]]),
                          tuple(int(k) for k in members), len(parts))
                )  # fmt: skip
    return found
