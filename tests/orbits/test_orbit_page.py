"""The Orbits page without a browser: links, uploads, looks, tables, figures, and the planes on their way to the view."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from dashboard.engine import packing, tasks
from dashboard.engine.uploads import Uploads, uploads
from dashboard.live import greeting, wire
from dashboard.orbits import look as looks
from dashboard.orbits.catalogues import catalogue_of, in_words, load_upload
from dashboard.orbits.earth import MOST_ORBITS, alt_text, chosen_orbits, earth_figure
from dashboard.orbits.methods import cluster_all, row
from dashboard.orbits.presets import BASE, POPULATION
from dashboard.orbits.state import OrbitState, from_query, panels_of, settle, to_query
from dashboard.tables import count_table, method_table
from ddcl_core import TrainingRun
from ddcl_core.data.plane import Plane, weighted_places
from ddcl_core.data.scene import load_scene
from ddcl_core.data.tables import OwnDocuments
from ddcl_core.errors import InputError
from ddcl_core.orbits import EARTH_RADIUS, REGIMES, features, synthetic_population
from ddcl_core.orbits.planes import along_altitude, along_eccentricity, along_inclination, orbit_planes
from tests.orbits.catalogue_text import DEBRIS, GPS, changed, text

SMALL = replace(BASE, data=replace(POPULATION, num_documents=300), batch_documents=None, max_steps=3, device="cpu")


@pytest.fixture(scope="module")
def run() -> TrainingRun:
    run = TrainingRun(replace(SMALL, sample_tokens=120))
    run.advance(float("inf"))
    return run


@pytest.fixture(scope="module")
def look(run: TrainingRun) -> looks.Look:
    side = looks.Side.of("left", run.config, run.assign())
    return looks.Look((side, replace(side, label="=right")), catalogue_of(run.config.data, run.config.seed))


# ---- links -----------------------------------------------------------------------------------------------------------


def test_a_link_reproduces_the_state() -> None:
    state = OrbitState(
        example="hot", pair=0, seed=3, epsilon=(0.1, None), temperature=(None, 2.0), objects=10_000, imbalance=50.0,
        noise=0.5, clusters=12, map="tilt", colour="class", side=1, prototype=4, cloud="Fengyun-1C",
    )  # fmt: skip
    assert from_query(to_query(state)) == (state, [])
    assert to_query(OrbitState()) == {"example": "rare"}


def test_a_loaded_catalogue_stays_out_of_the_link_and_is_asked_for() -> None:
    query = to_query(OrbitState(own="upload:abc", own_size=7))
    assert query == {"example": "rare", "data": "own"}
    state, problems = from_query(query)
    assert state.wanted and not state.own and "load it below" in problems[0]


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"example": "nope"}, "does not exist"),
        ({"pair": "9"}, "pair '9'"),
        ({"seed": "-1"}, "seed '-1'"),
        ({"objects": "1e9"}, "objects '1e9'"),
        ({"imbalance": "nan"}, "imbalance 'nan'"),
        ({"imbalance": "0.5"}, "imbalance '0.5'"),
        ({"noise": "x" * 99}, "noise 'xxx"),
        ({"eps": "1"}, "two numbers"),
        ({"T": "0,1"}, "left out"),
        ({"k": "0"}, "k '0'"),
        ({"prototype": "0"}, "prototype '0'"),
    ],
)
def test_a_broken_link_costs_one_sentence(query: dict[str, str], words: str) -> None:
    state, problems = from_query(query)
    assert len(problems) == 1 and words in problems[0]
    panels_of(state)


def test_what_the_view_reports_goes_into_the_link_and_nothing_else_changes() -> None:
    state = OrbitState()
    panels = panels_of(state)
    view = {"panels": [{"epsilon": 0.05, "temperature": 9.0}, {"epsilon": 0.05, "temperature": 1.0}], "map": "tilt", "seed": 5}
    new = settle(state, panels, view)
    assert new == replace(state, temperature=(9.0, None), map="tilt", seed=5)
    assert settle(state, panels, None) == state and settle(state, panels, {"map": "x", "seed": "y"}) == state


def test_small_catalogues_train_on_all_and_large_ones_in_batches() -> None:
    assert panels_of(OrbitState(objects=500))[0].config.batch_documents is None
    assert panels_of(OrbitState(objects=30_000))[0].config.batch_documents == 512


# ---- catalogues ------------------------------------------------------------------------------------------------------


def numbered(one: tuple[str, str, str], number: int) -> tuple[str, str, str]:
    """The same orbit under another catalogue number."""
    return changed(changed(one, 1, 2, f"{number:05d}"), 2, 2, f"{number:05d}")


def test_an_upload_reaches_the_workers_by_reference_and_whole() -> None:
    content = text(*(numbered(DEBRIS if n % 2 else GPS, 10_000 + n) for n in range(30))).encode()
    reference, catalogue = load_upload(content, "my file.tle")
    config = panels_of(OrbitState(own=reference, own_size=len(catalogue)))[0].config
    assert "NAVSTAR" not in str(config.to_dict()) and catalogue_of(config.data, 7) is catalogue
    scene = tasks.load_tokens("prototypes", config.to_dict(), "topic", uploads().held(config.data))
    assert scene.num_documents == len(catalogue) == 30 and len(scene.planes) == 2
    assert "Cosmos-2251 15" in in_words(catalogue)
    assert load_upload(content, "again")[0] == reference


def test_a_file_that_is_none_costs_one_sentence_and_a_lost_one_too() -> None:
    with pytest.raises(InputError, match="no element sets"):
        load_upload(b"hello", "hello.txt")
    with pytest.raises(InputError, match="load the file again"):
        catalogue_of(replace(POPULATION, texts=("upload:gone",)), 0)


def test_uploads_are_bounded_but_the_newest_stays() -> None:
    kept = Uploads(limit=3000)  # bytes; ten objects take two thousand
    first, second = (kept.keep(str(n).encode(), synthetic_population(10, seed=n)) for n in range(2))
    with pytest.raises(InputError):
        kept.held(replace(POPULATION, texts=(first,)))
    assert len(kept.held(replace(POPULATION, texts=(second,)))) == 10
    assert kept.held(POPULATION) is None
    long = kept.keep(b"long", OwnDocuments(("x" * 3000, "y"), (), ()))
    assert kept.held(replace(POPULATION, kind="custom", texts=(long,))).texts[1] == "y"
    with pytest.raises(InputError, match="load the file again"):
        kept.held(replace(POPULATION, texts=(second,)))


# ---- planes ----------------------------------------------------------------------------------------------------------


def test_known_orbits_lie_where_the_axes_say() -> None:
    assert along_altitude(200.0) == -1.0 and along_altitude(1e9) == 1.0
    assert along_altitude(np.sqrt(200.0 * 100_000.0)) == pytest.approx(0.0)
    assert along_eccentricity(1.0) == 1.0 and along_eccentricity(0.0) == -1.0 and along_inclination(65.0) == 0.0
    shape, tilt = orbit_planes(synthetic_population(50, seed=1))
    assert shape.positions.shape == tilt.positions.shape == (50, 2)
    assert np.abs(np.concatenate([shape.positions, tilt.positions])).max() <= 1.0
    assert {"GPS", "GEO belt", "Molniya", "Starlink"} <= {mark.text for mark in shape.landmarks}


def test_prototypes_lie_at_the_weighted_mean_of_their_objects() -> None:
    x = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    q = np.array([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.0, 1.0, 0.0]])
    found = weighted_places(x, q)
    np.testing.assert_allclose(found[0], [1 / 3, 0.0], atol=1e-7)
    np.testing.assert_allclose(found[1], [1 / 3, 2 / 3], atol=1e-7)
    np.testing.assert_allclose(found[2], x.mean(axis=0), atol=1e-7)  # nobody chooses it
    assert np.isfinite(weighted_places(x, q * np.nan)).all()


def test_planes_travel_once_and_frames_bring_prototypes_alone(run: TrainingRun) -> None:
    planes = packing.sampled_planes(run.scene, run)
    header, arrays = wire.unpack(packing.plane_message(planes[0]))
    assert header["kind"] == "shape" and header["x"]["ticks"][0][1] == "300" and arrays["positions"].shape == (120, 2)
    assert packing.on_plane([run.look()], planes[1]).shape == (1, 8, 2)
    made = greeting.planes({"planes": {"shape": b"message"}})
    assert made == {"shape": {"blob": b"", "message": b"message", "available": False}} and greeting.planes({}) == {}
    assert packing.sampled_planes(SimpleNamespace(), None) == []


def test_a_plane_needs_a_plain_name_and_a_position_for_each_token() -> None:
    plane = orbit_planes(synthetic_population(5))[0]
    for changes in ({"name": "umap"}, {"name": "a b"}, {"positions": np.full((5, 2), np.nan)}, {"positions": np.zeros(5)}):
        with pytest.raises(InputError):
            replace(plane, **changes)
    scene = load_scene(replace(POPULATION, num_documents=6), 0)
    with pytest.raises(InputError, match="5 positions for 6 tokens"):
        replace(scene, planes=(plane,))
    assert isinstance(plane, Plane)


# ---- looks -----------------------------------------------------------------------------------------------------------


def test_a_look_counts_every_object_once(look: looks.Look, run: TrainingRun) -> None:
    table = looks.confusion(look, 0)
    assert table.shape == (4, 8) and table.sum() == 300 and look.step == 3
    np.testing.assert_array_equal(table.sum(axis=1), list(look.catalogue.counts().values()))
    side = look.sides[0]
    assert sum(len(side.members(k)) for k in range(side.count)) == 300
    members = side.members(int(side.lead[0]))
    assert (np.diff(side.strength[members]) <= 0).all()
    assert side.usage.sum() == pytest.approx(1.0, abs=1e-5)
    frame = run.look()
    np.testing.assert_array_equal(frame.assignments.argmax(axis=1), side.lead[run.sample_places()])


def test_prototypes_on_one_spot_are_named_together(look: looks.Look) -> None:
    p = np.zeros((4, 2), dtype=np.float32)
    p[2:] = [[1.0, 0.0], [1.0, 1e-4]]
    side = replace(look.sides[0], prototypes=p, usage=np.full(4, 0.25))
    assert side.together() == [[0, 1], [2, 3]]


def test_words_csv_and_anomalies(look: looks.Look) -> None:
    k = int(np.bincount(look.sides[0].lead).argmax())
    assert f"Prototype {k + 1} leads for" in looks.profile(look, 0, k)
    assert looks.holders(np.array([1, 0, 199])) == "3: 100 %" and looks.holders(np.zeros(3)) == ""
    far = looks.anomalies(look, 0, 5)
    assert len(far["object"]) == 5 and (np.diff(far["distance"]) <= 0).all()
    lines = looks.members_csv(look).splitlines()
    assert len(lines) == 301 and "prototype (left, step 3)" in lines[0]
    assert looks.cloud_table(look, 0)[0] == []


def test_a_name_is_no_formula_and_no_markup() -> None:
    assert looks._safe("=1+1") == "'=1+1" and looks._safe("GPS") == "GPS" and looks._safe(3) == 3
    table = count_table(np.array([[1, 0]]), ["<b>x</b>"], ["1", "2"], "c", "corner", ["<i>"])
    assert "<b>" not in table and "<i>" not in table and 'scope="row"' in table and "aria-label" in table


def test_methods_are_scored_alike(look: looks.Look) -> None:
    said = []
    points, _ = features(look.catalogue)
    labels = np.asarray(look.catalogue.regime)
    rows = cluster_all(points.astype(np.float32), labels, 4, 8, 0, lambda share, text: said.append((share, text)))
    assert [r["name"].split(",")[0] for r in rows] == ["k-means", "k-means", "Gaussian mixture", "Gaussian mixture", "HDBSCAN"]
    assert rows[0]["accuracy"] > 0.5 and said[-1][0] == 1.0
    own = row("DDCL", labels, look.sides[0].lead, 4, 8)
    table = method_table([own, *rows], 1, REGIMES, "caption")
    assert table.count("<tr") == 7 and "recall MEO" in table


def test_the_globe_is_to_scale_bounded_and_said_in_words(look: looks.Look) -> None:
    places = chosen_orbits(np.arange(300))
    assert len(places) == MOST_ORBITS and len(chosen_orbits(np.arange(3))) == 3
    figure = earth_figure(look.catalogue, places, "dark")
    globe = np.stack([figure.data[0].x, figure.data[0].y, figure.data[0].z])
    np.testing.assert_allclose(np.linalg.norm(globe, axis=0), EARTH_RADIUS / 1000, rtol=1e-3)
    assert {trace.name.split(" ")[0] for trace in figure.data[2:]} <= set(REGIMES)
    assert "60 of the 300 orbits of prototype 1" in alt_text(look.catalogue, places, 0, 300)
    earth_figure(look.catalogue, places[:0])


def test_the_page_needs_no_torch() -> None:
    code = (
        "import sys; from dashboard.orbits import sections, controls, presets, measured; "
        "from ddcl_core.orbits import synthetic_population; synthetic_population(50); "
        "from dashboard.orbits.methods import row; import numpy as np; row('x', np.zeros(3, int), np.zeros(3, int), 4); "
        "assert not {'torch', 'umap', 'numba'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[2], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
