"""The kind of run that a codebook is: see `dashboard.engine.kinds`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dashboard.codebook.own import own_images
from ddcl_core.codebook.config import CodebookConfig
from ddcl_core.codebook.frame import CODEBOOK_METRICS, CodebookFrame
from ddcl_core.codebook.health import VERDICTS, codebook_health
from ddcl_core.errors import InputError
from ddcl_core.frame import Frame

Report = Callable[[float, str], None]
_FIRST = ("epsilon", "temperature")
METRIC_NAMES = (*_FIRST, *(name for name in CODEBOOK_METRICS if name not in _FIRST))
LIGHT = ("tiles", "pictures", "hardened", "cells")
UNCLEAR = "unclear"
KEYS = (*VERDICTS, UNCLEAR)
# How the view colours a verdict; its words are its own.
_STATUS = {
    "alive": "stable", "dead": "collapsed", "thermal": "collapsed", "collapsed": "collapsed", "diverged": "diverged",
}  # fmt: skip
SCOUT_STEPS = (0, 10, 40)
_SCOUT_OUTPUTS = 400
# Before, an untrained decoder's pictures are blank, and the first epoch counts codes where they were placed.
_SETTLED_EPOCHS, _SETTLED_STEPS = 2, 20
_WHY_EVERY, _WHY_KEPT = 4, 40  # rows of the history between two explanations, and how many of those are kept


def config_of(values: Mapping[str, Any]) -> CodebookConfig:
    """The CodebookConfig of a dictionary; raises InputError."""
    return CodebookConfig.from_dict(dict(values))


def given(config: CodebookConfig) -> Any:
    """The pictures of one's own that a configuration refers to, or None. Raises InputError when they are gone."""
    return own_images().held(config)


def load(config: CodebookConfig, report: Report, given: Any = None) -> Any:
    """The ImageSet of a configuration."""
    from ddcl_core.codebook.images import load_images

    report(0.1, "Reading the images")
    return load_images(config.images, config.seed) if given is None else given


def scout(configs: Sequence[CodebookConfig], scene: Any, report: Report) -> dict[str, np.ndarray]:
    """Where the encoder's outputs go in the first steps of each run: the pool that the frozen map is fitted on."""
    from ddcl_core import atlas
    from ddcl_core.codebook.run import CodebookRun

    snapshots = []
    for done, config in enumerate(configs):
        small = config.with_(sample_outputs=min(config.sample_outputs, _SCOUT_OUTPUTS), frame_every=10_000)
        run = CodebookRun(small, scene)
        for stop in SCOUT_STEPS:
            report((done + stop / SCOUT_STEPS[-1]) / len(configs), "Scouting where the encoder's outputs may go")
            run.advance(1e6, {"until_step": stop})
            frame = run.look()
            if frame is None or run.status == "diverged" or not np.isfinite(frame.outputs).all():
                break
            snapshots.append(frame.outputs)
        labels = run.sample_info()["labels"]  # one seed and one set of images: the same places in every run
    if not snapshots:
        raise InputError("The runs diverge before a map can be drawn; lower ε or the learning rates.")
    points, labels = atlas.pool_of(snapshots, labels)
    return {"points": points, "labels": labels}


def make(config: CodebookConfig, scene: Any, snapshot: bytes | None) -> Any:
    """A CodebookRun, new or from a snapshot."""
    from ddcl_core.codebook.run import CodebookRun

    return CodebookRun(config, scene) if snapshot is None else CodebookRun.restore(snapshot, scene)


def frame_of(frame: CodebookFrame) -> Frame:
    """Encoder outputs as tokens, codes as prototypes; there are no forces to draw, since Adam moves them."""
    shares, key = _assignments(frame), _verdict(frame)
    status = "diverged" if frame.status == "diverged" else _STATUS.get(key, "unresolved")
    return Frame(
        frame.step, frame.epsilon, frame.temperature, frame.codes, frame.outputs, shares, frame.usage, None, None,
        frame.metrics, status, frame.status_step,
    )  # fmt: skip


def settled(epoch: float, step: float) -> bool:
    """Whether a verdict means anything yet: two whole epochs were seen."""
    return epoch >= _SETTLED_EPOCHS and step >= _SETTLED_STEPS


