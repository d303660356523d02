"""A frozen map: placing points on it, and saying how far it can be trusted.

Placement on a UMAP is a smooth kernel average over at most 384 landmarks l_i with map positions y_i:

    a_i(x) = |x - l_i|^2,   h(x) = 0.2 (min_j a_j + s / 4)
    w_i(x) = max(0, 1 - (a_i - min_j a_j) / (8 h(x)))^8,   place(x) = sum_i w_i y_i / sum_i w_i

with s the median squared distance between neighbouring landmarks. (1 - u/8)^8 is close to exp(-u) and cheaper. The
width h grows with the distance from the landmarks: inside the cloud the nearest few decide, in the middle of empty
space many do, so a prototype at the tokens' mean comes to lie between its neighbours. A weight comes and goes smoothly
from zero, so nothing jumps when the nearest landmarks change. Points outside the ball that the pool fills are pulled
back to its surface: they are drawn at the edge, in the direction in which they left, however far away.

Measured on BBC News tokens (MiniLM, d = 32, residual encoder, pool of 1200 tokens from a run that collapses and one
that does so late). Columns: mean distance from `umap.transform` in map radii, for other tokens of these runs and for
tokens of a run at another epsilon; largest motion of a token between frames two steps apart.

    width 0.1, 384 landmarks                       0.128   0.242   0.37
    width 0.2, 384 landmarks (as above)            0.142   0.276   0.34     (its 99th percentile 0.025, against 0.039)
    width 0.4, 384 landmarks                       0.187   0.328   0.25
    width 0.1, 256 or 512 landmarks                0.141 or 0.133,  0.273 or 0.243,  0.27 or 0.39
    width 0.1 without the ridge fit of fitting.py  0.141   0.237   0.36

On synthetic tokens (six clusters) the same rows lie between 0.015 and 0.021 in both columns. Landmarks are k-means
centres. In a first round with exp(-u), width 0.1, on another fit of the same tokens, k-means had 0.136 / 0.245 / 0.22,
randomly chosen tokens 0.166 / 0.214 / 0.46, farthest-point tokens 0.381 / 0.382 / 0.29, all 1200 tokens (three times
slower) 0.122 / 0.200 / 0.41; with random tokens a Gaussian of fixed width 0.153 / 0.243 / 0.23, and distance^-32, close
to the nearest landmark alone, 0.162 / 0.193 / 0.79: it jumps. More UMAP neighbours (30 or 50 instead of 15) made the
error on real text larger (0.21, 0.26). On real text expect about 0.15 for tokens, and 0.2 in
`placement_error`, whose held-out rows are thinned and so harder; on tokens in clusters 0.02 for both.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ddcl_core.errors import InputError
from ddcl_core.maps.pool import as_points

KERNEL_WIDTH = 0.2
POWER = 8  # a power of two
_CHUNK = 256  # rows whose kernel (256 x 384 float32) stays in a core's cache
_FAR = 1e15  # beyond this a float32 square overflows
_OFF_MAP_SAMPLE = 256


@dataclass(frozen=True, eq=False)
class ReferenceMap:
    """A map that never changes, in units of its own radius.

    Map units: the layout of the pool is centred at (0, 0) and 98 % of it lie within radius 1.

    Attributes:
        kind: 'umap' or 'pca'; 'pca' also where a UMAP was asked for and could not be had, see `note`.
        layout: (R, 2) positions of the pool's rows.
        centre: (d,) mean of the pool.
        axes: (d, 2) principal axes over the map's scale, for 'pca'; (d, 0) for 'umap'.
        landmarks: (L, d) minus the centre; positions: (L, 2) their places on the map.
        spacing: squared distance s between neighbouring landmarks, in token units.
        reach: radius of the ball around the centre beyond which points are drawn at the edge.
        nearest: distance from the nearest landmark that 95 % of the pool's rows stay below, the yardstick of `off_map`.
        explained_variance: (2,) shares of the pool's variance that the axes show, for 'pca'; None for 'umap'.
        placement_error: mean distance between `place` and `umap.transform` on held-out rows, in map radii; 0 for
            'pca', which is placed exactly.
        placement_error_p90: the distance that nine of ten held-out rows stay below.
        note: a sentence for the reader of the map, or ''.
    """

    kind: str
    layout: np.ndarray
    centre: np.ndarray
    axes: np.ndarray
    landmarks: np.ndarray
    positions: np.ndarray
    spacing: float
    reach: float
    nearest: float
    explained_variance: np.ndarray | None = None
    placement_error: float = 0.0
    placement_error_p90: float = 0.0
    note: str = ""
    _products: np.ndarray = field(init=False, repr=False)  # (d + 1, L): [x, 1] @ this = |x - l|^2 - |x|^2
    _targets: np.ndarray = field(init=False, repr=False)  # (L, 3): positions and a column of ones

    def __post_init__(self) -> None:
        marks = self.landmarks.astype(np.float64)
        products = np.concatenate([-2.0 * marks.T, (marks**2).sum(1)[None, :]])
        targets = np.concatenate([self.positions, np.ones((len(marks), 1))], axis=1)
        object.__setattr__(self, "_products", np.ascontiguousarray(products, dtype=np.float32))
        object.__setattr__(self, "_targets", np.ascontiguousarray(targets, dtype=np.float32))

    @property
    def dim(self) -> int:
        """Dimension d of the points that can be placed."""
        return len(self.centre)

    def place(self, points: Any) -> np.ndarray:
        """Positions (N, 2) float32 of points (N, d) on the map, in map radii.

        A row with NaN or infinity gets NaN; every other result is finite. For 1536 points in 32 dimensions on one core
        about 2 ms (UMAP). Raises InputError when the dimension differs from the map's.
        """
        offsets, finite = self._offsets(points)
        if self.kind == "pca":
            placed = offsets @ self.axes
        else:
            pulled = offsets * np.minimum(1.0, self.reach / np.maximum(_norms(offsets), 1e-30))[:, None]
            placed = self.average(pulled, self._targets)
        placed[~finite] = np.nan
        return placed

    def off_map(self, points: Any) -> float:
        """How far off the pool the points lie: up to about 1 where the map was fitted, more where it knows nothing.

        Median over (at most 256 of) the points of the distance to the nearest landmark, over the distance that 95 %
        of the pool stay below. 0 without any finite point.
        """
        points = as_points(points)
        offsets, finite = self._offsets(points[:: max(1, -(-len(points) // _OFF_MAP_SAMPLE))])
        offsets = offsets[finite]
        if not len(offsets):
            return 0.0
        norms = _norms(offsets)
        squares = (_with_one(offsets) @ self._products).min(1) + norms**2
        return float(np.median(np.sqrt(np.maximum(squares, 0.0))) / self.nearest)

    def shown_variance(self, points: Any) -> float:
        """Share (0..1) of the points' own variance that lies in the plane of a PCA map.

        1 for points that coincide: nothing is hidden. Raises InputError for a UMAP, which has no plane.
        """
        if self.kind != "pca":
            raise InputError("A UMAP shows no share of the variance; ask a PCA map.")
        offsets, finite = self._offsets(points)
        offsets = offsets[finite].astype(np.float64)
        if not len(offsets):
            return 1.0
        offsets -= offsets.mean(0)
        lengths = np.linalg.norm(self.axes.astype(np.float64), axis=0)
        plane = offsets @ (self.axes / np.where(lengths > 0, lengths, 1.0))
        whole = float((offsets**2).sum())
        return min(1.0, float((plane**2).sum()) / whole) if whole > 0 else 1.0

    @property
    def shares(self) -> tuple[float, float] | None:
        """`explained_variance` as two numbers, None for a UMAP."""
        if self.explained_variance is None:
            return None
        return float(self.explained_variance[0]), float(self.explained_variance[1])

    def save(self, file: str | Path | BinaryIO) -> None:
        """Write an .npz without pickle, to a path or an open binary file."""
        if isinstance(file, (str, Path)):
            with open(file, "wb") as opened:
                np.savez(opened, **self.to_arrays())
        else:
            np.savez(file, **self.to_arrays())

    @classmethod
    def load(cls, file: str | Path | BinaryIO) -> "ReferenceMap":
        """The inverse of `save`. Raises InputError when the file holds no map."""
        try:
            with np.load(file, allow_pickle=False) as entry:
                return cls.from_arrays({name: entry[name] for name in entry.files})
        except FileNotFoundError:
            raise
        except Exception as error:  # zipfile, zlib and numpy each have their own words for a damaged file
            raise InputError(f"This is not a saved map ({error}); fit it anew.") from error

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Every attribute as an array, for `np.savez`."""
        values = {entry.name: getattr(self, entry.name) for entry in fields(self) if entry.init}
        return {name: np.asarray(value) for name, value in values.items() if value is not None}

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> "ReferenceMap":
        """The inverse of `to_arrays`. Raises KeyError or ValueError when the arrays do not make a map."""
        known = {entry.name for entry in fields(cls) if entry.init}
        values = {name: value.item() if value.ndim == 0 else value for name, value in arrays.items() if name in known}
        try:
            made = cls(**values)
        except TypeError as error:
            raise KeyError(str(error)) from error
        if made.kind not in ("umap", "pca") or made.landmarks.shape[1] != made.dim:
            raise ValueError("the arrays do not belong to one map")
        return made

    def _offsets(self, points: Any) -> tuple[np.ndarray, np.ndarray]:
        """Points minus the centre as float32, zeros for rows that are not finite; and which rows are finite."""
        points = as_points(points)
        if points.shape[1] != self.dim:
            raise InputError(f"The points have {points.shape[1]} dimensions and the map has {self.dim}; fit a new map.")
        finite = np.isfinite(points).all(axis=1)
        if not finite.all():
            points = np.where(finite[:, None], points, 0.0)
        offsets = np.clip(points, -_FAR, _FAR) - self.centre  # float64 points keep their digits up to here
        return offsets.astype(np.float32, copy=False), finite

    def average(self, offsets: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """The kernel average of the module's docstring: offsets (N, d) from the centre, targets (L, m + 1) -> (N, m).

        Both float32; the last column of the targets is 1 and sums the weights.
        """
        out = np.empty((len(offsets), targets.shape[1] - 1), dtype=np.float32)
        nothing = np.zeros(len(targets), dtype=np.float32)  # numpy compares with a row twice as fast as with a number
        for start in range(0, len(offsets), _CHUNK):
            some = offsets[start : start + _CHUNK]
            kernel = _with_one(some) @ self._products  # (n, L) squared distances less |x|^2, which cancels in a_i - min
            least = kernel.min(axis=1)
            near = np.maximum(least + np.einsum("nd,nd->n", some, some), 0.0)
            slope = -1.0 / (POWER * KERNEL_WIDTH * (near + 0.25 * self.spacing))
            kernel -= least[:, None]  # first, so that the nearest landmark has exactly the weight 1 whatever was lost
            kernel *= slope.astype(np.float32)[:, None]
            kernel += 1.0
            np.maximum(kernel, nothing, out=kernel)
            for _ in range(POWER.bit_length() - 1):  # squaring three times is four times faster than exp
                np.multiply(kernel, kernel, out=kernel)
            sums = kernel @ targets  # (n, m + 1)
            out[start : start + _CHUNK] = sums[:, :-1] / sums[:, -1:]
        return out


def place(reference: ReferenceMap, points: Any) -> np.ndarray:
    """`ReferenceMap.place` as a function."""
    return reference.place(points)


def off_map(reference: ReferenceMap, points: Any) -> float:
    """`ReferenceMap.off_map` as a function."""
    return reference.off_map(points)


def shown_variance(reference: ReferenceMap, points: Any) -> float:
    """`ReferenceMap.shown_variance` as a function."""
    return reference.shown_variance(points)


def _norms(offsets: np.ndarray) -> np.ndarray:
    return np.sqrt(np.einsum("nd,nd->n", offsets, offsets))


def _with_one(offsets: np.ndarray) -> np.ndarray:
    out = np.empty((len(offsets), offsets.shape[1] + 1), dtype=np.float32)
    out[:, :-1], out[:, -1] = offsets, 1.0
    return out
