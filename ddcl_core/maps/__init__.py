"""Frozen two-dimensional maps on which tokens and prototypes are drawn while they move.

A map fitted anew on collapsed tokens would spread them over the plane again. So one map is fitted on a pool of tokens
from several moments of training, frozen, and every later position is placed on it: equal points always at the same
place, near points near each other.

    pool = build_pool(snapshots)                  # [(N, d), ...] -> (R, d), without near-duplicates
    reference = fit_reference(pool, "umap", seed=7)
    reference.place(tokens)                       # (N, d) -> (N, 2), in map radii
    reference.placement_error                     # mean distance from umap.transform, in map radii

Needs numpy only; umap is imported when a UMAP is fitted that the disk cache does not hold.
"""

from ddcl_core.maps.fitting import fit_reference, warm_up
from ddcl_core.maps.pool import build_pool
from ddcl_core.maps.reference import ReferenceMap, off_map, place, shown_variance

__all__ = ["ReferenceMap", "build_pool", "fit_reference", "off_map", "place", "shown_variance", "warm_up"]
