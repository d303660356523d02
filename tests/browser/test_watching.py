"""What a person sees without doing much: it moves, one side collapses, the past can be looked at again."""

from __future__ import annotations

from pathlib import Path

import pytest

from dashboard.presets import PRESETS
from tests.browser.app_server import AppServer
from tests.browser.lab_page import LONG, LabPage


def test_the_picture_moves_without_a_click(lab: LabPage) -> None:
    lab.open({"example": "forces", "map": "pca"})
    first, step, drawn = lab.pictures(), lab.shown_step(), lab.count("framesDrawn")
    lab.reaches(step + 4)
    assert all(before != after for before, after in zip(first, lab.pictures(), strict=True))
    assert lab.count("framesDrawn") > drawn


def test_the_left_collapses_and_the_right_does_not(lab: LabPage) -> None:
    lab.open({"example": "synthetic", "map": "pca", "set": '{"max_steps":80}'})
    lab.set_speed(64)
    lab.until("root.dataset.status === 'collapsed stable'")
    lab.until("root.dataset.state === 'finished'")
    assert lab.count("statuses") == ["collapsed", "stable"]
    assert "COLLAPSED at step" in lab.at("verdict-0").inner_text() and "STABLE" in lab.at("verdict-1").inner_text()
    assert "ollapsed at step" in lab.at("why").inner_text()
    assert "400 more" in lab.at("play").inner_text()
    end = lab.newest_step()
    lab.at("play").click()
    lab.reaches(end + 1)


def test_scrubbing_shows_the_past_as_it_was(lab: LabPage) -> None:
    lab.open(LONG)
    # Arrows have one scale over the whole run, so only without them is an old picture the same to the pixel.
    lab.at("forces").uncheck(force=True)
    lab.set_speed(32)
    lab.reaches(8)
    early = lab.pause()
    lab.scrub(early)
    said, seen = [lab.at(f"verdict-{p}").inner_text() for p in (0, 1)], lab.pictures()
    lab.at("play").click()
    lab.until("root.dataset.status === 'collapsed stable'")
    lab.scrub(early)
    assert [lab.at(f"verdict-{p}").inner_text() for p in (0, 1)] == said
    assert "recorded" in lab.at("panel-0").locator(".step-tag").inner_text()
    assert lab.at("shown-step").inner_text() == f"step {early}"
    newest = lab.newest_step()
    lab.until("Number(root.dataset.newest) > arg", newest)  # the run goes on while the past is looked at
    assert lab.shown_step() == early
    assert lab.pictures() == seen
    lab.at("back-to-now").click()
    lab.until("Number(root.dataset.step) > arg", newest)
    assert lab.at("back-to-now").is_disabled()


@pytest.mark.parametrize("example", [p.key for p in PRESETS])
def test_every_example_opens_and_moves_in_silence(lab: LabPage, example: str) -> None:
    lab.open({"example": example, "map": "pca"})
    before = lab.picture(0)
    lab.reaches(lab.shown_step() + 3)
    assert lab.picture(0) != before
    assert next(p.watch for p in PRESETS if p.key == example)[:20] in lab.text()
    assert lab.errors == [] and lab.at("banner").is_hidden()


def test_the_page_process_never_loads_torch(lab: LabPage, app: AppServer) -> None:
    lab.open(LONG)
    maps = Path(f"/proc/{app.process.pid}/maps")
    if not maps.exists():
        pytest.skip("Only Linux says which libraries a process has loaded.")
    loaded = maps.read_text()
    assert "libtorch" not in loaded and "llvmlite" not in loaded
    workers = "".join(Path(f"/proc/{worker.pid}/maps").read_text() for worker in app.run_workers())
    assert "libtorch" in workers
    assert "Traceback" not in app.said()
