"""30,000 objects, as many as a catalogue of today holds, trained live on the Orbits page, one light client.

A key-frame is one step for which both panels' frames have arrived, each with metrics over all objects.
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from benchmarks import light_client
from benchmarks.app import running_app
from benchmarks.table import Row, load
from dashboard.orbits.presets import ORBIT_PRESETS

OBJECTS = 30_000
WINDOWS = ((0.0, 15.0, "while the UMAP is being fitted"), (15.0, 30.0, "afterwards, up to the last step"))


def measure() -> list[Row]:
    """Key-frames a second in the first 15 s on an empty folder of maps, and later."""
    rows = []
    for warm, seconds, words in WINDOWS:
        with tempfile.TemporaryDirectory() as cache, running_app(Path(cache)) as app:
            app.wait()
            port = int(app.url.rsplit(":", 1)[1])
            seen = asyncio.run(
                light_client.measure(port, 1, seconds, warm=warm, name="orbits", tag=f"objects={OBJECTS}")
            )
        if seen["errors"]:
            raise RuntimeError(seen["errors"][0])
        viewer = seen["each"][0]
        umap = "not yet" if viewer["umap"] is None else f"after {viewer['umap']:.0f} s"
        how = (
            f"{ORBIT_PRESETS[0].title}, {OBJECTS:,} objects, two panels; first frames after {viewer['first_frame']:.1f} s, "
            f"UMAP {umap}, run came to step {viewer['last_step']} in {warm + seconds:.0f} s"
        )
        rate = viewer["key_frames_per_second"]
        rows.append(Row(f"key-frames a second, {words}", f"{rate:.2f}", how, "at least 2", rate >= 2, load()))
    return rows
