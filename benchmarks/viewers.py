"""Eight viewers of the default example at once, as light clients that speak Streamlit's websocket protocol.

No browser runs. A key-frame is one step for which both panels' frames have arrived. The figures with a target count
from 15 s after the first frames on, when the UMAP has arrived, as it has for everybody but the first visitors of a new
installation; beside them stands what eight get while it is being fitted.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks import light_client
from benchmarks.app import running_app
from benchmarks.table import Row, load
from dashboard.presets import PRESETS

VIEWERS = 8
WARM, SECONDS = 15.0, 25.0
FITTING_SECONDS = 8.0
MAP_PATIENCE = 120.0


def measure() -> list[Row]:
    """Key-frames a second of the slowest viewer, fairness, and what the page process used for all of them."""
    import psutil

    with tempfile.TemporaryDirectory() as cache, running_app(Path(cache)) as app:
        app.wait()
        port = int(app.url.rsplit(":", 1)[1])
        asyncio.run(light_client.measure(port, 1, 1.0, warm=0.0))  # the tokens are prepared
        fitting = _checked(asyncio.run(light_client.measure(port, VIEWERS, FITTING_SECONDS, warm=2.0)))
        umap_is_late = all(viewer["umap"] is None for viewer in fitting["each"])
        fitting_load = load()
        _wait_for_map(port)
        page = psutil.Process(app.process.pid)
        began, cpu, workers = time.monotonic(), sum(page.cpu_times()[:2]), app.cpu_seconds()
        seen = _checked(asyncio.run(light_client.measure(port, VIEWERS, SECONDS, warm=WARM)))
        passed = time.monotonic() - began
        cpu, workers = sum(page.cpu_times()[:2]) - cpu, app.cpu_seconds() - workers
    slowest, fastest = seen["slowest"], seen["fastest"]
    share = slowest / fastest if fastest else 0.0
    steps = sorted(viewer["last_step"] for viewer in seen["each"])
    how = (
        f"{PRESETS[0].title}, {PRESETS[0].steps_per_second:g} steps a second asked for, {SECONDS:.0f} s; runs came to "
        f"steps {steps[0]} to {steps[-1]}"
    )
    megabytes = sum(viewer["bytes_per_second"] for viewer in seen["each"]) / 1e6
    rows = [
        Row(f"{VIEWERS} viewers: key-frames a second, slowest", f"{slowest:.2f}", how, "at least 2", slowest >= 2,
            load()),
        Row("the same, mean and fastest", f"{seen['mean']:.2f} and {fastest:.2f}", how, load=load()),
        Row("slowest over fastest", f"{share:.2f}", how, "at least 0.5", share >= 0.5, load()),
        Row("CPU of the page process and of the training workers, cores",
            f"{cpu / passed:.2f} and {workers / passed:.2f}",
            f"mean over {passed:.0f} s; {megabytes:.2f} MB/s to all viewers together", load=load()),
    ]  # fmt: skip
    if umap_is_late:
        words = f"{fitting['slowest']:.2f} to {fitting['fastest']:.2f}"
        how = (
            f"the same, {FITTING_SECONDS:.0f} s, with an empty folder of maps; not to be compared, since steps to 40 "
            "have a frame each"
        )
        rows.append(Row("key-frames a second while the UMAP is being fitted", words, how, load=fitting_load))
    return rows


def _checked(seen: dict[str, Any]) -> dict[str, Any]:
    if seen["errors"]:
        raise RuntimeError(seen["errors"][0])
    return seen


def _wait_for_map(port: int) -> None:
    """Look in now and then until the UMAP is there."""
    deadline = time.monotonic() + MAP_PATIENCE
    while time.monotonic() < deadline:
        if _checked(asyncio.run(light_client.measure(port, 1, 2.0, warm=0.0)))["each"][0]["umap"] is not None:
            return
        time.sleep(1.0)
    raise RuntimeError(f"The UMAP was not ready within {MAP_PATIENCE:.0f} s.")
