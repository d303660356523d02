"""What a person must not lose: a reload, a second tab, a worker that dies, a tab that is closed."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable

from tests.browser.app_server import AppServer
from tests.browser.lab_page import LONG, LabPage


def test_a_reload_goes_on_after_sliders_and_seed_went_into_the_link(lab: LabPage) -> None:
    lab.open(LONG, step=3)
    lab.at("epsilon-number-0").fill("0.4")
    lab.at("epsilon-number-0").press("Enter")
    lab.until_query("eps", lambda value: value == "0.4,")
    lab.at("seed").fill("8")
    lab.at("seed").press("Enter")
    lab.until_query("seed", lambda value: value == "8")
    lab.until("Number(root.dataset.newest) < 6")
    lab.reaches(10)
    session, before = lab.count("session"), lab.newest_step()
    lab.page.reload()
    lab.reaches(before)
    assert lab.count("session") == session
    assert lab.at("epsilon-number-0").input_value() == "0.4" and lab.at("seed").input_value() == "8"
    lab.scrub(2)  # the past came along


def test_another_link_in_the_same_tab_is_another_run(lab: LabPage) -> None:
    lab.open(LONG, step=12)
    session = lab.count("session")
    lab.open({**LONG, "eps": "0.3,"})
    assert lab.count("session") != session
    assert lab.shown(0, "epsilon") == 0.3


def test_two_tabs_do_not_disturb_each_other(new_lab: Callable[..., LabPage]) -> None:
    one, two = new_lab().open(LONG), new_lab().open(LONG)
    assert one.count("session") != two.count("session")
    held = one.pause()
    one.at("epsilon-number-0").fill("0.2")
    one.at("epsilon-number-0").press("Enter")
    two.reaches(two.newest_step() + 8)
    assert one.newest_step() == held
    assert two.shown(0, "epsilon") == 1.0 and "eps" not in two.query()


def test_a_copied_tab_gets_a_run_of_its_own(lab: LabPage) -> None:
    lab.open(LONG)
    kept = lab.page.evaluate("() => Object.entries(sessionStorage)")
    copy = LabPage(lab.page.context.new_page(), lab.page.url.split("/?")[0])
    copy.page.add_init_script(f"for (const [k, v] of {kept}) sessionStorage.setItem(k, v)")
    copy.open(LONG)
    assert copy.count("session") != lab.count("session")
    lab.reaches(lab.newest_step() + 4)


def test_a_killed_worker_is_said_and_survived(lab: LabPage, app: AppServer) -> None:
    lab.open(LONG, step=4)
    lab.page.evaluate(
        "() => { window.__said = []; const root = (n) => n.querySelector?.('[data-testid=banner]') ??"
        " [...n.querySelectorAll('*')].map((m) => m.shadowRoot && root(m.shadowRoot)).find(Boolean);"
        " const banner = root(document); new MutationObserver(() => banner.hidden || window.__said.push(banner.textContent))"
        ".observe(banner, { attributes: true, childList: true, characterData: true, subtree: true }); }"
    )
    before = lab.newest_step()
    for worker in app.run_workers():  # both, so that the run's own is among them
        os.kill(worker.pid, signal.SIGKILL)
    lab.page.wait_for_function("() => window.__said.length > 0")
    said = " ".join(lab.page.evaluate("() => window.__said"))
    assert "worker" in said and "goes on from step" in said
    lab.reaches(before + 6)
    lab.until("root.dataset.state === 'running'")
    assert lab.at("banner").is_hidden() and lab.errors == []


def test_a_closed_tab_stops_its_training_within_three_seconds(lab: LabPage, app: AppServer) -> None:
    lab.open(LONG)
    lab.set_speed(0)

    def busy(seconds: float) -> float:
        start = app.cpu_seconds()
        time.sleep(seconds)
        return (app.cpu_seconds() - start) / seconds

    deadline = time.monotonic() + 60.0
    while busy(1.0) < 0.3:
        assert time.monotonic() < deadline, "The workers never trained in earnest."
    lab.page.close()
    time.sleep(3.0)
    assert busy(2.0) < 0.1
