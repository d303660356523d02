"""A tab that shows the Stability Lab, in the words of the tests."""

from __future__ import annotations

import json
import os
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from playwright.sync_api import Locator, Page, TimeoutError

PATIENCE = float(os.environ.get("DDCL_PATIENCE", "90"))  # seconds; a slow machine is no failure
LONG = {"example": "synthetic", "map": "pca", "set": json.dumps({"max_steps": 20000})}

_HASH = """canvas => {
  const { width, height } = canvas;
  const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
  let hash = 17;
  for (let i = 0; i < data.length; i += 4) hash = (hash * 31 + data[i] + 7 * data[i + 1] + 13 * data[i + 2]) | 0;
  return hash;
}"""


class LabPage:
    """Wraps a Playwright page. `errors` collects what the console called an error, and uncaught exceptions."""

    def __init__(self, page: Page, url: str, path: str = "", key: str = "stability") -> None:
        self.page = page
        self.path, self.key = path, key  # of the page in the app, and of its live view
        self._url = url
        self.errors: list[str] = []
        page.set_default_timeout(PATIENCE * 1000)
        page.on("console", lambda m: self.errors.append(f"{m.text} {m.location}") if m.type == "error" else None)
        page.on("pageerror", lambda error: self.errors.append(str(error)))

    def open(self, query: dict[str, str] | None = None, step: int = 1) -> "LabPage":
        """Go to the page that a link names and wait until it shows `step`."""
        self.page.goto(f"{self._url}/{self.path}?{urlencode(query or {})}")
        return self.reaches(step)

    def at(self, name: str) -> Locator:
        """The element with this test id."""
        return self.page.get_by_test_id(name)

    def count(self, name: str) -> Any:
        """One of the view's counters."""
        return self.page.evaluate("([key, name]) => window.__ddcl[key][name]", [self.key, name])

    def until(self, condition: str, argument: Any = None, timeout: float = PATIENCE) -> None:
        """Wait until a JavaScript condition over `lab` (the counters), `root` (the view) and `arg` holds."""
        self.page.wait_for_function(
            "([condition, arg, key]) => {"
            " const lab = window.__ddcl?.[key];"
            " const find = (node) => node.querySelector('[data-testid=ddcl-live]') ??"
            "   [...node.querySelectorAll('*')].map((n) => n.shadowRoot && find(n.shadowRoot)).find(Boolean);"
            " const root = find(document);"
            " return Boolean(lab && root && new Function('lab', 'root', 'arg', `return ${condition}`)(lab, root, arg));"
            "}",
            arg=[condition, argument, self.key],
            timeout=timeout * 1000,
            polling=100,
        )

    def reaches(self, step: int) -> "LabPage":
        """Wait until the maps show at least this step."""
        self.until("lab.shownStep >= arg && Number(root.dataset.step) >= arg", step)
        return self

    def picture(self, panel: int) -> int:
        """A number that differs when a pixel of the panel's map differs."""
        return self.at(f"map-{panel}").evaluate(_HASH)

    def pictures(self) -> list[int]:
        """The same of both panels."""
        return [self.picture(0), self.picture(1)]

    def shown_step(self) -> int:
        return int(self.at("ddcl-live").get_attribute("data-step") or -1)

    def newest_step(self) -> int:
        return int(self.at("ddcl-live").get_attribute("data-newest") or -1)

    def pause(self) -> int:
        """Pause by the button; the step at which everything stands still."""
        self.at("play").click()
        self.until("root.dataset.state === 'paused' && root.dataset.step === root.dataset.newest")
        return self.shown_step()

    def scrub(self, step: int) -> None:
        """Look back at the recorded step that is nearest to this one."""
        self.at("scrub").evaluate(
            "(range, step) => { range.value = step; range.dispatchEvent(new Event('input', { bubbles: true })); }", step
        )
        self.until("Math.abs(Number(root.dataset.step) - arg) < 2 && root.querySelector('.looking-back') !== null", step)

    def set_speed(self, steps_per_second: int) -> None:
        """Choose the pace; 0 is as fast as it can."""
        self.at("speed").select_option(str(steps_per_second))

    def choose(self, label: str, option: str) -> None:
        """Pick from one of Streamlit's lists; a rerun that comes just then closes the list again."""
        box, wanted = self.page.get_by_role("combobox", name=label, exact=True), self.page.get_by_role("option", name=option)
        for _ in range(10):
            box.nth(1).wait_for(state="detached")  # one that a rerun replaces may still be there
            box.click()
            try:
                wanted.click(timeout=3000)
                return
            except TimeoutError:
                self.page.keyboard.press("Escape")
        raise AssertionError(f"{label} does not offer {option}")

    def query(self) -> dict[str, str]:
        """What the address says."""
        return {name: values[0] for name, values in parse_qs(urlsplit(self.page.url).query).items()}

    def until_query(self, name: str, said: Any) -> str:
        """Wait until the address says something under `name` that `said` accepts."""
        for _ in range(int(PATIENCE * 10)):
            value = self.query().get(name)
            if said(value):
                return value or ""
            self.page.wait_for_timeout(100)
        raise AssertionError(f"The address is {self.page.url}")

    def shown(self, panel: int, name: str) -> float:
        """ε or T under which the shown frame was computed, as the tag on the map says; NaN before there is one."""
        symbol = {"epsilon": "ε", "temperature": "T"}[name]
        tag = self.at(f"panel-{panel}").locator(".step-tag").inner_text()
        parts = dict(part.split(" ") for part in tag.split(" · ")[1:])
        return float(parts.get(symbol, "nan").replace(",", ""))

    def text(self) -> str:
        """All words on the page."""
        return self.page.locator("body").inner_text()
