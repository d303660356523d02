"""Links and the form: every setting goes round, and what does not fit gets a sentence while the run goes on."""

from __future__ import annotations

from tests.browser.app_server import AppServer
from tests.browser.lab_page import LONG, LabPage


def _open_form(lab: LabPage) -> None:
    lab.page.get_by_text("Change the experiment: data, encoder").click()
    lab.page.get_by_role("button", name="Start a new run with these settings").wait_for()


def _submit(lab: LabPage) -> None:
    lab.page.get_by_role("button", name="Start a new run with these settings").click()


def test_a_bad_link_gets_sentences_and_a_picture(lab: LabPage, app: AppServer) -> None:
    lab.open({"example": "synthetic", "map": "pca", "eps": "abc", "T": "0", "set": "garbage", "seed": "-3"})
    alerts = " ".join(lab.page.get_by_test_id("stAlert").all_inner_texts())
    for word in ("eps 'abc'", "T '0'", "settings cannot be read", "seed '-3'"):
        assert word in alerts, alerts
    assert "Traceback" not in lab.text() and "Traceback" not in app.said()
    assert lab.shown(0, "epsilon") == 1.0 and lab.errors == []
    lab.at("color-prototype").check(force=True)  # the next rerun writes a link that can be read
    lab.until_query("eps", lambda value: value is None)
    assert not {"set", "T", "seed"} & set(lab.query())


def test_a_link_reproduces_the_settings(lab: LabPage) -> None:
    lab.open({**LONG, "eps": "0.3,0.01", "T": ",3", "seed": "5", "colour": "prototype"})
    assert [lab.shown(p, "epsilon") for p in (0, 1)] == [0.3, 0.01]
    assert [lab.shown(p, "temperature") for p in (0, 1)] == [2.0, 3.0]
    assert lab.at("seed").input_value() == "5"
    assert lab.at("color-prototype").is_checked() and lab.at("map-pca").is_checked()


def test_the_form_starts_a_new_run(lab: LabPage) -> None:
    lab.open(LONG, step=3)
    session = lab.count("session")
    _open_form(lab)
    lab.page.get_by_label("Prototypes K").fill("3")
    _submit(lab)
    lab.until("lab.session !== arg && root.querySelector('[data-testid=verdict-1]').textContent.includes('of 3 ')", session)
    lab.reaches(1)  # out of sight nothing is drawn: the page has brought the new run back into view
    assert '"num_prototypes":3' in lab.query()["set"] and '"max_steps":20000' in lab.query()["set"]
    assert lab.errors == []


def test_what_the_form_cannot_run_gets_a_sentence_while_the_run_goes_on(lab: LabPage) -> None:
    lab.open(LONG, step=3)
    session = lab.count("session")
    _open_form(lab)
    lab.page.get_by_label("Attention heads").fill("7")  # does not divide 32
    _submit(lab)
    lab.page.get_by_test_id("stAlert").get_by_text("7").first.wait_for()
    lab.page.get_by_label("Attention heads").fill("4")
    lab.choose("Documents", "My own documents")
    _submit(lab)
    lab.page.get_by_text("There are no documents yet").wait_for()
    lab.at("ddcl-live").evaluate("root => root.scrollIntoView()")  # out of sight it does not draw
    lab.reaches(lab.count("lastStep") + 3)
    assert lab.count("session") == session and "Traceback" not in lab.text()


def test_back_leads_through_what_was_looked_at(lab: LabPage) -> None:
    lab.open({"example": "synthetic", "map": "pca"}, step=2)
    lab.choose("Example", "Which force separates?")
    lab.until_query("example", lambda value: value == "forces")
    lab.choose("Example", "Cooling saves it?")
    lab.until_query("example", lambda value: value == "cooling")
    lab.page.wait_for_timeout(3500)  # the address has surely been taken up
    for example in ("forces", "synthetic"):
        lab.page.go_back()
        lab.until_query("example", lambda value: value == example)
        lab.page.wait_for_timeout(2000)
        assert lab.query()["example"] == example, "it stays there"
    lab.reaches(1)
    title = lab.page.get_by_role("combobox", name="Example", exact=True)
    assert "synthetic" in (title.input_value() or title.inner_text())
    assert lab.errors == []
