"""The Hierarchy page: levels move and answer their own sliders, a node is followed, and a level cools branch by branch."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.browser.lab_page import LabPage


@pytest.fixture
def levels(new_lab: Callable[..., LabPage]) -> LabPage:
    """One tab for the levels, not yet opened."""
    lab = new_lab()
    lab.path, lab.key = "hierarchy", "hierarchy-levels"
    return lab


def test_levels_move_and_each_has_its_own_sliders(levels: LabPage) -> None:
    levels.open({"example": "hot-coarse"}, step=2)
    flows = levels.at("flows-0")
    before = flows.evaluate("c => c.toDataURL()")
    levels.reaches(levels.shown_step() + 6)
    assert flows.evaluate("c => c.toDataURL()") != before
    assert levels.at("temperature-number-0-level2").input_value() == "60"
    field = levels.at("temperature-number-1-level2")
    field.fill("80")
    field.press("Enter")
    levels.until("root.querySelector('[data-testid=panel-1]').dataset.step > arg", levels.shown_step() + 4)
    assert field.input_value() == "80"
    levels.page.get_by_role("button", name="Next node").click()
    levels.until("root.querySelector('[data-testid=node-0]').textContent.includes('Goes to')")


def test_a_word_is_followed_up(levels: LabPage) -> None:
    levels.open({"example": "hot-fine"}, step=2)
    page = levels.page
    page.get_by_role("button", name="Read the documents now").click()
    page.get_by_text("Follow one word up").wait_for()
    page.get_by_text("→ level 2:").wait_for()


def test_cooling_forks_and_lists_its_splits(new_lab: Callable[..., LabPage]) -> None:
    lab = new_lab()
    lab.path, lab.key = "hierarchy", "hierarchy-cooling"
    lab.open({"mode": "cooling"}, step=3)
    lab.at("speed").select_option("0")
    lab.until("root.querySelector('[data-testid=bifurcation-now]').textContent.includes('branches')", timeout=120.0)
    lab.page.get_by_text("seen over due").wait_for()
