"""One headless Chromium without a GPU on the default example: two panels of 1500 tokens on their UMAP, after loading.

Frames are counted by the view each time it paints both maps; long tasks (more than 50 ms) by the browser. A slider
change is timed in the page, from the input to the first picture that was computed under the new value.
"""

from __future__ import annotations

import json
import statistics
import tempfile
from pathlib import Path

from benchmarks.app import chromium, new_tab, running_app
from benchmarks.table import Row, load
from dashboard.presets import PRESETS
from tests.browser.app_server import AppServer
from tests.browser.lab_page import LabPage

WATCHED_SECONDS = 15.0
CHANGES = 16
QUERY = {"set": json.dumps({"max_steps": 20000})}


def measure() -> list[Row]:
    """Frames a second, long tasks, and the time from a slider to its effect."""
    with tempfile.TemporaryDirectory() as cache, running_app(Path(cache)) as app, chromium() as browser:
        app.wait()
        lab = new_tab(browser, app.url).open(QUERY)
        lab.until("lab.map === 'umap'", timeout=150.0)
        lab.page.wait_for_timeout(3000)
        rows = [*_watched(lab, app), *_sliders(lab)]
        lab.page.context.close()
    return rows


def _watched(lab: LabPage, app: AppServer) -> list[Row]:
    import psutil

    read = """() => {
      const c = window.__ddcl.stability;
      return [performance.now() / 1e3, c.framesDrawn, c.longTaskMs, c.drawMs, c.lastStep];
    }"""
    page = psutil.Process(app.process.pid)
    cpu, workers = sum(page.cpu_times()[:2]), app.cpu_seconds()
    first = lab.page.evaluate(read)
    lab.page.wait_for_timeout(1000 * WATCHED_SECONDS)
    last = lab.page.evaluate(read)
    cpu, workers = sum(page.cpu_times()[:2]) - cpu, app.cpu_seconds() - workers
    seconds, frames, long_ms, draw_ms, steps = (b - a for a, b in zip(first, last, strict=True))
    speed = PRESETS[0].steps_per_second
    how = (
        f"{PRESETS[0].title}, seed {PRESETS[0].pairs[0].left.config.seed}, 1400 x 1000 pixels, {seconds:.0f} s; "
        f"{speed:g} steps a second asked for, {steps / seconds:.1f} made"
    )
    return [
        Row("frames shown a second, two panels of 1500 tokens", f"{frames / seconds:.1f}", how, "at least 30",
            frames / seconds >= 30, load()),
        Row("long tasks, ms a second", f"{long_ms / seconds:.1f}", how, "under 50", long_ms / seconds < 50, load()),
        Row("drawing both maps, ms a frame", f"{draw_ms / max(frames, 1):.1f}", how, load=load()),
        Row("CPU of the page process and of the training workers, cores",
            f"{cpu / seconds:.2f} and {workers / seconds:.2f}", how, load=load()),
    ]  # fmt: skip


def _sliders(lab: LabPage) -> list[Row]:
    for change in range(CHANGES):
        panel = change % 2
        field = lab.at(f"epsilon-number-{panel}")
        done = len(lab.count("latencyShown"))
        field.fill(f"{0.04 + 0.001 * change:.3f}")
        field.press("Enter")
        lab.until("lab.latencyShown.length > arg", done, timeout=20.0)
        lab.page.wait_for_timeout(400 + 37 * (change % 7))  # not in time with the rounds
    shown, received = (sorted(v / 1e3 for v in lab.count(name)) for name in ("latencyShown", "latencyReceived"))
    median = statistics.median(shown)
    how = f"{len(shown)} changes of ε, panels in turn, 0.4 to 0.7 s apart; slowest {shown[-1]:.2f} s"
    return [
        Row("slider to the first frame computed under it, median", f"{median:.2f} s", how, "at most 0.5 s",
            median <= 0.5, load()),
        Row("of that until the frame has arrived, median", f"{statistics.median(received):.2f} s", how, load=load()),
    ]  # fmt: skip
