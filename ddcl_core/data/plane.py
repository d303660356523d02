"""A plane: two known coordinates of every token, with axes that mean something, as a still map beside UMAP and PCA."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ddcl_core.errors import InputError


class Tick(NamedTuple):
    """at: place on the axis, from -1 to 1; text: what stands there."""

    at: float
    text: str


class Landmark(NamedTuple):
    """A named place (x, y) on a plane, each from -1 to 1."""

    text: str
    x: float
    y: float


@dataclass(frozen=True, eq=False)
class Plane:
    """Token coordinates that training does not move: what moves on a plane are the prototypes, placed at the mean of
    the tokens' coordinates, weighted with their assignments.

    name: short and unique, letters only. title: two or three words for a button. hint: one sentence about it.
    x_label, y_label: what the axes are, with units. x_ticks, y_ticks, landmarks: what is written on the plane.
    positions: (N, 2) float32, one row for each real token in reading order; -1 to 1 is shown, both axes fill the map.

    Raises:
        InputError: a name that is no word, or positions of another shape or not finite.
    """

    name: str
    title: str
    hint: str
    x_label: str
    y_label: str
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    landmarks: tuple[Landmark, ...]
    positions: np.ndarray

    def __post_init__(self) -> None:
        if not (self.name.isascii() and self.name.isalpha()) or self.name in ("pca", "umap"):
            raise InputError(f"A plane's name is {self.name!r}; use a word of plain letters other than pca and umap.")
        positions = np.ascontiguousarray(self.positions, dtype=np.float32)
        if positions.ndim != 2 or positions.shape[1] != 2 or not np.isfinite(positions).all():
            raise InputError(f"The plane {self.name!r} needs finite positions (N, 2); these have {positions.shape}.")
        object.__setattr__(self, "positions", positions)


def weighted_places(positions: np.ndarray, assignments: np.ndarray) -> np.ndarray:
    """Where prototypes lie on a plane: sum_n q_nk x_n / sum_n q_nk, from x (S, 2) and q (S, K), as (K, 2) float32.

    A prototype that no token chooses (a sum that is not positive, or not a number) lies at the mean of all tokens.
    """
    weights = np.nan_to_num(np.asarray(assignments, dtype=np.float64))  # S, K
    total = weights.sum(axis=0)[:, None]  # K, 1
    with np.errstate(divide="ignore", invalid="ignore"):
        places = (weights.T @ positions.astype(np.float64)) / total
    return np.where(total > 1e-30, places, positions.mean(axis=0)).astype(np.float32)
