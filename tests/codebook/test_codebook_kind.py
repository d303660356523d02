"""A codebook in the live view: what travels to the browser, when a verdict is said, and what explains it."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest

from dashboard.codebook import kind
from dashboard.engine import kinds
from dashboard.engine.actor import LiveRun
from dashboard.live import wire
from ddcl_core.codebook import CodebookConfig, CodebookRun, ImageConfig, ImageSet, load_images
from ddcl_core.errors import InputError

TINY = CodebookConfig(
    images=ImageConfig("digits", num_images=64, eval_images=8), num_codes=6, dim=3, hidden=8, batch_images=16,
    sample_outputs=40, shown_images=4, frame_every=4, max_steps=40,
)  # fmt: skip


@lru_cache(maxsize=1)
def images() -> ImageSet:
    return load_images(TINY.images, TINY.seed)


def test_it_is_found_by_its_configuration() -> None:
    assert kinds.kind_of(TINY) is kind and kind.config_of(TINY.to_dict()) == TINY
    assert kind.METRIC_NAMES[:2] == ("epsilon", "temperature") and len(set(kind.METRIC_NAMES)) == len(kind.METRIC_NAMES)
    assert kind.given(TINY) is None
    with pytest.raises(InputError, match="load them again"):
        kind.given(replace(TINY, images=ImageConfig("own", reference="gone")))


@pytest.mark.parametrize("codebook", ["soft", "hard", "ema"])
def test_frames_carry_the_same_extras_whenever_they_are_taken(codebook: str) -> None:
    run = CodebookRun(TINY.with_(codebook=codebook), images())
    shapes = None
    for frame in run.advance(1e6, {"until_step": 16}):
        found = kind.extras(frame, run)
        now = {name: (array.shape, array.dtype) for name, array in found.items()}
        assert shapes in (None, now)
        shapes = now
        assert [found[name].sum() for name in ("used", "weight")] == pytest.approx([1.0, 1.0], abs=1e-5)
        if codebook != "soft":
            assert np.allclose(found["used"], found["weight"])
    assert set(kind.LIGHT) <= set(shapes)
    assert shapes["tiles"] == ((6, 8, 8, 1), np.uint8) and shapes["cells"] == ((8, 4, 4), np.uint16)


def test_a_live_run_sends_pictures_and_says_once_what_never_changes() -> None:
    live = LiveRun(TINY.to_dict(), images(), kind="codebook")
    header, arrays = wire.unpack(live.still())
    assert header["codebook"] == "soft" and header["grid"] == [4, 4] and header["steps_per_epoch"] == 4
    assert arrays["originals"].shape == (8, 16, 16, 1)
    result = live.advance(1e6, {"until_step": 8})
    header, arrays = wire.unpack(result["frames"])
    assert arrays["x_tiles"].shape[1:] == (6, 8, 8, 1) and len(arrays["x_health"]) == result["count"]


def test_a_verdict_waits_for_two_epochs() -> None:
    run = CodebookRun(TINY.with_(max_steps=24), images())
    said = {f.step: int(kind.extras(f, run)["health"][0]) for f in run.advance(1e6)}
    unclear = kind.KEYS.index(kind.UNCLEAR)
    assert all((health == unclear) == (step < 20) for step, health in said.items())
    assert kind.frame_of(run.last_frame).status in ("stable", "collapsed", "unresolved")
    assert not kind.settled(1, 500) and not kind.settled(40, 19) and kind.settled(2, 20)


def test_the_explanation_keeps_up_with_what_is_shown() -> None:
    run = CodebookRun(TINY, images())
    run.advance(1e6)
    items = kind.explain([("Soft", TINY, run.history, None), ("Hard", TINY.with_(codebook="hard"), run.history, None)])
    steps = [item["step"] for item in items]
    assert steps == sorted(set(steps)) and len(steps) > 2
    assert "too early" in items[0]["text"] and "Soft: " in items[-1]["text"] and "Hard: " in items[-1]["text"]
    again = kind.explain([("Soft", TINY, {k: v[:-1] for k, v in run.history.items()}, None)] * 2)
    assert [item["step"] for item in again] == [step for step in steps if step < run.history["step"][-1]]


def test_scouting_gives_a_pool_in_the_space_of_the_codes() -> None:
    pool = kind.scout([TINY, TINY.with_(codebook="hard")], images(), lambda fraction, text: None)
    assert pool["points"].dtype == np.float32 and pool["points"].shape[1] == 3
    assert len(pool["labels"]) == len(pool["points"]) and set(pool["labels"]) <= set(range(10))


def test_the_page_process_needs_no_torch() -> None:
    code = (
        "import sys, dashboard.codebook.kind, dashboard.codebook.controls, dashboard.codebook.sections, "
        "dashboard.codebook.state, dashboard.codebook.measured\n"
        "print([m for m in ('torch', 'umap', 'numba', 'sklearn', 'transformers') if m in sys.modules])"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.strip() == "[]"
