"""From starting the app to the first moving picture, in a browser that is already open.

The clock starts before `streamlit run app.py` does and stops when both maps have been painted twice, differently. *Warm
disk* means that Python's files and the app's folder of tokens and maps have been read before: the app is started twice
on one folder, and the second start counts.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from benchmarks.app import chromium, new_tab, running_app
from benchmarks.table import Row, load
from dashboard.presets import PRESETS

TARGET = 15.0


def measure() -> list[Row]:
    """Seconds of a second start, and of the first beside it."""
    rows = []
    with tempfile.TemporaryDirectory() as cache, chromium() as browser:
        for start, words in enumerate(("empty folder of tokens and maps", "warm disk")):
            answers, moving = _start(browser, Path(cache))
            how = f"{PRESETS[0].title}; the server answered after {answers:.1f} s"
            wanted = {"target": f"at most {TARGET:.0f} s", "holds": moving <= TARGET} if start else {}
            rows.append(Row(f"start to moving picture, {words}", f"{moving:.1f} s", how, load=load(), **wanted))
    return rows


def _start(browser: object, cache: Path) -> tuple[float, float]:
    began = time.monotonic()
    with running_app(cache) as app:
        lab = new_tab(browser, app.url)
        app.wait()
        answers = time.monotonic() - began
        lab.open(step=0)
        first = lab.pictures()
        while any(before == after for before, after in zip(first, lab.pictures(), strict=True)) or lab.shown_step() < 1:
            lab.page.wait_for_timeout(50)
        moving = time.monotonic() - began
        if _wants_map(cache):
            lab.until("lab.map === 'umap'", timeout=120.0)  # so that the next start finds it
        lab.page.context.close()
    return answers, moving


def _wants_map(cache: Path) -> bool:
    """Whether no map has been stored yet."""
    return not any("map" in path.name for path in cache.rglob("*.npz"))
