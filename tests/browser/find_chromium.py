"""Find the Chromium that the browser tests drive: $DDCL_CHROMIUM, one on the machine, or Playwright's own download."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
_PLACES = ("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome", "/Applications/Chromium.app/Contents/MacOS/Chromium")


def installed_chromium() -> str | None:
    """Path of a Chromium-like browser on this machine, or None."""
    named = os.environ.get("DDCL_CHROMIUM")
    candidates = [named] if named else [shutil.which(name) for name in _NAMES] + list(_PLACES)
    return next((path for path in candidates if path and os.path.exists(path)), None)


def own_chromium() -> str | None:
    """Path of Playwright's own Chromium where it was downloaded, or None."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if os.path.exists(path) else None


def find_chromium() -> str | None:
    """The browser to drive, or None when there is none."""
    return installed_chromium() or own_chromium()


if __name__ == "__main__":
    if find_chromium() is None and "--install" in sys.argv:
        subprocess.call([sys.executable, "-m", "playwright", "install", "chromium"])
    if find_chromium() is None:
        sys.exit("The browser tests need Chromium: install it (Debian: apt-get install chromium) or set DDCL_CHROMIUM.")
