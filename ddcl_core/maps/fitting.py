"""Fitting the frozen map: PCA by hand, UMAP through umap-learn, layouts kept on disk by content."""

from __future__ import annotations

import hashlib
import importlib.metadata
import threading
import warnings
from typing import Any

import numpy as np

from ddcl_core.data.cache import ArrayCache, content_key
from ddcl_core.errors import InputError
from ddcl_core.maps.pool import as_points, check_finite
from ddcl_core.maps.reference import ReferenceMap

KINDS = ("pca", "umap")
LANDMARKS = 384
NEIGHBOURS = 15
MIN_DIST = 0.1
SMALLEST_UMAP = 24  # different points; below, UMAP's neighbourhoods are the whole pool and its spectral start fails
HELD_OUT = 128
_FORMAT = 2  # counts the meanings of a cached map; raise it when fitting or the kernel changes
_RIDGE = 0.1
_LOCK = threading.Lock()  # numba's workqueue layer aborts the whole process on two fits at once (umap#665)


def fit_reference(pool: Any, kind: str, seed: int = 0, cache: bool = True) -> ReferenceMap:
    """Fit a map of a pool and freeze it; the same pool, kind and seed give the same map.

    A UMAP needs 24 different points; for fewer, or when umap-learn is missing or fails, the result is a PCA map whose
    `note` says so. A UMAP is turned so that it agrees with the PCA map as far as a turn can, so that going from
    one view to the other does not confuse. One fit at a time per process; others wait. The first fit of a process
    compiles for tens of seconds (`warm_up`), the next take a few; one found in the disk cache takes milliseconds
    and does not import umap at all.

    Args:
        pool: (R, d) finite points, from `build_pool`.
        kind: 'pca' or 'umap'.
        seed: of UMAP and of the landmarks.
        cache: read and write the disk cache (`DDCL_CACHE_DIR`, else the platform's cache folder).

    Raises:
        InputError: an empty or non-finite pool, an unknown kind.
    """
    points = as_points(pool, "The pool").astype(np.float32)
    if kind not in KINDS:
        raise InputError(f"kind is {kind!r}; choose one of {', '.join(KINDS)}.")
    if not len(points):
        raise InputError("The pool is empty; a map needs at least one point.")
    check_finite(points, "The pool")
    if kind == "pca":
        return _fit_pca(points, seed)
    different = len(np.unique(points, axis=0))
    if different < SMALLEST_UMAP:
        few = "There is 1 point" if different == 1 else f"There are {different} different points"
        return _fit_pca(points, seed, f"{few}, and a UMAP needs {SMALLEST_UMAP}: this is a PCA.")
    try:
        key = _cache_key(points, seed)
    except importlib.metadata.PackageNotFoundError:
        return _fit_pca(points, seed, "umap-learn is not installed (pip install umap-learn): this is a PCA.")
    store = ArrayCache("maps")
    with _LOCK:  # asked for inside the lock, so that a second caller finds what the first has just fitted
        if cache and (found := _from_cache(store, key)) is not None:
            return found
        try:
            made = _fit_umap(points, seed)
        except Exception as error:  # umap, numba, scipy: whatever fails, a picture is better than none
            return _fit_pca(points, seed, f"UMAP failed ({type(error).__name__}: {error}): this is a PCA.")
        if cache:
            store.put(key, made.to_arrays())
    return made


def warm_up() -> None:
    """Import umap and compile what `fit_reference` needs, on a toy pool: tens of seconds, once per process."""
    fit_reference(np.random.default_rng(0).standard_normal((64, 4)), "umap", cache=False)


def _cache_key(points: np.ndarray, seed: int) -> str:
    settings = [_FORMAT, seed, NEIGHBOURS, MIN_DIST, LANDMARKS, HELD_OUT, importlib.metadata.version("umap-learn")]
    digest = hashlib.sha256(np.ascontiguousarray(points).tobytes()).hexdigest()
    return content_key({"settings": settings, "shape": list(points.shape), "points": digest})


def _from_cache(store: ArrayCache, key: str) -> ReferenceMap | None:
    arrays = store.get(key)
    if arrays is None:
        return None
    try:
        return ReferenceMap.from_arrays(arrays)
    except (KeyError, ValueError, IndexError, AttributeError):
        return None


def _fit_pca(points: np.ndarray, seed: int, note: str = "") -> ReferenceMap:
    centre = points.astype(np.float64).mean(0)
    axes, variances = _principal_axes(points - centre)
    layout = (points - centre) @ axes
    scale = _radius(layout)
    whole = float(((points - centre) ** 2).sum(1).mean())
    marks, _ = _k_means(points - centre, LANDMARKS, seed)
    return ReferenceMap(
        kind="pca", layout=(layout / scale).astype(np.float32), axes=(axes / scale).astype(np.float32),
        positions=(marks @ axes / scale).astype(np.float32), note=note,
        explained_variance=variances / whole if whole > 0 else np.zeros(2), **_geometry(points, centre, marks),
    )


