"""Sliders, buttons and keys: what a hand does is seen in the frames, and in the link."""

from __future__ import annotations

import pytest

from dashboard.presets import preset
from tests.browser.lab_page import LONG, LabPage


def _frames_show(lab: LabPage, panel: int, name: str, value: float) -> None:
    """Wait until a shown frame was computed under this value."""
    for _ in range(900):
        if lab.shown(panel, name) == pytest.approx(value, rel=2e-2):
            return
        lab.page.wait_for_timeout(100)
    raise AssertionError(f"{name} is {lab.shown(panel, name)}, not {value}")


def test_a_slider_moved_by_keys_acts_and_goes_into_the_link(lab: LabPage) -> None:
    lab.open(LONG)
    slider = lab.at("epsilon-0")
    slider.focus()
    for _ in range(12):
        slider.press("ArrowLeft")
    value = float(lab.at("epsilon-number-0").input_value())
    assert 0.4 < value < 0.8
    _frames_show(lab, 0, "epsilon", value)
    assert lab.shown(1, "epsilon") == 0.05 and lab.count("controlsApplied") > 0
    assert float(lab.until_query("eps", lambda said: said and not said.startswith(",")).split(",")[0]) == value


def test_a_slider_dragged_by_the_mouse_acts_before_it_is_let_go(lab: LabPage) -> None:
    lab.open(LONG)
    slider = lab.at("temperature-1")
    box = slider.bounding_box()
    assert box is not None
    y = box["y"] + box["height"] / 2
    lab.page.mouse.move(box["x"] + box["width"] * 0.575, y)
    lab.page.mouse.down()
    lab.page.mouse.move(box["x"] + box["width"] * 0.8, y, steps=6)
    value = float(lab.at("temperature-number-1").input_value())
    assert 10 < value < 40
    _frames_show(lab, 1, "temperature", value)
    assert "T" not in lab.query()  # nothing is settled while the hand is on it
    lab.page.mouse.up()
    assert float(lab.until_query("T", bool).split(",")[1]) == value
    # Far above T_c the prototypes of the slow side merge too: the hand changed what happens.
    lab.set_speed(32)
    lab.until("root.dataset.status.endsWith('collapsed')")


def test_a_number_that_is_none_is_put_back(lab: LabPage) -> None:
    lab.open(LONG)
    box = lab.at("temperature-number-0")
    for typed, kept in (("two", "2"), ("", "2"), ("0", "1e-4"), ("-5", "1e-4"), ("three", "1e-4")):
        box.fill(typed)
        box.press("Enter")
        assert float(box.input_value()) == float(kept), typed
    lab.reaches(lab.shown_step() + 3)
    assert lab.errors == []


def test_one_step_of_one_player(lab: LabPage) -> None:
    lab.open(LONG, step=3)
    at = lab.pause()
    for who in ("both", "encoder", "prototypes"):
        lab.at("step-who").select_option(who)
        lab.at("step").click()
        at += 1
        lab.until("Number(root.dataset.step) === arg && root.dataset.newest === root.dataset.step", at)
    lab.page.wait_for_timeout(600)
    assert lab.shown_step() == at


def test_reset_and_seed_start_over(lab: LabPage) -> None:
    lab.open(LONG, step=3)
    lab.pause()
    first = lab.pictures()
    lab.at("reset").click()
    lab.until("root.dataset.step === '0' && root.dataset.newest === '0'")  # still paused, so it waits at the start
    start = lab.pictures()
    assert start != first
    lab.at("seed").fill("8")
    lab.at("seed").press("Enter")
    lab.until_query("seed", lambda value: value == "8")
    lab.until("root.dataset.step === '0'")
    for _ in range(600):
        if lab.pictures() != start:
            break
        lab.page.wait_for_timeout(100)
    assert lab.pictures() != start
    lab.at("seed").fill("a seed")
    lab.at("seed").press("Enter")
    assert lab.at("seed").get_attribute("aria-invalid") == "true"


def test_keys(lab: LabPage) -> None:
    lab.open(LONG, step=3)
    press = lab.page.keyboard.press
    press("Space")
    lab.until("root.dataset.state === 'paused' && root.dataset.step === root.dataset.newest")
    at = lab.shown_step()
    press("s")
    lab.until("Number(root.dataset.step) === arg", at + 1)
    press("ArrowLeft")
    lab.until("Number(root.dataset.step) === arg", at)
    press("End")
    lab.until("Number(root.dataset.step) === arg", at + 1)
    for key, test_id in (("f", "forces"), ("t", "trails")):
        press(key)
        assert not lab.at(test_id).is_checked()
    for key, test_id in (("c", "color-prototype"), ("m", "map-umap")):
        before = lab.picture(1) if key == "c" else None
        press(key)
        assert lab.at(test_id).is_checked()
        if before is not None:
            lab.page.wait_for_timeout(400)
            assert lab.picture(1) != before
    press("?")
    assert lab.at("help-overlay").is_visible()
    press("Escape")
    assert lab.at("help-overlay").is_hidden()
    press("r")
    lab.until("root.dataset.newest === '0'")
    # In a text field the same letters are text.
    lab.at("seed").click()
    lab.page.keyboard.type("1s2")
    lab.page.wait_for_timeout(500)
    assert lab.newest_step() == 0 and "1s2" in lab.at("seed").input_value()
    assert lab.errors == []


def test_the_switches_go_into_the_link(lab: LabPage) -> None:
    lab.open({"example": "synthetic", "set": LONG["set"]})
    lab.at("map-pca").check(force=True)
    lab.until_query("map", lambda value: value == "pca")
    lab.at("color-prototype").check(force=True)
    lab.until_query("colour", lambda value: value == "prototype")


def test_another_example_begins_without_the_sliders_of_the_last_one(lab: LabPage) -> None:
    lab.open(LONG)
    lab.at("epsilon-number-0").fill("0.3")
    lab.at("epsilon-number-0").press("Enter")
    lab.until_query("eps", lambda value: value == "0.3,")
    lab.at("seed").fill("9")
    lab.at("seed").press("Enter")
    lab.until_query("seed", lambda value: value == "9")
    session = lab.count("session")
    lab.choose("Example", "Which force separates?")
    lab.until_query("example", lambda value: value == "forces")
    lab.until("lab.session !== arg", session)
    _frames_show(lab, 0, "epsilon", preset("forces").pairs[0].left.config.epsilon)
    # The seed stays: who compares examples compares them from the same start.
    assert lab.at("seed").input_value() == lab.query()["seed"] == "9"
    assert "eps" not in lab.query() and "T" not in lab.query() and "set" not in lab.query()
