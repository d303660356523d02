"""The app and a browser for the benchmarks: started as a person starts them, ended together."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from tests.browser.app_server import AppServer
from tests.browser.conftest import ARGUMENTS
from tests.browser.find_chromium import find_chromium
from tests.browser.lab_page import LabPage


@contextlib.contextmanager
def running_app(cache: Path) -> Iterator[AppServer]:
    """The app on a free port with `cache` as its folder of tokens and maps."""
    server = AppServer(cache)
    try:
        yield server
    finally:
        server.stop()


@contextlib.contextmanager
def chromium() -> Iterator[object]:
    """A headless Chromium without a GPU."""
    from playwright.sync_api import sync_playwright

    path = find_chromium()
    if path is None:
        raise RuntimeError("There is no Chromium; `python tests/browser/find_chromium.py --install` gets one.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


def new_tab(browser: object, url: str) -> LabPage:
    """An empty tab of 1400 by 1000 pixels for the app at `url`; nothing else is reached."""
    context = browser.new_context(viewport={"width": 1400, "height": 1000})  # type: ignore[attr-defined]
    context.route(lambda asked: not asked.startswith(url), lambda route: route.fulfill(status=204))
    return LabPage(context.new_page(), url)
