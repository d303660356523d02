"""Synthetic populations, features, scenes: the dials do what they say, and a run trains on orbits unchanged."""

from __future__ import annotations

import numpy as np
import pytest

from ddcl_core import DataConfig, EncoderConfig, InputError, RunConfig, ScheduleConfig, TrainingRun
from ddcl_core.data import load_scene
from ddcl_core.orbits import (
    EARTH_RADIUS, FEATURE_UNITS, FEATURES, GEO_RADIUS, REGIMES, features, orbit_of, orbit_paths, orbit_scene,
    raw_features, read_catalogue, regime_shares, regimes, synthetic_population,
)  # fmt: skip
from ddcl_core.orbits.elements import mean_motion, semi_major_axis
from tests.orbits.catalogue_text import ALL, changed, text

SEEDS = (0, 1, 7)
ORBITS = DataConfig(kind="orbits", dim=6, num_documents=400, imbalance=10.0)


def test_kepler_third_law():
    assert semi_major_axis(1440 / 1436.068) == pytest.approx(GEO_RADIUS, abs=1.0)
    a = np.array([6700.0, 26_560.0, 42_164.0])
    np.testing.assert_allclose(semi_major_axis(mean_motion(a)), a, rtol=1e-12)
    assert np.isnan(semi_major_axis(0.0))


@pytest.mark.parametrize(
    ("n", "e", "regime"),
    [
        (15.0, 0.001, "LEO"), (11.26, 0.24, "LEO"), (11.25, 0.0, "MEO"), (2.0, 0.01, "MEO"), (1.11, 0.0, "MEO"),
        (1.1, 0.0, "GEO"), (1.0027, 0.0, "GEO"), (0.9, 0.0, "GEO"), (0.89, 0.0, "HEO"), (2.0, 0.7, "HEO"),
        (15.0, 0.25, "HEO"), (1.0, 0.25, "HEO"),
    ],
)  # fmt: skip
def test_regimes_at_the_borders_of_their_rules(n, e, regime):
    assert REGIMES[regimes(np.array([n]), np.array([e]))[0]] == regime


def test_shares_are_a_geometric_series_with_the_stated_ratio():
    np.testing.assert_allclose(regime_shares(1), 0.25)
    shares = dict(zip(REGIMES, regime_shares(50)))
    assert shares["LEO"] / shares["MEO"] == pytest.approx(50) and sum(shares.values()) == pytest.approx(1)
    assert shares["LEO"] / shares["GEO"] == pytest.approx(shares["HEO"] / shares["MEO"])
    for bad in (0.5, float("nan"), float("inf")):
        with pytest.raises(InputError, match="imbalance"):
            regime_shares(bad)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("objects", "imbalance"), [(1, 50), (4, 10_000), (1000, 1), (3000, 50)])
def test_counts_follow_the_shares_and_no_regime_is_empty(objects, imbalance, seed):
    catalogue = synthetic_population(objects, imbalance, 0.3, seed)
    counts = np.array(list(catalogue.counts().values()))
    assert counts.sum() == objects == len(catalogue.names)
    assert np.abs(counts - objects * regime_shares(imbalance)).max() < (1 if objects >= 1000 else objects)
    assert objects < 4 or counts.min() >= 1


@pytest.mark.parametrize("seed", SEEDS)
def test_without_noise_objects_obey_the_rules_of_their_regime_but_for_a_few(seed):
    catalogue = synthetic_population(3000, 1.0, 0.0, seed)
    ruled = regimes(catalogue.mean_motion, catalogue.eccentricity)
    assert (ruled == catalogue.regime).mean() > 0.97  # the rest: scattered MEO and nearly circular science orbits
    smeared = synthetic_population(3000, 1.0, 2.0, seed)
    assert (regimes(smeared.mean_motion, smeared.eccentricity) == smeared.regime).mean() < 0.97


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("noise", [0.0, 0.35, 3.0])
def test_every_object_is_a_possible_orbit_and_a_seed_fixes_it(seed, noise):
    one, two = (synthetic_population(500, 50, noise, seed) for _ in range(2))
    assert (one.perigee_altitude > 150).all() and (0 <= one.eccentricity).all() and (one.eccentricity < 1).all()
    assert (0 <= one.inclination).all() and (one.inclination <= 180).all()
    for name in ("mean_motion", "eccentricity", "inclination", "node", "regime"):
        assert np.array_equal(getattr(one, name), getattr(two, name))
    assert not np.array_equal(one.mean_motion, synthetic_population(500, 50, noise, seed + 1).mean_motion)


def test_bad_sizes_and_noise_are_refused():
    with pytest.raises(InputError, match="objects is 0"):
        synthetic_population(0)
    with pytest.raises(InputError, match="noise is -1"):
        synthetic_population(5, noise=-1)
    with pytest.raises(InputError, match="data.imbalance is 0.5"):
        DataConfig(kind="orbits", imbalance=0.5)


