"""Training runs: the same whatever the slicing, exact snapshots, controls between steps, the end in sight."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from ddcl_core import DataConfig, EncoderConfig, InputError, RunConfig, ScheduleConfig, TrainingRun
from ddcl_core.frame import METRIC_NAMES, Controls, frame_due
from ddcl_core.losses import quantization_losses

SMALL = RunConfig(
    data=DataConfig(num_documents=6, tokens_per_document=8, dim=8, clusters=3),
    encoder=EncoderConfig(heads=2, layers=1), num_prototypes=4, sample_tokens=20, max_steps=60,
)  # fmt: skip


def same(a: dict[str, float], b: dict[str, float]) -> bool:
    return all(x == y or (math.isnan(x) and math.isnan(y)) for x, y in zip(a.values(), b.values(), strict=True))


def assert_same_frames(left, right) -> None:
    assert [f.step for f in left] == [f.step for f in right]
    for a, b in zip(left, right, strict=True):
        assert same(a.metrics, b.metrics), a.step
        for name in ("prototypes", "tokens", "assignments", "usage", "force_ols", "force_variance"):
            assert np.array_equal(getattr(a, name), getattr(b, name)), (a.step, name)


def sliced(run: TrainingRun, until: int, controls: dict[int, dict] = {}) -> list:
    frames = []
    while run.step < until:
        frames += run.advance(0.0, {**controls.get(run.step, {}), "until_step": run.step + 1})
    return frames


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"optimizer": "adam", "anchor": "classification"},
        {"anchor": "reconstruction", "objective": "F", "batch_documents": 2},
        {"objective": "L_OLS", "schedule": ScheduleConfig("cosine", 2.0, 0.5, 20)},
    ],
)
def test_frames_do_not_depend_on_slicing(changes, seed):
    config = SMALL.with_(seed=seed, **changes)
    assert_same_frames(TrainingRun(config).advance(1e9, {"until_step": 25}), sliced(TrainingRun(config), 25))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("changes", [{}, {"optimizer": "adam", "batch_documents": 3, "anchor": "reconstruction"}])
def test_a_restored_run_goes_on_exactly(changes, seed):
    config = SMALL.with_(seed=seed, **changes)
    whole, other = TrainingRun(config), TrainingRun(config)
    wanted = whole.advance(1e9, {"until_step": 12}) + whole.advance(1e9, {"until_step": 30, "epsilon": 0.5, "temperature": 1.0})
    got = other.advance(1e9, {"until_step": 12})
    other = TrainingRun.restore(other.save())
    got += other.advance(1e9, {"until_step": 17, "epsilon": 0.5, "temperature": 1.0})
    other = TrainingRun.restore(other.save(), other.scene)
    got += other.advance(1e9, {"until_step": 30})
    assert_same_frames(wanted, got)
    for name, values in whole.history.items():
        np.testing.assert_array_equal(values, other.history[name])


@pytest.mark.parametrize("seed", range(2))
def test_measuring_a_sample_changes_what_is_shown_and_not_what_is_trained(seed):
    ragged = ("one word", "two words here", "a", "some more of these words", "the end of it", "nothing else")
    data = DataConfig(kind="custom", texts=ragged, num_documents=6, tokens_per_document=8, dim=4)
    config = SMALL.with_(data=data, seed=seed, batch_documents=2, frame_every=3, sample_tokens=7)
    whole = TrainingRun(config)
    part = TrainingRun(config.with_(measured_documents=3), whole.scene)
    frame = part.advance(1e9, {"until_step": 9})[-1]
    whole.advance(1e9, {"until_step": 9})
    assert torch.equal(whole.model.prototypes, part.model.prototypes)
    chosen = part._measured.tolist()
    assert len(set(chosen)) == 3
    with torch.no_grad():
        z = part.model.encode()
        owners = torch.from_numpy(np.nonzero(part.scene.mask)[0])
        losses = quantization_losses(z[torch.isin(owners, part._measured)], part.model.prototypes, part.temperature)
    assert frame.metrics["L_q"] == pytest.approx(float(losses.total), rel=1e-5)
    places = part.sample_places()
    np.testing.assert_allclose(frame.tokens, z[places].numpy(), atol=1e-6)
    info = part.sample_info()
    assert set(info["documents"]) <= set(chosen) and (info["documents"] == owners.numpy()[places]).all()
    flat = [word for row in part.scene.words for word in row]
    assert info["words"] == [flat[place] for place in places]
    assert "3 of the 6 documents" in part.notes[0] and not whole.notes
    again = TrainingRun.restore(part.save(), part.scene)
    assert_same_frames(part.advance(1e9, {"until_step": 15}), again.advance(1e9, {"until_step": 15}))


def test_a_sample_to_measure_needs_batches():
    with pytest.raises(InputError, match="needs batch_documents"):
        SMALL.with_(measured_documents=3)
    assert TrainingRun(SMALL.with_(batch_documents=2, measured_documents=600)).notes == []


def test_full_batch_descent_follows_the_gradient_of_the_loss():
    """One SGD step on frozen tokens, against autograd in float64."""
    config = SMALL.with_(encoder=EncoderConfig("none"), lr_prototypes=0.05)
    run = TrainingRun(config)
    before = torch.from_numpy(run.advance(1e9, {"until_step": 0})[0].prototypes).double().requires_grad_()
    tokens = torch.from_numpy(run.scene.tokens[run.scene.mask]).double()
    quantization_losses(tokens, before, 2.0).total.backward()
    after = run.advance(1e9, {"until_step": 1})[-1].prototypes
    np.testing.assert_allclose(after, (before - 0.05 * before.grad).detach().numpy(), rtol=1e-5, atol=1e-6)


def test_metrics_of_a_frame_belong_to_its_own_state():
    frame = TrainingRun(SMALL.with_(sample_tokens=48)).advance(1e9, {"until_step": 7})[-1]
    losses = quantization_losses(torch.from_numpy(frame.tokens).double(), torch.from_numpy(frame.prototypes).double(), 2.0)
    assert frame.metrics["L_q"] == pytest.approx(float(losses.total), rel=1e-5)
    assert frame.metrics["F_tilde"] == pytest.approx(float(losses.normalized_free_energy), rel=1e-5)
    np.testing.assert_allclose(frame.usage, losses.assignments.mean(0).numpy(), atol=1e-6)
    assert set(frame.metrics) == set(METRIC_NAMES)


def test_epsilon_and_temperature_act_at_the_next_step_and_are_written_down():
    run = TrainingRun(SMALL)
    run.advance(1e9, {"until_step": 5})
    frames = run.advance(1e9, {"until_step": 8, "epsilon": 0.7, "temperature": 3.0})
    assert [f.step for f in frames] == [5, 6, 7, 8]  # step 5 again, since T changes what is measured there
    assert {f.temperature for f in frames} == {3.0} and frames[-1].metrics["epsilon"] == 0.7
    assert run.history["step"].tolist() == list(range(9))
    assert {g["name"]: g["lr"] for g in run.optimizer.param_groups}["encoder"] == pytest.approx(0.07)


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_one_player_moves_and_the_other_rests(optimizer):
    run = TrainingRun(SMALL.with_(optimizer=optimizer, anchor="reconstruction"))
    run.advance(1e9, {"until_step": 3})
    encoder = [p.clone() for p in run.model.encoder.parameters()]
    prototypes, head = run.model.prototypes.clone(), run.model.head.weight.clone()
    run.advance(1e9, {"until_step": 5, "who": "prototypes"})
    assert all(torch.equal(a, b) for a, b in zip(encoder, run.model.encoder.parameters(), strict=True))
    assert not torch.equal(prototypes, run.model.prototypes) and not torch.equal(head, run.model.head.weight)
    prototypes = run.model.prototypes.clone()
    run.advance(1e9, {"until_step": 7, "who": "encoder"})
    assert torch.equal(prototypes, run.model.prototypes)
    assert not all(torch.equal(a, b) for a, b in zip(encoder, run.model.encoder.parameters(), strict=True))


def test_epsilon_zero_freezes_the_encoder():
    run = TrainingRun(SMALL.with_(epsilon=0.0))
    first, *_, last = run.advance(1e9, {"until_step": 10})
    np.testing.assert_array_equal(first.tokens, last.tokens)
    assert not np.array_equal(first.prototypes, last.prototypes)


@pytest.mark.parametrize("seed", range(3))
def test_divergence_is_an_end_with_the_last_finite_frame_kept(seed):
    run = TrainingRun(SMALL.with_(seed=seed, encoder=EncoderConfig(heads=2, final_norm=False), epsilon=50.0))
    frames = run.advance(1e9)
    assert run.status == "diverged" and run.finished and frames[-1].status == "diverged"
    assert np.isfinite(frames[-1].tokens).all() and np.isfinite(frames[-1].prototypes).all()
    assert frames[-1].step == frames[-1].status_step == run.step
    assert run.advance(1e9) == []
    assert TrainingRun.restore(run.save()).status == "diverged"


def test_free_energy_rises_are_counted_but_not_when_the_temperature_is_raised():
    frozen = SMALL.with_(encoder=EncoderConfig("none"), objective="F", lr_prototypes=0.02)
    run = TrainingRun(frozen)
    run.advance(1e9, {"until_step": 20})
    run.advance(1e9, {"until_step": 25, "temperature": 8.0})  # heating lifts F~, and is no rise of the descent
    assert run.f_tilde_increases == 0
    wild = TrainingRun(frozen.with_(lr_prototypes=40.0, temperature=0.05))
    wild.advance(1e9, {"until_step": 30})
    rises = np.diff(wild.history["F_tilde"]) > 1e-5
    assert wild.f_tilde_increases == rises.sum() > 0


def test_cooling_by_schedule_lowers_f_tilde_while_f_itself_rises():
    config = SMALL.with_(
        encoder=EncoderConfig("none"), objective="F", lr_prototypes=0.0, schedule=ScheduleConfig("linear", 4.0, 0.5, 20)
    )
    run = TrainingRun(config)
    run.advance(1e9, {"until_step": 20})
    assert (np.diff(run.history["F"]) > 0).all() and (np.diff(run.history["F_tilde"]) < 0).all()
    assert run.temperature == pytest.approx(0.5)


def test_frames_come_at_steps_and_a_run_ends_with_one():
    assert [s for s in range(133) if frame_due(s, 0)] == [*range(41), *range(42, 133, 2)]
    run = TrainingRun(SMALL.with_(frame_every=7, max_steps=20))
    assert [f.step for f in run.advance(1e9)] == [0, 7, 14, 20]
    run.max_steps = 30
    assert not run.finished and [f.step for f in run.advance(1e9)] == [21, 28, 30]


def test_a_look_shows_the_present_step_and_leaves_no_trace():
    run, other = TrainingRun(SMALL.with_(frame_every=10)), TrainingRun(SMALL.with_(frame_every=10))
    assert [f.step for f in run.advance(1e9, {"until_step": 3})] == [0]
    look = run.look()
    assert look.step == 3 and look.metrics["L_q"] == run.history["L_q"][3]
    assert_same_frames(run.advance(1e9, {"until_step": 20}), other.advance(1e9, {"until_step": 20})[1:])


def test_padding_never_counts():
    """Every document twice as long, the second half padding full of nonsense: the same training."""
    import dataclasses

    scene = TrainingRun(SMALL).scene
    filler = np.full_like(scene.tokens, np.nan)
    padded = dataclasses.replace(
        scene,
        tokens=np.concatenate([scene.tokens, filler], 1),
        mask=np.concatenate([scene.mask, np.zeros_like(scene.mask)], 1),
        token_labels=np.concatenate([scene.token_labels, np.full_like(scene.token_labels, -1)], 1),
    )
    bare, other = (TrainingRun(SMALL, s).advance(1e9, {"until_step": 10})[-1] for s in (scene, padded))
    np.testing.assert_allclose(bare.tokens, other.tokens, atol=2e-5)
    assert bare.metrics["L_q"] == pytest.approx(other.metrics["L_q"], rel=1e-5)


def test_the_sample_knows_its_words_and_classes():
    run = TrainingRun(SMALL)
    info = run.sample_info()
    assert len(info["labels"]) == len(info["words"]) == len(info["documents"]) == 20
    frame = run.advance(1e9, {"until_step": 0})[0]
    assert frame.tokens.shape == (20, 8) and frame.assignments.shape == (20, 4)
    np.testing.assert_allclose(frame.assignments.sum(1), 1, atol=1e-6)


@pytest.mark.parametrize(
    ("config", "says"),
    [
        (SMALL.with_(num_prototypes=1), None),
        (SMALL.with_(num_prototypes=64), None),
        (SMALL.with_(data=DataConfig(num_documents=1, tokens_per_document=1, dim=4)), None),
        (SMALL.with_(device="cuda:7"), "not available"),
    ],
)
def test_odd_sizes_train_or_are_refused_in_words(config, says):
    if says is None:
        frames = TrainingRun(config).advance(1e9, {"until_step": 3})
        assert len(frames) == 4 and np.isfinite(frames[-1].prototypes).all()
    else:
        with pytest.raises(InputError, match=says):
            TrainingRun(config)


@pytest.mark.parametrize("controls", [{"temperature": 0}, {"temperature": float("nan")}, {"epsilon": -1}, {"who": "x"}, {"y": 1}])
def test_controls_that_cannot_be_are_refused_and_nothing_is_lost(controls):
    run = TrainingRun(SMALL)
    run.advance(1e9, {"until_step": 2})
    with pytest.raises(InputError):
        run.advance(1e9, controls)
    assert run.step == 2 and len(run.advance(1e9, Controls(until_step=3))) == 1


@pytest.mark.parametrize("data", [b"", b"nonsense", b"\x08\0\0\0\0\0\0\0{}      "])
def test_a_file_that_is_no_snapshot_is_refused(data):
    with pytest.raises(InputError, match="snapshot"):
        TrainingRun.restore(data)
