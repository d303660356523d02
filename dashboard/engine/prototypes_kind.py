"""The kind of run that `ddcl_core.run.TrainingRun` is: prototypes among the tokens of one encoder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dashboard.live.explain import explain
from ddcl_core.config import RunConfig
from ddcl_core.frame import METRIC_NAMES, Frame

Report = Callable[[float, str], None]
LIGHT: tuple[str, ...] = ()
__all__ = [
    "LIGHT", "METRIC_NAMES", "config_of", "explain", "extras", "frame_of", "given", "load", "make", "scout", "still",
]  # fmt: skip


def config_of(values: Mapping[str, Any]) -> RunConfig:
    """The RunConfig of a dictionary; raises InputError."""
    return RunConfig.from_dict(dict(values))


def given(config: RunConfig) -> Any:
    """The catalogue or the documents that a configuration refers to, or None."""
    from dashboard.engine.uploads import uploads

    return uploads().held(config.data)


def load(config: RunConfig, report: Report, given: Any = None) -> Any:
    """The TokenScene of a configuration; it stays on the worker, from where runs get it."""
    if given is not None and config.data.kind == "custom":
        from ddcl_core.data.document_scene import document_scene

        return document_scene(config.data, config.seed, report, None, given)
    if given is not None:
        from ddcl_core.orbits import orbit_scene

        return orbit_scene(config.data, config.seed, given)
    from ddcl_core.data.scene import load_scene

    return load_scene(config.data, config.seed, progress=report)


def scout(configs: Sequence[RunConfig], scene: Any, report: Report) -> dict[str, np.ndarray]:
    """Short trial runs whose tokens say where the real runs will go."""
    from ddcl_core import atlas

    points, labels = atlas.scout_pool(list(configs), scene, report)
    return {"points": points, "labels": labels}


def make(config: RunConfig, scene: Any, snapshot: bytes | None) -> Any:
    """A TrainingRun, new or from a snapshot."""
    from ddcl_core.run import TrainingRun

    return TrainingRun(config, scene) if snapshot is None else TrainingRun.restore(snapshot, scene)


def frame_of(frame: Frame) -> Frame:
    """A Frame is what the view draws."""
    return frame


def extras(frame: Frame, run: Any) -> dict[str, np.ndarray]:
    """Nothing beyond the frame."""
    return {}


def still(run: Any) -> None:
    """Nothing beyond "hello"."""