def _verdict(frame: CodebookFrame) -> str:
    key = frame.health.key
    return key if key == "diverged" or settled(frame.metrics["epoch"], frame.step) else UNCLEAR


def _assignments(frame: CodebookFrame) -> np.ndarray:
    """(S, K) one-hot: the nearest code of each sampled output, which is the leading one whatever T is."""
    shares = np.zeros((len(frame.output_codes), len(frame.codes)), dtype=np.float32)
    shares[np.arange(len(shares)), frame.output_codes.astype(np.int64)] = 1.0
    return shares


def extras(frame: CodebookFrame, run: Any) -> dict[str, np.ndarray]:
    """Pictures, usage and the verdict of a frame.

    pictures, hardened (n, H, W, C) uint8: reconstructions as used, and after argmax. tiles (K, 8, 8, C) uint8.
    cells (E, h, w) uint16: the code of every cell. used, weight (K,): shares of argmax and of q. health: place in
    `KEYS`.
    """
    return {
        "tiles": frame.tiles,
        "pictures": frame.reconstructions,
        "hardened": frame.reconstructions_hardened,
        "cells": frame.index_maps,
        "used": frame.usage.astype(np.float32),
        "weight": frame.weight.astype(np.float32),
        "health": np.array([KEYS.index(_verdict(frame))], dtype=np.uint8),
    }


def still(run: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The images kept apart, and what the view must know of the codebook."""
    about = run.sample_info()
    header = {
        "codebook": run.config.codebook,
        "num_codes": run.config.num_codes,
        "cell": about["cell"],
        "grid": list(about["grid"]),
        "steps_per_epoch": about["steps_per_epoch"],
        "train_images": about["train_images"],
        "verdicts": [*map(list, VERDICTS.items()), [UNCLEAR, "not yet clear"]],
    }
    return header, {"originals": about["originals"]}


def explain(panels: Sequence[tuple[str, CodebookConfig, Mapping[str, np.ndarray], Any]]) -> list[dict[str, Any]]:
    """What each verdict rests on, whenever one changes and every few frames between; numpy only."""
    moments = sorted({step for _, _, history, _ in panels for step in _changes(history)})
    items: list[dict[str, Any]] = []
    for moment in moments:
        text = " ".join(_describe(label, config, history, moment) for label, config, history, _ in panels)
        if text.strip() and (not items or items[-1]["text"] != text):
            items.append({"step": moment, "text": text})
    return items


def _changes(history: Mapping[str, np.ndarray]) -> list[int]:
    steps, before, found = history["step"], None, []
    recent = range(len(steps))[::_WHY_EVERY][-_WHY_KEPT:]  # never "the last row": what is shown lies a little behind it
    for i in range(len(steps)):
        key = _health(history, i).key if settled(history["epoch"][i], steps[i]) else UNCLEAR
        if key != before or i in recent:
            found.append(int(steps[i]))
        before = key
    return found


def _health(history: Mapping[str, np.ndarray], i: int) -> Any:
    names = ("used", "separation_relative", "error_relative", "error_hardened_relative", "used_weight")
    return codebook_health(*(float(history[name][i]) for name in names))


def _describe(label: str, config: CodebookConfig, history: Mapping[str, np.ndarray], until: int) -> str:
    here = int(np.searchsorted(np.asarray(history["step"]), until, side="right")) - 1
    if here < 0:
        return ""
    if not settled(history["epoch"][here], history["step"][here]) and _health(history, here).key != "diverged":
        return f"{label}: too early to say; a verdict takes {_SETTLED_EPOCHS} whole epochs."
    text = f"{label}: {_health(history, here).why}"
    if config.codebook != "soft":
        return text
    temperature, critical = float(history["temperature"][here]), float(history["critical_temperature"][here])
    if math.isfinite(critical) and temperature >= critical > 0:
        text += f" T = {temperature:.3g} is above T_c = {critical:.3g}: codes that meet cannot part again."
    gap = float(history["error_hardened"][here] / max(float(history["error"][here]), 1e-12)) - 1.0
    if gap > 0.02:
        text += f" Made hard, the error grows by {100 * gap:.0f} %."
    return text
