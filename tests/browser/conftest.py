"""One app and one Chromium for all browser tests; a context of its own for each tab, so that tests share no storage."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.browser.app_server import AppServer
from tests.browser.find_chromium import find_chromium
from tests.browser.lab_page import LabPage

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]


# Package scope: a living Playwright keeps an event loop running, in which no later test could start one of its own.
@pytest.fixture(scope="package")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppServer]:
    """The running app."""
    server = AppServer(tmp_path_factory.mktemp("app"))
    try:
        server.wait()
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="package")
def chromium(app: AppServer) -> Iterator[object]:
    """The browser; starts after the app, which loads its workers meanwhile."""
    sync_api = pytest.importorskip("playwright.sync_api")
    path = find_chromium()
    if path is None:
        pytest.fail("There is no Chromium; `python tests/browser/find_chromium.py --install` says how to get one.")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def new_lab(app: AppServer, chromium: object) -> Iterator[Callable[..., LabPage]]:
    """Makes tabs: new_lab(width=1400, height=1000, **options of a browser context)."""
    contexts = []

    def make(width: int = 1400, height: int = 1000, **options: object) -> LabPage:
        context = chromium.new_context(viewport={"width": width, "height": height}, **options)  # type: ignore[attr-defined]
        contexts.append(context)
        # Streamlit asks a host of its own on the internet; no test depends on what is out there.
        context.route(lambda url: not url.startswith(app.url), lambda route: route.fulfill(status=204))
        return LabPage(context.new_page(), app.url)

    yield make
    for context in contexts:
        context.close()


@pytest.fixture
def lab(new_lab: Callable[..., LabPage]) -> LabPage:
    """One tab, not yet opened."""
    return new_lab()
