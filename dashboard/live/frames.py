"""The arrays of a frame as they travel and are stored. Needs numpy only, so that both ends can import it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from ddcl_core.frame import METRIC_NAMES

STATUSES = ("stable", "collapsed", "diverged", "unresolved")  # the wire's status codes are the positions
MAP_KINDS = ("pca", "umap")
MAP_LIMIT = 4.0  # map radii; what lies further out is drawn at the edge
_STEP = 32767.0 / MAP_LIMIT
HISTORY_ARRAYS = ("step", "metrics")


def to_wire_positions(positions: np.ndarray) -> np.ndarray:
    """Map positions in map radii (..., 2) -> int16, clipped at MAP_LIMIT; a non-finite position goes to the centre."""
    clipped = np.clip(np.nan_to_num(positions), -MAP_LIMIT, MAP_LIMIT)
    return np.rint(clipped * _STEP).astype(np.int16)


def from_wire_positions(positions: np.ndarray) -> np.ndarray:
    """The inverse of `to_wire_positions`, up to its rounding of 0.0001 map radii."""
    return positions.astype(np.float32) / _STEP


def metric_row(metrics: Mapping[str, float], names: Sequence[str] = METRIC_NAMES) -> np.ndarray:
    """(M,) float32 in the order of `names`; a metric that is missing becomes NaN."""
    return np.array([metrics.get(name, np.nan) for name in names], dtype=np.float32)


def leading(assignments: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Assignments (S, K) -> the leading prototype of each token and its share, 255 being all of it."""
    lead = assignments.argmax(axis=1)
    share = np.take_along_axis(assignments, lead[:, None], axis=1)[:, 0]
    strength = np.rint(255.0 * np.clip(np.nan_to_num(share), 0.0, 1.0)).astype(np.uint8)
    return lead.astype(np.uint8 if assignments.shape[1] <= 256 else np.uint16), strength


def split(arrays: Mapping[str, np.ndarray]) -> list[dict[str, np.ndarray]]:
    """Batched arrays (F, ...) -> F dictionaries of one frame each."""
    count = len(arrays["step"])
    return [{name: array[i] for name, array in arrays.items()} for i in range(count)]


def stack(frames: Sequence[Mapping[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """Frames -> batched arrays (F, ...), of the names that all of them have."""
    names = [name for name in frames[0] if all(name in frame for frame in frames)]
    return {name: np.stack([frame[name] for frame in frames]) for name in names}


def runs_of_like(frames: Iterable[Mapping[str, np.ndarray]], limit: int) -> Iterable[list[Mapping[str, np.ndarray]]]:
    """Neighbouring frames with the same names, in groups of at most `limit`: what one message can carry."""
    group: list[Mapping[str, np.ndarray]] = []
    for frame in frames:
        if group and (len(group) >= limit or frame.keys() != group[0].keys()):
            yield group
            group = []
        group.append(frame)
    if group:
        yield group