def test_features_by_hand_and_there_and_back():
    catalogue = read_catalogue(text(*ALL))
    raw = raw_features(catalogue)
    assert len(FEATURES) == len(FEATURE_UNITS) == raw.shape[1]
    a, e, i = catalogue.axis[1], 0.0050396, np.radians(55.4781)
    np.testing.assert_allclose(
        raw[1], [np.log(a), e, np.cos(i), np.sin(i), np.log(a * (1 - e)), np.log(a * (1 + e))], rtol=1e-9
    )
    z, scale = features(catalogue)
    np.testing.assert_allclose(z.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(z.var(axis=0), 1, rtol=1e-9)
    np.testing.assert_allclose(scale.invert(z), raw, rtol=1e-12)
    back = orbit_of(scale.invert(z))
    np.testing.assert_allclose(back["axis"], catalogue.axis, rtol=1e-9)
    np.testing.assert_allclose(back["inclination"], catalogue.inclination, rtol=1e-9)


def test_constant_features_are_zero_and_one_object_is_enough():
    z, _ = features(read_catalogue(text(ALL[0])))
    assert (z == 0).all()
    same = [changed(changed(ALL[0], 1, 2, n), 2, 2, n) for n in ("00001", "00002", "00003")]
    assert (features(read_catalogue(text(*same)))[0] == 0).all()
    with pytest.raises(InputError, match="orbits have 6 features"):
        load_scene(DataConfig(kind="orbits"), 0)


def test_paths_are_the_stated_ellipses():
    catalogue = read_catalogue(text(*ALL))
    c = catalogue
    path = orbit_paths(c.axis, c.eccentricity, c.inclination, c.node, c.perigee, 361)
    radius = np.linalg.norm(path, axis=-1)
    np.testing.assert_allclose(radius.min(axis=1) - EARTH_RADIUS, catalogue.perigee_altitude, rtol=1e-9)
    np.testing.assert_allclose(radius.max(axis=1) - EARTH_RADIUS, catalogue.apogee_altitude, rtol=1e-4)
    np.testing.assert_allclose(path[:, 0], path[:, -1], atol=1e-6)
    normal = np.cross(path[:, 0], path[:, 90])
    tilt = np.degrees(np.arccos(normal[:, 2] / np.linalg.norm(normal, axis=1)))
    np.testing.assert_allclose(tilt, catalogue.inclination, atol=1e-6)


def test_a_position_on_the_path_is_where_sgp4_puts_the_object():
    from sgp4.api import Satrec

    for name, one, two in ALL[1:]:
        satellite = Satrec.twoline2rv(one, two)
        _, position, _ = satellite.sgp4(satellite.jdsatepoch, satellite.jdsatepochF)
        c = read_catalogue(text((name, one, two)))
        path = orbit_paths(c.axis, c.eccentricity, c.inclination, c.node, c.perigee, 2000)[0]
        distance = np.linalg.norm(path - np.array(position), axis=1).min()
        assert distance < 0.005 * np.linalg.norm(position)  # two-body against SGP4's short-period terms


@pytest.mark.parametrize("seed", SEEDS)
def test_a_scene_holds_every_object_as_one_token(seed):
    scene = load_scene(ORBITS, seed)
    assert scene.tokens.shape == (400, 1, 6) and scene.class_names == REGIMES
    assert scene.num_tokens == 400 and scene.texts[3].startswith(scene.words[3][0])
    assert np.sum(scene.tokens.astype(float) ** 2, axis=-1).mean() == pytest.approx(6, rel=1e-5)
    assert np.array_equal(scene.tokens, load_scene(ORBITS, seed).tokens)


def test_a_file_in_the_configuration_makes_the_scene_and_says_what_was_left_out():
    bad = (ALL[0][0], ALL[0][1][:-1] + "0", ALL[0][2])
    config = DataConfig(kind="orbits", dim=3, num_documents=100, texts=(text(bad, *ALL[1:]),))
    scene = load_scene(config, 0)
    assert scene.tokens.shape == (5, 1, 3) and scene.words[0] == [ALL[1][0]]
    assert any("Left out 1: line 2: the checksum" in note for note in scene.notes)
    fewer = load_scene(DataConfig(kind="orbits", dim=3, num_documents=3, texts=(text(*ALL),)), 1)
    assert fewer.num_documents == 3
    assert RunConfig.from_dict(RunConfig(data=config, encoder=EncoderConfig("mlp")).to_dict()).data == config
    assert np.array_equal(orbit_scene(config, 0, read_catalogue(text(*ALL[1:]))).tokens, scene.tokens)


@pytest.mark.parametrize("encoder", ["mlp", "none", "residual", "transformer"])
@pytest.mark.parametrize("batch", [None, 64])
def test_a_run_trains_on_orbits_unchanged(encoder, batch):
    config = RunConfig(
        data=ORBITS, encoder=EncoderConfig(encoder, heads=2, final_norm=False),
        schedule=ScheduleConfig(start=1.0, end=1.0),
        num_prototypes=6, initialization="kmeans++", batch_documents=batch, max_steps=30, frame_every=10, device="cpu",
    )  # fmt: skip
    run = TrainingRun(config)
    frames = run.advance(float("inf"))
    assert [f.step for f in frames] == [0, 10, 20, 30] and run.status == "stable"
    assert frames[-1].metrics["L_q"] < frames[0].metrics["L_q"]
    assert (run.history["V"] >= 0).all()
    again = TrainingRun.restore(run.save())
    assert np.array_equal(again.model.prototypes.detach(), run.model.prototypes.detach())
