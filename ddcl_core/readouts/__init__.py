"""Readouts over the token embeddings of a frozen encoder, side by side: DDCL and what one would otherwise use."""

from __future__ import annotations

import importlib
from typing import Any

_LAZY = {
    "READOUTS": "modules", "DDCLReadout": "modules", "build_readout": "modules", "Documents": "compare",
    "classify": "compare", "cluster": "compare", "compare_readouts": "compare",
}  # fmt: skip
__all__ = list(_LAZY)


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'ddcl_core.readouts' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"ddcl_core.readouts.{_LAZY[name]}"), name)
    globals()[name] = value
    return value
