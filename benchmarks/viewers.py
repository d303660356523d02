"""Eight viewers of the default example at once, as light clients that speak Streamlit's websocket protocol.

No browser runs. A key-frame is one step for which both panels' frames have arrived. The viewers count from 3 s after
their first frames on; the app prepares tokens and map meanwhile, as it would for the first visitor.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path

from benchmarks import light_client
from benchmarks.app import running_app
from benchmarks.table import Row, load
from dashboard.presets import PRESETS

VIEWERS = 8
SECONDS = 20.0


def measure() -> list[Row]:
    """Key-frames a second of the slowest viewer, fairness, and what the page process used for all of them."""
    import psutil

    with tempfile.TemporaryDirectory() as cache, running_app(Path(cache)) as app:
        app.wait()
        port = int(app.url.rsplit(":", 1)[1])
        _once_prepared(port)
        page = psutil.Process(app.process.pid)
        began, cpu, workers = time.monotonic(), sum(page.cpu_times()[:2]), app.cpu_seconds()
        seen = asyncio.run(light_client.measure(port, VIEWERS, SECONDS))
        passed = time.monotonic() - began
        cpu, workers = sum(page.cpu_times()[:2]) - cpu, app.cpu_seconds() - workers
    if seen["errors"]:
        raise RuntimeError(seen["errors"][0])
    slowest, fastest = seen["slowest"], seen["fastest"]
    share = slowest / fastest if fastest else 0.0
    steps = sorted(viewer["last_step"] for viewer in seen["each"])
    how = (
        f"{PRESETS[0].title}, {PRESETS[0].steps_per_second:g} steps a second asked for, {SECONDS:.0f} s; runs came to "
        f"steps {steps[0]} to {steps[-1]}"
    )
    megabytes = sum(viewer["bytes_per_second"] for viewer in seen["each"]) / 1e6
    return [
        Row(f"{VIEWERS} viewers: key-frames a second, slowest", f"{slowest:.2f}", how, "at least 2", slowest >= 2, load()),
        Row("the same, mean and fastest", f"{seen['mean']:.2f} and {fastest:.2f}", how, load=load()),
        Row("slowest over fastest", f"{share:.2f}", how, "at least 0.5", share >= 0.5, load()),
        Row("CPU of the page process and of the training workers, cores", f"{cpu / passed:.2f} and {workers / passed:.2f}",
            f"mean over {passed:.0f} s; {megabytes:.2f} MB/s to all viewers together", load=load()),
    ]  # fmt: skip


def _once_prepared(port: int) -> None:
    """One viewer for a moment, so that the eight do not measure how tokens are prepared."""
    asyncio.run(light_client.measure(port, 1, 1.0, warm=0.0))
