"""The Codebook page: both codebooks move, one code is followed through all pictures, own pictures, rates on demand."""

from __future__ import annotations

import io
import re
from collections.abc import Callable

import numpy as np
import pytest
from PIL import Image

from dashboard.codebook.presets import CODEBOOK_PRESETS
from tests.browser.app_server import AppServer
from tests.browser.lab_page import LabPage
from tests.browser.test_looks import _CLIPPED, _OUTSIDE

PARTS = ("usage", "strip", "tiles", "index", "patches")
QUICK = {"images": "digits", "k": "16", "map": "pca"}
HASH = """canvas => {
  const { width, height } = canvas;
  const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
  let hash = 17;
  for (let i = 0; i < data.length; i += 4) hash = (hash * 31 + data[i] + 7 * data[i + 1] + 13 * data[i + 2]) | 0;
  return hash;
}"""


@pytest.fixture
def book(new_lab: Callable[..., LabPage]) -> LabPage:
    """One tab for the Codebook page, not yet opened; tall, so that all of the view is drawn."""
    lab = new_lab(height=1900)
    lab.path, lab.key = "codebook", "codebook"
    return lab


def looks(book: LabPage) -> list[int]:
    """A number for each picture of both sides that differs when a pixel does."""
    return [book.at(f"{part}-{p}").evaluate(HASH) for part in PARTS for p in (0, 1)]


def picture() -> bytes:
    """A small photograph-like png."""
    rng = np.random.default_rng(0)
    coarse = rng.integers(0, 255, (12, 12, 3), dtype=np.uint8)
    out = io.BytesIO()
    Image.fromarray(coarse).resize((160, 128)).save(out, "PNG")
    return out.getvalue()


def test_both_codebooks_move_and_get_a_verdict(book: LabPage) -> None:
    book.open(QUICK, step=4)
    before = looks(book)
    book.reaches(16)
    assert all(one != two for one, two in zip(before, looks(book), strict=True))
    assert "NOT YET CLEAR" in book.at("verdict-0").inner_text()
    assert book.at("temperature-0").is_visible() and book.at("temperature-1").is_hidden()
    book.set_speed(0)
    book.reaches(2 * 32)
    for p in (0, 1):
        words = book.at(f"verdict-{p}").inner_text()
        assert re.search(r"usage \d+ %.* · separation \d+\.\d\d · error \d+\.\d\d", words), words
        assert "NOT YET" not in words
    book.page.get_by_test_id("why").get_by_text("Hard VQ: ").wait_for()
    assert not [e for e in book.errors if "404" not in e]


@pytest.mark.parametrize("example", [p.key for p in CODEBOOK_PRESETS])
def test_every_example_opens_and_moves(book: LabPage, example: str) -> None:
    book.open(QUICK | {"example": example}, step=3)
    assert next(p.watch for p in CODEBOOK_PRESETS if p.key == example)[:30] in book.text()
    assert book.at("banner").is_hidden()


def test_one_code_is_followed_by_mouse_and_keyboard(book: LabPage) -> None:
    book.open(QUICK, step=8)
    book.pause()
    free = looks(book)
    words = book.at("patches-words-0")
    box = book.at("tiles-0").bounding_box()
    book.at("tiles-0").click(position={"x": box["width"] * 0.375, "y": box["height"] * 0.125})
    words.get_by_text("code 2: ").wait_for()
    assert book.at("code").input_value() == "2"
    chosen = looks(book)
    assert chosen != free
    book.page.get_by_role("button", name="Next code").press("Enter")
    words.get_by_text("code 3: ").wait_for()
    book.at("code").fill("7")
    book.at("code").press("Enter")
    words.get_by_text("code 7: ").wait_for()
    wide = book.at("usage-1").bounding_box()["width"]
    book.at("usage-1").click(position={"x": wide * 0.5 + 2, "y": 20})
    words.get_by_text("code 9: ").wait_for()
    book.at("index-0").click(position={"x": 10, "y": 10})
    words.get_by_text(re.compile(r"code \d+: [1-9]")).wait_for()
    book.page.get_by_role("button", name="No code").click()
    words.get_by_text("used most").wait_for()


def test_the_index_map_of_any_image(book: LabPage) -> None:
    book.open(QUICK, step=4)
    book.pause()
    first = book.at("index-1").evaluate(HASH)
    book.page.get_by_role("button", name="Next image").click()
    book.at("index-words-1").get_by_text("image 2").wait_for()
    assert book.at("index-1").evaluate(HASH) != first
    wide = book.at("strip-0").bounding_box()["width"]
    book.at("strip-0").click(position={"x": wide * 4.5 / 8, "y": 10})
    book.at("index-words-0").get_by_text("image 5").wait_for()


def test_images_and_codes_start_a_new_run_and_go_into_the_link(book: LabPage) -> None:
    book.open({"images": "digits", "map": "pca"}, step=2)
    book.choose("Images", "photo patches")
    assert book.until_query("images", lambda value: value == "patches")
    book.reaches(1)
    book.page.get_by_role("slider", name="Codes K").press("ArrowLeft")
    assert book.until_query("k", bool) == "32"
    book.page.get_by_text("of 32 chosen").first.wait_for()
    assert book.query()["example"] == CODEBOOK_PRESETS[0].key


def test_pictures_of_ones_own(book: LabPage, app: AppServer) -> None:
    book.open(QUICK, step=2)
    page = book.page
    page.get_by_role("button", name="Own pictures").click()
    files = page.locator("input[type=file]")
    files.set_input_files({"name": "broken.png", "mimeType": "image/png", "buffer": b"no picture"})
    page.get_by_text("'broken.png' cannot be read as a picture").wait_for()
    page.get_by_text("What runs goes on unchanged").wait_for()
    files.set_input_files({"name": "mine.png", "mimeType": "image/png", "buffer": picture()})
    assert book.until_query("data", lambda value: value == "own") and "mine" not in page.url
    page.get_by_text("Your own pictures; they stay on this machine.").first.wait_for()
    page.get_by_text("Left out: 'broken.png' cannot be read as a picture").first.wait_for()
    book.reaches(1)
    assert "Traceback" not in app.said()


def test_what_it_costs_to_make_it_hard_and_the_rates(book: LabPage) -> None:
    book.open(QUICK, step=8)
    page = book.page
    page.get_by_text("What does it cost to make the soft codebook hard?").click()
    page.get_by_role("rowheader", name="Soft, cooled").wait_for()
    page.get_by_text("Rate and distortion: how many codes are worth their bits?").click()
    page.get_by_role("button", name="Train for all K").click()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Train for all K").wait_for()


def test_missing_pictures_are_a_sentence_not_a_traceback(book: LabPage, app: AppServer) -> None:
    book.open({"data": "own", "k": "many", "images": "cats"} | {"map": "pca"}, step=1)
    words = book.text()
    assert "pictures of somebody's own" in words and "'many' is not a whole number" in words and "'cats'" in words
    assert "Traceback" not in app.said()


@pytest.mark.parametrize("width", [1400, 800])
def test_nothing_is_beside_the_page_or_cut_off(new_lab: Callable[..., LabPage], width: int) -> None:
    book = new_lab(width=width, height=1900)
    book.path, book.key = "codebook", "codebook"
    book.open(QUICK, step=40)
    view = book.at("ddcl-live")
    assert book.page.evaluate("() => document.scrollingElement.scrollWidth <= innerWidth")
    assert view.evaluate(_OUTSIDE) == [] and view.evaluate(_CLIPPED) == []