def _fit_umap(points: np.ndarray, seed: int) -> ReferenceMap:
    """UMAP of most of the pool; the rest is held out, to measure how far `place` is from `umap.transform`."""
    order = np.random.default_rng(seed).permutation(len(points))
    held, rest = np.split(order, [min(HELD_OUT, len(points) // 8)])
    layout = np.empty((len(points), 2))
    layout[rest], layout[held] = _umap(points[rest], points[held], seed)
    if not np.isfinite(layout).all():
        raise ValueError("the layout is not finite")

    centre = points.astype(np.float64).mean(0)
    offsets = points - centre
    layout -= layout[rest].mean(0)
    axes, _ = _principal_axes(offsets)
    left, _, right = np.linalg.svd(layout[rest].T @ (offsets[rest] @ axes))  # the best turn or mirror image
    layout = layout @ (left @ right)
    layout /= _radius(layout[rest])

    marks, owners = _k_means(offsets[rest], LANDMARKS, seed)
    counts = np.bincount(owners, minlength=len(marks))
    positions = np.stack([np.bincount(owners, layout[rest][:, i], len(marks)) / counts for i in (0, 1)], axis=1)
    geometry = _geometry(points, centre, marks)

    def made(positions: np.ndarray, **more: Any) -> ReferenceMap:
        return ReferenceMap(
            kind="umap", layout=layout.astype(np.float32), axes=np.zeros((len(centre), 0), dtype=np.float32),
            positions=positions.astype(np.float32), **geometry, **more,
        )

    # A kernel average pulls everything inwards. Moving the landmarks' positions so that the average meets the layout
    # (ridge regression towards where they were) undoes it, at no cost when placing.
    weights = _weights(made(positions), offsets[rest])  # (R, L)
    normal = weights.T @ weights + _RIDGE * np.eye(len(marks))
    positions += np.linalg.solve(normal, weights.T @ (layout[rest] - weights @ positions))

    errors = np.linalg.norm(made(positions).place(points[held]) - layout[held], axis=1)
    return made(positions, placement_error=float(errors.mean()), placement_error_p90=float(np.quantile(errors, 0.9)))


def _umap(points: np.ndarray, others: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Layout of the points, and of the others by `umap.transform`; the caller holds the lock."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import umap

        model = umap.UMAP(
            n_neighbors=min(NEIGHBOURS, (len(points) - 1) // 2), min_dist=MIN_DIST, random_state=seed % 2**32, n_jobs=1
        )
        return model.fit_transform(points), model.transform(others)


def _weights(reference: ReferenceMap, offsets: np.ndarray) -> np.ndarray:
    """Kernel weights (R, L) in float64, by placing with a one-hot position for each landmark."""
    targets = np.concatenate([np.eye(len(reference.landmarks)), np.ones((len(reference.landmarks), 1))], axis=1)
    return reference.average(offsets.astype(np.float32), targets.astype(np.float32)).astype(np.float64)


def _geometry(points: np.ndarray, centre: np.ndarray, marks: np.ndarray) -> dict[str, Any]:
    """What placing and `off_map` need to know about the pool, whatever the kind of the map."""
    offsets = points - centre
    between = _squares(marks, marks)
    np.fill_diagonal(between, np.inf)
    spread = float((offsets**2).sum(1).mean()) or 1.0
    spacing = float(np.median(between.min(1))) if len(marks) > 1 else spread
    squares = _squares(offsets, marks)
    least = squares.min(1)
    if len(marks) > 1:  # rows that are landmarks themselves: the nearest other one
        least = np.where(least > 1e-9 * spread, least, np.partition(squares, 1, axis=1)[:, 1])
    nearest = float(np.sqrt(np.quantile(least, 0.95)))
    return {
        "centre": centre,
        "landmarks": marks.astype(np.float32),
        "spacing": max(spacing, 1e-4 * spread),
        "reach": 1.1 * float(np.sqrt((offsets**2).sum(1).max())) or 1.0,
        "nearest": max(nearest, 1e-2 * float(np.sqrt(spread))),
    }


def _principal_axes(offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The two leading axes (d, 2) of centred points (R, d), signs fixed, zeros in d = 1; and their variances (2,)."""
    offsets = offsets.astype(np.float64)
    values, vectors = np.linalg.eigh(offsets.T @ offsets / len(offsets))
    axes, variances = np.zeros((offsets.shape[1], 2)), np.zeros(2)
    for i in range(min(2, len(values))):
        axis = vectors[:, -1 - i]
        axes[:, i] = axis * np.sign(axis[np.abs(axis).argmax()])
        variances[i] = max(values[-1 - i], 0.0)
    return axes, variances


def _k_means(points: np.ndarray, k: int, seed: int, rounds: int = 8) -> tuple[np.ndarray, np.ndarray]:
    """Centres (L, d), L <= k, and the owner (R,) of each point: Lloyd from random points, empty centres dropped."""
    points = points.astype(np.float64)
    centres = np.unique(points, axis=0)
    if len(centres) > k:
        centres = points[np.random.default_rng(seed).choice(len(points), k, replace=False)]
        for _ in range(rounds):
            owners = _squares(points, centres).argmin(1)
            owned = np.eye(len(centres))[owners]  # (R, k)
            counts = owned.sum(0)
            centres = (owned.T @ points)[counts > 0] / counts[counts > 0, None]
    owners = _squares(points, centres).argmin(1)
    used, owners = np.unique(owners, return_inverse=True)
    return centres[used], owners


def _squares(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Squared distances (len(a), len(b)) in float64 of points that are already centred."""
    return np.maximum((a**2).sum(1)[:, None] - 2.0 * a @ b.T + (b**2).sum(1)[None, :], 0.0)


def _radius(layout: np.ndarray) -> float:
    """98 % of the rows lie within it; 1 where all rows coincide."""
    radius = float(np.quantile(np.linalg.norm(layout, axis=1), 0.98))
    return radius if radius > 0 else 1.0
