"""Kinds of run: what the engine, the sessions and the view need to know of each. Nothing heavy is imported here.

A kind is a module with these names; everything that needs PyTorch is imported inside its functions:

    METRIC_NAMES                    columns of the history and of a frame's metrics; "epsilon", "temperature" come first
    LIGHT                           extras that old frames lose, since they are large
    config_of(values)               the configuration from a dictionary
    given(config)                   an upload that the configuration only refers to, or None (page process)
    load(config, report, given)     what the runs of a scene share (worker); report(fraction, text)
    scout(configs, scene, report)   {"points": (R, d), "labels": (R,)} for the frozen map (worker)
    make(config, scene, snapshot)   a run with the interface of `ddcl_core.run.TrainingRun` (worker)
    frame_of(frame)                 the frame as the view draws it, see `ddcl_core.frame.Frame` (worker)
    extras(frame, run)              further arrays of a frame, the same names and shapes in each (worker)
    still(run)                      header fields and arrays sent once, or None (worker)
    explain(panels)                 items {"step", "text"}, see `dashboard.live.explain` (page process)
"""

from __future__ import annotations

import importlib
from typing import Any

_MODULES = {
    "prototypes": "dashboard.engine.prototypes_kind",
    "codebook": "dashboard.codebook.kind",
    "hierarchy": "dashboard.hierarchy.kind",
    "cooling": "dashboard.hierarchy.cooling",
}


def kind_name(config: Any) -> str:
    """The name of a configuration's kind: its `run_kind`, 'prototypes' for a RunConfig."""
    return getattr(config, "run_kind", "prototypes")


def kind_of(config: Any) -> Any:
    """The module of a configuration's kind."""
    return kind_named(kind_name(config))


def kind_named(name: str) -> Any:
    """The module of a kind. Raises KeyError for an unknown name."""
    return importlib.import_module(_MODULES[name])


def known_kind(name: Any) -> bool:
    """Whether there is a kind of this name."""
    return isinstance(name, str) and name in _MODULES
