"""The kind of run that a hierarchy is: see `dashboard.engine.kinds`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dashboard.engine import prototypes_kind
from dashboard.live.explain import explain as explain_first
from ddcl_core.explain.names import best_words
from ddcl_core.frame import METRIC_NAMES as FIRST_METRICS
from ddcl_core.frame import Frame
from ddcl_core.hierarchy.config import MAX_LEVELS, HierarchyConfig
from ddcl_core.hierarchy.frame import HierarchyFrame, level_names

Report = Callable[[float, str], None]
METRIC_NAMES = (*FIRST_METRICS, *level_names(MAX_LEVELS - 1))
LIGHT: tuple[str, ...] = ()
TOP_WORDS = 3


def config_of(values: Mapping[str, Any]) -> HierarchyConfig:
    """The HierarchyConfig of a dictionary; raises InputError."""
    return HierarchyConfig.from_dict(dict(values))


def given(config: HierarchyConfig) -> Any:
    """The documents that a configuration refers to, or None."""
    return prototypes_kind.given(config.base)


def load(config: HierarchyConfig, report: Report, given: Any = None) -> Any:
    """The TokenScene of a configuration."""
    return prototypes_kind.load(config.base, report, given)


def scout(configs: Sequence[HierarchyConfig], scene: Any, report: Report) -> dict[str, np.ndarray]:
    """Where the tokens may go: that of the first levels."""
    return prototypes_kind.scout([config.base for config in configs], scene, report)


def make(config: HierarchyConfig, scene: Any, snapshot: bytes | None) -> Any:
    """A HierarchyRun, new or from a snapshot; it knows which word each sampled token belongs to."""
    from ddcl_core.hierarchy.run import HierarchyRun

    run = HierarchyRun(config, scene) if snapshot is None else HierarchyRun.restore(snapshot, scene)
    run.vocabulary, run.word_of = vocabulary_of(scene, run.sample_places())
    return run


def vocabulary_of(scene: Any, places: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Words of the sampled tokens that can name a prototype, and the number of each token's word, -1 for none.

    Pieces are joined to their words; stop words, numbers and single letters name nothing.
    """
    from ddcl_core.explain import word_index

    index = word_index(scene)
    ids = index.token_ids[places]
    used = np.unique(ids[ids >= 0])
    return [index.vocabulary[i] for i in used], np.where(ids >= 0, np.searchsorted(used, ids), -1)


def frame_of(frame: HierarchyFrame) -> Frame:
    """The first level's frame with the prototypes of all levels on the map, and no arrows."""
    prototypes = np.concatenate([frame.prototypes, *frame.upper])
    usage = np.concatenate([frame.usage, *frame.upper_usage])
    return Frame(
        frame.step, frame.epsilon, frame.temperature, prototypes, frame.tokens, frame.assignments, usage, None, None,
        frame.metrics, frame.status, frame.status_step,
    )  # fmt: skip


def extras(frame: HierarchyFrame, run: Any) -> dict[str, np.ndarray]:
    """links: flows u_k q_kj between neighbouring levels, one matrix after the other (float32); top_words (K, 3) int32: places in
    the vocabulary of the words most characteristic of each prototype of every level, -1 where there are none."""
    flows = []
    for share, link in zip((frame.usage, *frame.upper_usage), frame.links):
        flows.append((share[:, None] * link).ravel())
    chained = [frame.assignments]
    for link in frame.links:
        chained.append(chained[-1] @ link)
    tops = np.concatenate([top_words(q, run.word_of, len(run.vocabulary)) for q in chained])
    return {"links": np.concatenate(flows).astype(np.float32), "top_words": tops.astype(np.int32)}


def top_words(assignments: np.ndarray, word_of: np.ndarray, size: int, count: int = TOP_WORDS) -> np.ndarray:
    """(K, count) most characteristic words by class-based TF-IDF of assignments (S, K); see `ddcl_core.explain.names`."""
    lead, weight = assignments.argmax(axis=1), assignments.max(axis=1)
    return best_words(word_of, lead, weight, size, assignments.shape[1], count)[0]


def still(run: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Sizes of the levels and the vocabulary that names refer to."""
    config = run.hierarchy
    levels = [{"epsilon": level.epsilon, "temperature": level.temperature} for level in config.upper]
    return {"sizes": list(config.sizes), "levels": levels, "vocabulary": run.vocabulary}, {"none": np.zeros(1, np.uint8)}


def explain(panels: Sequence[tuple[str, HierarchyConfig, Mapping[str, np.ndarray], Any]]) -> list[dict[str, Any]]:
    """The first level's course, and which level has collapsed, in the order in which it happened."""
    first = explain_first([(label, config.base, history, controls) for label, config, history, controls in panels])
    items = []
    for item in first:
        texts = [_levels(label, config, history, item["step"]) for label, config, history, _ in panels]
        items.append({"step": item["step"], "text": " ".join([item["text"], *filter(None, texts)])})
    return items


def _levels(label: str, config: HierarchyConfig, history: Mapping[str, np.ndarray], until: int) -> str:
    here = int(np.searchsorted(np.asarray(history["step"]), until, side="right"))
    said = []
    for level in range(1, len(config.upper) + 1):
        collapsed = np.flatnonzero(history[f"collapsed@{level}"][:here] == 1.0)
        if len(collapsed) and history[f"collapsed@{level}"][here - 1] == 1.0:
            step = int(history["step"][collapsed[0]])
            t, c = history[f"temperature@{level}"][here - 1], history[f"critical_temperature@{level}"][here - 1]
            why = f", its T = {t:.3g} above its T_c = {c:.3g}" if t > c else ""
            said.append(f"level {level + 1} collapsed at step {step}{why}")
    if here:
        said.append(_sign_of_v(int(history["step"][here - 1]), float(history["violations"][here - 1])))
    return f"{label}: {'; '.join(said)}." if said else ""


def _sign_of_v(steps: int, violations: float) -> str:
    if not steps or not math.isfinite(violations):
        return "V of every level is checked at each step"
    if not violations:
        return f"V ≥ 0 on every level at each of {steps:,} step{'s' if steps > 1 else ''}"
    return f"V fell below 0 {violations:,.0f} times in {steps:,} steps, which the identity forbids: look for a fault"
