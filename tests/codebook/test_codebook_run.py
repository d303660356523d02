"""Codebook runs: the same whatever the slicing, exact snapshots, controls, divergence, and what the frames hold."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import torch

from ddcl_core import InputError, ScheduleConfig
from ddcl_core.codebook import CODEBOOK_METRICS, CodebookConfig, CodebookRun, ImageConfig, load_images, rate_distortion
from ddcl_core.codebook.snapshot import _FRAME_ARRAYS

torch.set_num_threads(1)
SMALL = CodebookConfig(
    images=ImageConfig("digits", 40, 6), num_codes=12, dim=4, hidden=6, batch_images=16, max_steps=14,
    sample_outputs=20, shown_images=3, frame_every=1,
)  # fmt: skip
KINDS = [
    {"schedule": ScheduleConfig("exponential", 2.0, 0.1, 8), "latent_norm": "batch", "objective": "F"},
    {"codebook": "hard", "initialization": "uniform"},
    {"codebook": "ema", "revive_below": 1.0, "latent_norm": "layer"},
]
kinds = pytest.mark.parametrize("changes", KINDS, ids=["soft", "hard", "ema"])


def same(a, b) -> None:
    assert [f.step for f in a] == [f.step for f in b]
    for x, y in zip(a, b, strict=True):
        np.testing.assert_equal(x.metrics, y.metrics)
        assert x.health == y.health and x.status == y.status
        for name in _FRAME_ARRAYS:
            assert np.array_equal(getattr(x, name), getattr(y, name)), (x.step, name)


@kinds
def test_slicing_snapshots_and_controls(changes):
    config = SMALL.with_(**changes)
    whole, sliced = CodebookRun(config), CodebookRun(config)
    wanted = whole.advance(1e9, {"until_step": 5}) + whole.advance(1e9, {"epsilon": 0.3, "temperature": 0.7})
    frames = []
    while not sliced.finished:
        controls = {"epsilon": 0.3, "temperature": 0.7} if sliced.step == 5 else {}
        frames += sliced.advance(0.0, {**controls, "until_step": sliced.step + 1})
        sliced = CodebookRun.restore(sliced.save())
    same(wanted, frames)
    assert whole.finished and whole.epsilon == 0.3 and whole.temperature == 0.7
    np.testing.assert_equal(whole.history, sliced.history)
    np.testing.assert_equal(whole.epoch_history, sliced.epoch_history)
    assert len(whole.epoch_history["used"]) == 14 // whole.steps_per_epoch


@kinds
def test_frames_hold_what_the_page_shows(changes):
    run = CodebookRun(SMALL.with_(**changes))
    frame = run.advance(1e9)[-1]
    assert frame.codes.shape == (12, 4) and frame.outputs.shape == (20, 4) and frame.output_codes.shape == (20,)
    assert frame.reconstructions.shape == frame.reconstructions_hardened.shape == (3, 16, 16, 1)
    assert frame.tiles.shape == (12, 8, 8, 1) and frame.tiles.dtype == np.uint8
    assert frame.index_maps.shape == (6, 4, 4) and frame.index_maps.max() < 12
    assert tuple(frame.metrics) == CODEBOOK_METRICS and frame.health is not None
    assert frame.usage_last.sum() == pytest.approx(1.0, abs=1e-5)
    info = run.sample_info()
    assert info["originals"].shape == (6, 16, 16, 1) and info["output_cells"].max() < 16
    at = (info["output_images"], info["output_cells"])
    assert np.array_equal(frame.index_maps.reshape(6, 16)[at], frame.output_codes)
    if changes.get("codebook"):
        assert frame.metrics["error"] == frame.metrics["error_hardened"] and frame.metrics["V"] == 0
    else:
        assert frame.metrics["L_q"] == pytest.approx(frame.metrics["L_OLS"] + frame.metrics["V"], rel=1e-4)


def test_both_sides_of_a_comparison_start_from_the_same_autoencoder():
    soft, hard = CodebookRun(SMALL), CodebookRun(SMALL.with_(codebook="hard"))
    for a, b in zip(soft.model.parameters(), hard.model.parameters(), strict=True):
        assert torch.equal(a, b)
    assert torch.equal(soft._order, hard._order)


def test_divergence_is_a_result_and_final():
    run = CodebookRun(SMALL.with_(codebook="hard", lr_codes=1e3, lr_decoder=1e3, max_steps=400, frame_every=50))
    frames = []
    while not run.finished:
        frames += run.advance(1e9)
    if run.status != "diverged":  # very large steps need not overflow in so few; then make it happen
        run.max_steps = 1000
        with torch.no_grad():
            run.model.codebook.codes.fill_(float("nan"))
        frames += run.advance(1e9)
    assert run.status == "diverged" and run.health.key == "diverged"
    assert (
        frames[-1].status == "diverged" and frames[-1].status_step == run.step and np.isfinite(frames[-1].outputs).all()
    )
    assert run.advance(1e9) == [] and CodebookRun.restore(run.save()).status == "diverged"


def test_players_stand_still():
    run = CodebookRun(SMALL)
    before = [p.clone() for p in run.model.encoder.parameters()], run.model.codebook.codes.clone()
    run.advance(1e9, {"until_step": 3, "who": "prototypes"})
    assert all(torch.equal(a, b) for a, b in zip(before[0], run.model.encoder.parameters()))
    assert not torch.equal(before[1], run.model.codebook.codes)


def test_other_bytes_and_other_images_are_refused():
    data = CodebookRun(SMALL).save()
    with pytest.raises(InputError, match="not a snapshot"):
        CodebookRun.restore(b"x" * 40)
    with pytest.raises(InputError, match="other images"):
        CodebookRun.restore(data, load_images(ImageConfig("digits", 30, 6)))


def test_configuration_round_trip_and_refusals():
    config = SMALL.with_(temperature=0.5)
    assert CodebookConfig.from_dict(config.to_dict()) == config and config.digest() != SMALL.digest()
    for bad in (
        {"codebook": "x"},
        {"num_codes": 0},
        {"revive_below": 1.0},
        {"latent_norm": True},
        {"epsilon": float("nan")},
    ):
        with pytest.raises(InputError):
            SMALL.with_(**bad)
    with pytest.raises(InputError, match="no setting called"):
        CodebookConfig.from_dict({"colour": 1})


def test_rate_distortion_points():
    points = rate_distortion(SMALL.with_(max_steps=2), (1, 4))
    assert [p.num_codes for p in points] == [1, 4] and points[0].bits_per_pixel == 0.0
    assert points[1].bits_per_pixel == pytest.approx(2 / 16)


def test_too_hot_uses_every_code_and_is_called_collapsed():
    hot = CodebookConfig(
        images=ImageConfig(num_images=128, eval_images=8), num_codes=16, dim=8, hidden=12, max_steps=80, frame_every=80,
        lr_codes=1e-2, lr_decoder=1e-2, batch_images=16,
    )  # fmt: skip
    run = CodebookRun(hot.with_(temperature=1.0))
    frame = run.advance(1e9)[-1]
    assert frame.metrics["separation_relative"] < 0.1 and frame.metrics["error_relative"] > 0.8
    assert frame.health.key in ("thermal", "collapsed") and not frame.health.alive


def test_importing_the_package_is_cheap():
    code = (
        "import sys, ddcl_core.codebook as c; c.CodebookConfig(); "
        "assert not {'torch', 'PIL', 'sklearn', 'streamlit'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
