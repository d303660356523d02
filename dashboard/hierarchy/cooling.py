"""Cooling one level from above T_c: the kind of run, its examples, and the splits read out of what has been shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dashboard.engine import prototypes_kind
from dashboard.live.explain import explain as explain_first
from dashboard.presets import Pair, Panel, Preset
from ddcl_core.config import DataConfig, EncoderConfig, RunConfig, ScheduleConfig
from ddcl_core.frame import METRIC_NAMES, Frame
from ddcl_core.hierarchy.cooling import TOGETHER, Split, cluster_temperatures, coincident, measured_splits

Report = Callable[[float, str], None]
LIGHT: tuple[str, ...] = ()
__all__ = ["METRIC_NAMES", "CoolingConfig", "splits_of"]


@dataclass(frozen=True)
class CoolingConfig(RunConfig):
    """A RunConfig whose frames also say which prototypes are together and when their group is due to split."""

    run_kind: ClassVar[str] = "cooling"


def config_of(values: Mapping[str, Any]) -> CoolingConfig:
    """The configuration of a dictionary; raises InputError."""
    plain = RunConfig.from_dict(dict(values))
    return CoolingConfig(**{name: getattr(plain, name) for name in RunConfig.__dataclass_fields__})


given, load, make, scout = prototypes_kind.given, prototypes_kind.load, prototypes_kind.make, prototypes_kind.scout


def frame_of(frame: Frame) -> Frame:
    """A Frame is what the view draws."""
    return frame


def extras(frame: Frame, run: Any) -> dict[str, np.ndarray]:
    """groups (K,) uint8: prototypes with one number are together; due (K,) float32: the temperature at which the group parts;
    along (K,) float32: position along the leading direction of the tokens, in units of their spread along it."""
    if not hasattr(run, "cooling_axis"):
        tokens = frame.tokens.astype(np.float64)
        mean = tokens.mean(axis=0)
        values, directions = np.linalg.eigh((tokens - mean).T @ (tokens - mean) / len(tokens))
        axis = directions[:, -1] * np.sign(directions[np.abs(directions[:, -1]).argmax(), -1])
        run.cooling_axis = (mean, axis, float(np.sqrt(max(values[-1], 1e-30))), float(np.sqrt(2.0 * values.sum())))
    mean, axis, scale, apart = run.cooling_axis
    groups = coincident(frame.prototypes, TOGETHER * apart)
    return {
        "groups": groups.astype(np.uint8),
        "due": cluster_temperatures(frame.tokens, frame.assignments, groups).astype(np.float32),
        "along": ((frame.prototypes - mean) @ axis / scale).astype(np.float32),
    }


def still(run: Any) -> None:
    """Nothing beyond "hello"."""


def explain(panels: Sequence[tuple[str, RunConfig, Mapping[str, np.ndarray], Any]]) -> list[dict[str, Any]]:
    """The course of a run, as in the Stability Lab."""
    return explain_first(panels)


def splits_of(frames: Sequence[Mapping[str, np.ndarray]], temperature: int = 1) -> list[Split]:
    """The splits in frames as a track keeps them; `temperature`: its column among the metrics."""
    known = [frame for frame in frames if "x_groups" in frame]
    return measured_splits(
        [int(frame["step"]) for frame in known], [float(frame["metrics"][temperature]) for frame in known],
        [frame["x_groups"] for frame in known], [frame["x_due"] for frame in known],
    )  # fmt: skip


def _config(data: DataConfig, start: float, end: float, prototypes: int) -> CoolingConfig:
    """Slow cooling from just above T_c: the lag of a split behind its prediction is the price of speed."""
    return CoolingConfig(
        data=data, encoder=EncoderConfig("none"), objective="F", num_prototypes=prototypes, epsilon=0.0, lr_prototypes=1.5,
        init_scale=0.05, frame_every=3, max_steps=900, sample_tokens=1500,
        schedule=ScheduleConfig("exponential", start, end, 900),
    )  # fmt: skip


TOPICS = _config(DataConfig(num_documents=64, tokens_per_document=20, dim=8, clusters=4, noise=0.35), 4.8, 1.5, 8)
NEWS = _config(DataConfig(kind="bbc", num_documents=60, tokens_per_document=24, dim=8), 2.9, 0.8, 12)

COOLING_PRESETS: tuple[Preset, ...] = (
    Preset(
        "topics",
        "Four topics, cooled slowly",
        "The tokens stand still; eight prototypes start on one spot above T_c and descend F while T falls. Watch the tree below the map "
        "fork: first where T meets twice the largest variance of all tokens, then branch by branch, where it meets that of each "
        "branch's own tokens.",
        (Pair("", Panel("Cooled", TOPICS), Panel("Cooled", TOPICS)),),
        steps_per_second=32.0,
        map="pca",
        colour="prototype",
    ),
    Preset(
        "news",
        "Words of BBC News, cooled slowly",
        "The same with real words. They form a cloud rather than clusters: twelve prototypes part one branch after the other, over the "
        "whole way down, each a little colder than its branch was due.",
        (Pair("", Panel("Cooled", NEWS), Panel("Cooled", NEWS)),),
        steps_per_second=32.0,
        map="pca",
        colour="prototype",
    ),
)


def cooling_preset(key: str) -> Preset:
    """The example of this key. Raises KeyError when there is none."""
    return next(p for p in COOLING_PRESETS if p.key == key)
