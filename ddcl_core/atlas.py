"""From run configurations to the frozen maps on which their tokens are drawn.

A map must know where tokens may go before they go there: one that has only seen the start would squeeze everything
that training does into a corner, and one fitted on collapsed tokens would blow them up to a full picture. So short
scout runs, one with a fast and one with a slow encoder for each configuration, show the ways out, and the map is
fitted once on all of that. Deterministic: the same configurations and scene give the same pool.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ddcl_core import maps
from ddcl_core.config import RunConfig
from ddcl_core.data.scene import TokenScene
from ddcl_core.errors import InputError

SCOUT_EPSILONS = (1.0, 0.05)  # one that tends to collapse, one that tends not to
SCOUT_STEPS = (0, 1, 3, 8, 16, 40)
_SCOUT_TOKENS = 400  # a snapshot's share of the pool is bounded, so fewer tokens than a panel draws suffice


def scout_pool(
    configs: Sequence[RunConfig], scene: TokenScene, progress: Callable[[float, str], None] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Tokens that runs like these are likely to visit: points (R, d) float32 and their labels (R,) int64.

    Raises InputError when a run cannot be made.
    """
    from ddcl_core.run import TrainingRun

    snapshots: list[np.ndarray] = []
    labels: np.ndarray | None = None
    trips = [(config, epsilon) for config in configs for epsilon in SCOUT_EPSILONS]
    if all(config.encoder.kind == "none" for config in configs):
        trips = trips[:1]  # frozen tokens go nowhere
    for done, (config, epsilon) in enumerate(trips):
        tokens = min(config.sample_tokens, _SCOUT_TOKENS)
        run = TrainingRun(config.with_(epsilon=epsilon, sample_tokens=tokens, frame_every=1000, max_steps=1000), scene)
        for stop in SCOUT_STEPS:
            if config.encoder.kind == "none" and stop > 0:
                break
            if progress is not None:
                progress((done + stop / SCOUT_STEPS[-1]) / len(trips), "Scouting where the tokens may go")
            while run.step < stop and not run.finished:
                run.advance(1e6, {"until_step": stop})
            if run.finished:
                break
            snapshots.append(run.look().tokens)
        labels = np.asarray(run.sample_info()["labels"])
    finite = [snapshot for snapshot in snapshots if np.isfinite(snapshot).all()]
    if not finite or labels is None:
        raise InputError("The runs diverge before a map can be drawn; lower epsilon or the prototypes' learning rate.")
    return pool_of(finite, labels)


def pool_of(snapshots: Sequence[np.ndarray], labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """One pool of finite snapshots (S, d) of the same S points: (R, d) float32 and their labels (R,); labels (S,)."""
    pool = maps.build_pool(snapshots)
    return np.ascontiguousarray(pool, dtype=np.float32), _labels_of(pool, snapshots, labels)


def fit_map(pool: np.ndarray, kind: str, seed: int, cache: bool = True) -> maps.ReferenceMap:
    """The frozen ReferenceMap of a pool (R, d), 'pca' or 'umap'; a UMAP that cannot be fitted falls back to PCA."""
    return maps.fit_reference(pool, kind, seed, cache=cache)


def map_facts(reference: maps.ReferenceMap) -> dict[str, Any]:
    """What a page says about a map: kind, explained_variance (two shares or None), placement_error, note."""
    return {
        "kind": reference.kind,
        "explained_variance": None if reference.shares is None else list(reference.shares),
        "placement_error": float(reference.placement_error),
        "note": reference.note,
    }


def map_to_bytes(reference: maps.ReferenceMap) -> bytes:
    """A map as the bytes of an .npz without pickle."""
    buffer = io.BytesIO()
    reference.save(buffer)
    return buffer.getvalue()


def map_from_bytes(data: bytes) -> maps.ReferenceMap:
    """The inverse of `map_to_bytes`."""
    return maps.ReferenceMap.load(io.BytesIO(data))


def _labels_of(pool: np.ndarray, snapshots: Sequence[np.ndarray], labels: np.ndarray) -> np.ndarray:
    """The label of each pooled token: that of the nearest token of any snapshot, which is the token itself."""
    every, names = np.concatenate(snapshots), np.tile(labels, len(snapshots))
    centre = every.mean(axis=0)
    every, pool = (every - centre).astype(np.float64), (pool - centre).astype(np.float64)
    distances = (every**2).sum(1)[None, :] - 2.0 * pool @ every.T  # the pool's own norm does not change the nearest
    return names[distances.argmin(axis=1)]
