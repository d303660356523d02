"""The Documents page: it trains, a document is read through its prototypes, and a file of one's own is taken."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.lab_page import PATIENCE, LabPage

SMALL = {"documents": "20", "tokens": "16", "k": "4"}
OWN = (
    "body,topic\n"
    + "\n".join(f'"The team won match {i} with a late <b>goal</b> for the striker",sport' for i in range(6))
    + "\n"
    + "\n".join(f'"Shares of bank {i} fell on the stock market after a loss",money' for i in range(6))
).encode()


@pytest.fixture
def documents(new_lab: Callable[..., LabPage]) -> LabPage:
    """One tab for the Documents page, not yet opened."""
    lab = new_lab()
    lab.path, lab.key = "documents", "documents"
    return lab


def read(lab: LabPage) -> None:
    lab.page.get_by_role("button", name="Read the documents now").click()
    lab.page.get_by_role("tab", name="One document").wait_for()
    lab.page.locator(".doc-text").first.wait_for()


def test_a_document_is_read_word_by_word_and_a_prototype_switched_off(documents: LabPage) -> None:
    documents.open(SMALL, step=4)
    page = documents.page
    documents.pause()
    read(documents)
    assert page.locator(".doc-text span[title]").count() > 8
    page.get_by_text("sum = the logit").first.wait_for()
    before = page.locator(".mix").first.inner_html()
    documents.choose("Switch prototypes off", "1: ")
    page.get_by_text("switched off:").wait_for()
    assert page.locator(".mix").first.inner_html() != before
    page.keyboard.press("Escape")
    page.get_by_role("tab", name="All of them").click()
    page.get_by_text("Prototype by class").first.wait_for()
    assert not [e for e in documents.errors if "404" not in e]  # Streamlit asks below the page first


def test_own_documents_are_loaded_with_the_guessed_columns(documents: LabPage) -> None:
    documents.open(SMALL)
    page = documents.page
    page.get_by_role("button", name="Own documents").click()
    page.locator("input[type=file]").set_input_files({"name": "own.csv", "mimeType": "text/csv", "buffer": OWN})
    page.get_by_text("'topic' has few different values").wait_for()
    page.get_by_role("button", name="Read these 12 documents").click()
    documents.until("root.textContent.includes('sport') && lab.shownStep >= 1")
    documents.until_query("data", lambda value: value == "own")
    page.get_by_role("button", name="Other documents").wait_for()
    page.locator("input[type=file]").wait_for(state="detached")  # out of the way of the picture
    page.get_by_role("button", name="Other documents").click()
    page.get_by_role("button", name="Back to the example's documents").click()
    documents.until_query("data", lambda value: value is None)
    page.get_by_role("button", name="Own documents").wait_for()


def test_a_bad_file_is_refused_and_what_runs_goes_on(documents: LabPage) -> None:
    documents.open(SMALL)
    page = documents.page
    page.get_by_role("button", name="Own documents").click()
    page.locator("input[type=file]").set_input_files({"name": "x.csv", "mimeType": "text/csv", "buffer": b"\x00\x01\x02" * 50})
    page.get_by_text("is no text file").wait_for()
    step = documents.newest_step()
    documents.reaches(step + 1)


def test_lists_and_maps_open_documents_and_the_last_choice_stays(documents: LabPage) -> None:
    documents.open(SMALL | {"task": "reconstruction"}, step=4)
    page = documents.page
    documents.pause()
    read(documents)
    page.get_by_role("tab", name="All of them").click()
    page.get_by_text("20 of 20 documents.").wait_for()
    table = page.locator("[data-testid=stDataFrame]:visible").first
    table.scroll_into_view_if_needed()
    page.wait_for_timeout(1000)
    table.click(position={"x": 18, "y": 35 * 3 + 17})  # the mark of the third row
    documents.until_query("document", lambda value: value == "3")
    page.get_by_role("tab", name="One document").click()
    number = page.get_by_role("spinbutton", name="Document (1 to 20)")
    number.fill("7")
    number.press("Enter")
    documents.until_query("document", lambda value: value == "7")
    page.get_by_role("tab", name="All of them").click()
    page.get_by_text("Document 7", exact=True).wait_for()
    point = page.locator(".js-plotly-plot:visible .points path").first
    point.scroll_into_view_if_needed()
    point.hover(force=True)
    page.wait_for_timeout(500)
    page.mouse.down()
    page.mouse.up()
    page.get_by_text("1 of 20 documents.").wait_for()
    page.get_by_role("textbox", name="Search the texts").fill("no document says this")
    page.keyboard.press("Enter")
    page.get_by_text("0 of 20 documents.").wait_for()
    assert not [e for e in documents.errors if "404" not in e]


def test_what_is_taken_away_is_no_longer_offered_and_a_header_can_be_named(documents: LabPage) -> None:
    documents.open(SMALL)
    page = documents.page
    documents.pause()
    page.get_by_role("button", name="Own documents").click()
    paste = page.get_by_role("textbox", name="Or paste documents")
    use = page.get_by_test_id("stBaseButton-primary")
    paste.fill("some words here\nother words there\nmore words\n")
    paste.press("Control+Enter")
    page.get_by_role("button", name="Read these 3 documents").wait_for()
    content = b"kommentar,kategorie\nsehr gut,a\nschlecht,b\ngut,a\nnicht gut,b\n"
    page.locator("input[type=file]").set_input_files({"name": "own.csv", "mimeType": "text/csv", "buffer": content})
    page.get_by_role("button", name="Read these 5 documents").wait_for()
    page.get_by_text("The first row names the columns").click()
    page.get_by_text("'kategorie' has few different values").wait_for()
    page.get_by_role("button", name="Read these 4 documents").wait_for()
    page.locator("[data-testid=stFileUploader] button[aria-label*=emove], [data-testid=stFileUploader] button[aria-label*=elete]").first.click()
    page.get_by_role("button", name="Read these 3 documents").wait_for()  # what was pasted is still there
    paste.fill("  ")
    paste.press("Control+Enter")
    use.wait_for(state="detached")


def test_a_name_given_by_hand_goes_into_the_exports_as_text(documents: LabPage) -> None:
    documents.open(SMALL, step=4)
    page = documents.page
    documents.pause()
    read(documents)
    page.get_by_role("tab", name="One prototype").click()
    name = page.get_by_role("textbox", name="Call it")
    name.fill("<b>mine</b>")
    name.press("Enter")
    expect(page.get_by_role("combobox", name="Prototype", exact=True)).to_have_value(re.compile("<b>mine</b>"), timeout=PATIENCE * 1000)
    page.get_by_text("Take the results with you").click()
    for button, expected in (("Prototypes (CSV)", "<b>mine</b>"), ("Report (HTML)", "&lt;b&gt;mine&lt;/b&gt;")):
        with page.expect_download() as download:
            page.get_by_role("button", name=button).click()
        with open(download.value.path(), encoding="utf-8") as file:
            assert expected in file.read()
