"""The Orbits page: it moves, its own maps show orbits, a catalogue is loaded and looked into."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dashboard.orbits.presets import ORBIT_PRESETS
from tests.browser.app_server import AppServer
from tests.browser.lab_page import LabPage
from tests.orbits.catalogue_text import DEBRIS, GEO, GPS, MOLNIYA, changed, text


@pytest.fixture
def orbits(new_lab: Callable[..., LabPage]) -> LabPage:
    """One tab for the Orbits page, not yet opened."""
    lab = new_lab()
    lab.path, lab.key = "orbits", "orbits"
    return lab


def catalogue(count: int = 40) -> bytes:
    """Orbits of four kinds under numbers of their own, and one line that is broken."""
    sets = []
    for n in range(count):
        number = f"{20_000 + n:05d}"
        one = (GPS, DEBRIS, MOLNIYA, GEO)[n % 4]
        sets.append(changed(changed(one, 1, 2, number), 2, 2, number))
    broken = (GPS[0], GPS[1], GPS[2][:30])
    return text(*sets, broken).encode()


def test_prototypes_move_on_the_orbit_map_and_objects_stand_still(orbits: LabPage) -> None:
    orbits.open({"objects": "500"})
    orbits.until("lab.map === 'shape'")
    before = orbits.picture(0)
    orbits.reaches(orbits.shown_step() + 4)
    assert orbits.picture(0) != before
    for kind in ("tilt", "pca", "shape"):
        orbits.at(f"map-{kind}").check(force=True)
        orbits.until("lab.map === arg", kind)
    orbits.page.keyboard.press("m")
    orbits.until("lab.map === 'tilt'")
    orbits.until_query("map", lambda value: value == "tilt")
    assert orbits.page.get_by_role("link", name="Stability").is_visible()


@pytest.mark.parametrize("example", [p.key for p in ORBIT_PRESETS])
def test_every_example_opens_and_moves(orbits: LabPage, example: str) -> None:
    orbits.open({"example": example, "objects": "500"}, step=3)
    assert next(p.watch for p in ORBIT_PRESETS if p.key == example)[:30] in orbits.text()
    assert orbits.at("banner").is_hidden()


def test_the_clusters_are_looked_at_when_the_run_rests(orbits: LabPage) -> None:
    orbits.open({"objects": "500"}, step=2)
    step = orbits.pause()
    page = orbits.page
    page.get_by_text(f"Below: step {step}, all 500 objects.").wait_for()
    assert page.get_by_role("table").first.locator("tbody tr").count() == 4
    page.get_by_role("tab", name="One prototype").click()
    page.locator(".js-plotly-plot").first.wait_for()
    page.get_by_role("tab", name="Other methods").click()
    page.get_by_text("HDBSCAN").first.wait_for()
    with page.expect_download() as saved:
        page.get_by_role("button", name="All objects with their clusters").click()
    assert saved.value.path().read_text(encoding="utf-8").count("\n") == 501


def test_a_catalogue_of_ones_own(orbits: LabPage, app: AppServer) -> None:
    orbits.open({"objects": "500"})
    page = orbits.page
    page.get_by_role("button", name="Own catalogue").click()
    files = page.locator("input[type=file]")
    files.set_input_files({"name": "none.txt", "mimeType": "text/plain", "buffer": b"no elements here"})
    page.get_by_text("What runs goes on unchanged").wait_for()
    files.set_input_files({"name": "mine.tle", "mimeType": "text/plain", "buffer": catalogue()})
    page.get_by_text("40 objects: ").first.wait_for()
    page.get_by_text("One entry was left out").wait_for()
    page.keyboard.press("Escape")
    orbits.reaches(1)
    assert orbits.until_query("data", lambda value: value == "own") and "mine" not in page.url
    page.get_by_text("all 40 objects.").first.wait_for()
    page.get_by_role("tab", name="Debris clouds").click()
    page.get_by_role("rowheader", name="Cosmos-2251").first.wait_for()
    assert "Traceback" not in app.said()


def test_imbalance_starts_a_new_run_and_goes_into_the_link(orbits: LabPage) -> None:
    orbits.open({"objects": "500"}, step=2)
    orbits.page.get_by_role("slider", name="Imbalance").press("ArrowRight")
    assert orbits.until_query("imbalance", bool) == "20"
    orbits.page.get_by_text("500 objects: ").first.wait_for()
    orbits.reaches(1)
