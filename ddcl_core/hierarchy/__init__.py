"""Stacked DDCL layers: tokens -> fine prototypes -> coarse prototypes, each level with its own K, T and epsilon.

Source: Cirrincione and Kumar, arXiv 2604.03850 (2026), stacked layers with V(1) >= 0 and V(2) >= 0. Importing this package
is cheap; PyTorch is loaded when a name that needs it is used.
"""

from __future__ import annotations

import importlib
from typing import Any

from ddcl_core.hierarchy.config import MAX_LEVELS, HierarchyConfig, LevelConfig
from ddcl_core.hierarchy.frame import LEVEL_METRICS, HierarchyFrame, level_names

_LAZY = {
    "DDCLHierarchy": "layer", "HierarchyOutput": "layer", "HierarchyRun": "run", "compression_curve": "compression",
    "cluster_temperatures": "cooling", "coincident": "cooling", "measured_splits": "cooling",
}  # fmt: skip
__all__ = ["LEVEL_METRICS", "MAX_LEVELS", "HierarchyConfig", "HierarchyFrame", "LevelConfig", "level_names", *_LAZY]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'ddcl_core.hierarchy' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"ddcl_core.hierarchy.{_LAZY[name]}"), name)
    globals()[name] = value
    return value
