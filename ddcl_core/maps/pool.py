"""From snapshots of training to the points that a map is fitted on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ddcl_core.errors import InputError

POOL_SIZE = 1200
# Points nearer than this share of the widest snapshot's spread count as one place, so that a collapsed snapshot of
# 1500 tokens takes up one point of the map, not the larger part of its area.
SAME_PLACE = 0.1
_CANDIDATES = 20  # candidates looked at for each place in the pool; bounds the time for long recordings


def as_points(values: Any, name: str = "points") -> np.ndarray:
    """Rows (N, d) as a floating-point numpy array, from numpy, lists, or a tensor on any device.

    Raises InputError when `values` is not a matrix.
    """
    if hasattr(values, "detach"):
        values = values.detach().cpu().numpy()
    points = np.asarray(values)
    if points.dtype not in (np.float32, np.float64):
        points = points.astype(np.float32)
    if points.ndim != 2 or points.shape[1] < 1:
        raise InputError(f"{name} has shape {points.shape}; give one row for each point, (N, d).")
    return points


def check_finite(points: np.ndarray, name: str) -> None:
    """Raise InputError unless every number is finite."""
    wrong = int((~np.isfinite(points).all(axis=1)).sum())
    if wrong:
        raise InputError(f"{name} has {wrong} rows with NaN or infinity; leave out what came after the run diverged.")


def build_pool(
    snapshots: Sequence[np.ndarray], seed: int = 0, max_size: int = POOL_SIZE, same_place: float = SAME_PLACE
) -> np.ndarray:
    """Thin token snapshots to a pool of points that a map can be fitted on.

    Points are taken in random order, and one that lies nearer than `same_place` times the spread of the widest
    snapshot to a point already taken is left out (spread: root mean square distance from the mean). So regions are
    as dense as the tokens were, but never denser than a tenth of the spread.

    Args:
        snapshots: arrays (N_i, d) of tokens at several moments, of runs that collapse and runs that do not.
        seed: of the random order.
        max_size: largest number of points R.
        same_place: share of the spread; 0 leaves out exact duplicates only.

    Returns:
        (R, d) float32, 1 <= R <= max_size, rows of the snapshots.

    Raises:
        InputError: no points, dimensions that differ, non-finite numbers, max_size below 1.
    """
    arrays = [as_points(snapshot, "A snapshot") for snapshot in snapshots]
    arrays = [array for array in arrays if len(array)]
    if not arrays:
        raise InputError("There are no tokens to draw a map from; give at least one snapshot with one token.")
    if len(dims := {array.shape[1] for array in arrays}) > 1:
        raise InputError(f"The snapshots have {sorted(dims)} dimensions; give snapshots of one encoder.")
    if max_size < 1:
        raise InputError(f"max_size is {max_size}; it must be at least 1.")
    for array in arrays:
        check_finite(array, "A snapshot")

    spreads = [float(np.sqrt(((array - array.mean(0)) ** 2).sum(1).mean())) for array in arrays]
    near = (same_place * max(spreads)) ** 2
    every = np.concatenate(arrays).astype(np.float32)
    order = np.random.default_rng(seed).permutation(len(every))[: _CANDIDATES * max_size]
    taken = np.empty((min(max_size, len(order)), every.shape[1]), dtype=np.float32)
    size = 0
    for point in every[order]:
        # The difference, not the expanded square: tokens far from the origin keep their digits.
        if size and ((taken[:size] - point) ** 2).sum(1).min() <= near:
            continue
        taken[size] = point
        size += 1
        if size == len(taken):
            break
    return taken[:size].copy()
