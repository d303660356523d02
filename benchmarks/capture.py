"""What frames cost: CPU seconds for the same training steps with frames and without, in turns of ten steps.

Three copies of one run make the same steps: one without frames, one whose `TrainingRun` captures them, one as a worker
has it (`LiveRun`: placed on a PCA and a UMAP map, packed for the wire, histories and snapshots too). The turns
alternate, so that whatever else the machine does falls on all three alike. CPU time of the thread, since other
programs take wall time at random.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from benchmarks.table import Row, load

TURN = 10
STEPS = 400
TARGET = 0.15
NEVER = 100_000  # frame_every: beyond any step


def measure() -> list[Row]:
    """Share of the training steps a second lost, over the default run and where frames are densest."""
    import torch

    from dashboard.engine.actor import LiveRun
    from dashboard.presets import PRESETS
    from ddcl_core import TrainingRun
    from ddcl_core.data.scene import load_scene
    from ddcl_core.frame import frame_due

    torch.set_num_threads(1)
    config = PRESETS[0].pairs[0].right.config.with_(device="cpu", max_steps=NEVER)
    scene = load_scene(config.data, config.seed)
    plain = TrainingRun(config.with_(frame_every=NEVER), scene)
    framed = TrainingRun(config, scene)
    live = LiveRun(config.to_dict(), scene, maps=_maps(framed))
    arms: dict[str, Callable[[int], object]] = {
        "without": lambda step: plain.advance(float("inf"), {"until_step": step}),
        "frames": lambda step: framed.advance(float("inf"), {"until_step": step}),
        "worker": lambda step: live.advance(float("inf"), {"until_step": step}),
    }
    for act in arms.values():
        act(1)  # the first step pays for what is loaded late
    spent = {name: [] for name in arms}
    for turn, stop in enumerate(range(TURN, STEPS + 1, TURN)):
        names = list(arms)
        for name in names[turn % 3 :] + names[: turn % 3]:
            began = time.thread_time()
            arms[name](stop)
            spent[name].append(time.thread_time() - began)
    how = f"{PRESETS[0].title}, right panel, {config.sample_tokens} tokens a frame, seed {config.seed}, one thread"
    rows = []
    for turns, what in ((slice(None), f"steps 1 to {STEPS}"), (slice(0, 4), "steps 1 to 40, a frame each")):
        last = STEPS if turns == slice(None) else 40
        frames = sum(frame_due(step, 0) for step in range(2, last + 1))
        base = sum(spent["without"][turns])
        said = f"{how}; {frames} frames, {1e3 * base / (last - 1):.1f} ms a step without"
        for name, words in (("frames", "TrainingRun"), ("worker", "worker's whole path")):
            lost = 1 - base / sum(spent[name][turns])
            wanted = {"target": f"at most {TARGET:.0%}", "holds": lost <= TARGET} if turns == slice(None) else {}
            named = f"steps a second lost to frames, {words}, {what}"
            rows.append(Row(named, f"{lost:.1%}", said, load=load(), **wanted))
    return rows


def _maps(run: object) -> dict[str, bytes]:
    """A PCA map, and one that is placed as a UMAP is (384 landmarks) without the time that fitting one takes."""
    import numpy as np

    from ddcl_core import atlas, maps

    tokens = run.look().tokens
    pca = maps.fit_reference(maps.build_pool([tokens]), "pca", 7, cache=False)
    chosen = np.random.default_rng(7).permutation(len(tokens))[:384]
    marks = tokens[chosen] - pca.centre
    umap = replace(
        pca, kind="umap", landmarks=marks, positions=marks @ pca.axes, axes=pca.axes[:, :0], explained_variance=None
    )
    return {"pca": atlas.map_to_bytes(pca), "umap": atlas.map_to_bytes(umap)}
