"""Light viewers: each opens Streamlit's websocket as a browser does, takes the live scene's token from the page, opens
the live socket, and counts the key-frames it gets. Several browsers on two cores would only measure each other.

    python benchmarks/light_client.py --port 8501 --viewers 8 --seconds 20

A key-frame is one step for which every panel's frame has arrived. Loopback only; the whole run is bounded in time.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import statistics
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from dashboard.live import wire  # noqa: E402

_TOKEN = re.compile(rb'"scene": ?"([A-Za-z0-9_-]{16,64})"')
_AUTO_RERUN_SECONDS = 30.0


@dataclass
class Viewer:
    """What one light client saw. Times in seconds from its start; rates over the measured window."""

    number: int
    first_frame: float | None = None
    key_frames: int = 0
    key_frames_per_second: float = 0.0
    bytes_per_second: float = 0.0
    last_step: int = -1
    umap: float | None = None
    control_seconds: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


async def view(
    number: int,
    port: int,
    base: str,
    seconds: float,
    warm: float,
    speed: float | None,
    controls: bool,
    tag: str = "",
    name: str = "",
) -> Viewer:
    """One viewer for `warm + seconds`; counts in the last `seconds`, from the first frame on.

    name, tag: the page's path ('' for the main one) and the query of a link to it.
    """
    viewer = Viewer(number)
    origin = f"http://127.0.0.1:{port}"
    root = f"ws://127.0.0.1:{port}{base}"
    limit = warm + seconds + 60.0
    try:
        async with asyncio.timeout(limit):
            async with websockets.connect(
                f"{root}/_stcore/stream", subprotocols=["streamlit"], origin=origin, max_size=None
            ) as page:
                token = await _token(page, tag, name)
                reading = asyncio.create_task(_keep_page(page))
                try:
                    async with websockets.connect(f"{root}/ddcl/live", origin=origin, max_size=None) as live:
                        await _watch(live, token, viewer, seconds, warm, speed, controls)
                finally:
                    reading.cancel()
    except (OSError, TimeoutError, websockets.WebSocketException, ValueError) as error:
        viewer.errors.append(f"{type(error).__name__}: {error}")
    return viewer


async def _token(page: Any, tag: str, name: str) -> str:
    """Run the page once and read the scene's token out of what it shows."""
    await page.send(_rerun(auto=False, query=tag, page=name))
    async for message in page:
        found = _TOKEN.search(message if isinstance(message, bytes) else message.encode())
        if found:
            return found.group(1).decode()
    raise ValueError("the page closed before it showed a live scene")


async def _keep_page(page: Any) -> None:
    """Read what the page says and rerun it now and then, as a page with a fragment does."""
    async def read() -> None:
        async for _ in page:
            pass

    reader = asyncio.create_task(read())
    try:
        while True:
            await asyncio.sleep(_AUTO_RERUN_SECONDS)
            await page.send(_rerun(auto=True))
    finally:
        reader.cancel()


def _rerun(auto: bool, query: str = "", page: str = "") -> bytes:
    message = BackMsg()
    message.rerun_script.query_string = query
    message.rerun_script.page_name = page
    message.rerun_script.is_auto_rerun = auto
    return message.SerializeToString()


async def _watch(
    live: Any, token: str, viewer: Viewer, seconds: float, warm: float, speed: float | None, controls: bool
) -> None:
    began = time.monotonic()
    seen: dict[int, set[int]] = {}
    asked: dict[int, tuple[float, float]] = {}  # panel -> (value, when)
    panels, size, key_frames, opens, closes = 1, 0, 0, None, None
    next_control, value = 0.0, 0.05
    await live.send(json.dumps({"type": "open", "scene": token, "resume": None}))
    while closes is None or time.monotonic() < closes:
        message = await live.recv()
        now = time.monotonic()
        header, arrays = wire.unpack(message)
        counting = opens is not None and now >= opens
        size += len(message) if counting else 0
        if header["type"] == "hello":
            panels = len(header["panels"])
            if speed is not None:
                await live.send(json.dumps({"type": "speed", "steps_per_second": speed}))
        elif header["type"] == "error" or (header["type"] == "status" and header["state"] == "error"):
            viewer.errors.append(header["text"])
            return
        elif header["type"] == "status" and header["state"] == "finished":
            await live.send(json.dumps({"type": "extend", "steps": 400}))
        elif header["type"] == "map" and header["kind"] == "umap" and header["available"]:
            viewer.umap = now - began
        elif header["type"] == "frames":
            await live.send(json.dumps({"type": "ack", "n": header["n"]}))
            if viewer.first_frame is None:
                viewer.first_frame = now - began
                opens, closes = now + warm, now + warm + seconds
            for step in arrays["step"].tolist():
                there = seen.setdefault(step, set())
                there.add(header["panel"])
                viewer.last_step = max(viewer.last_step, step)
                if len(there) == panels and counting:
                    key_frames += 1
            if header["panel"] in asked:
                wanted, when = asked[header["panel"]]
                epsilon = arrays["metrics"][:, 0]
                if abs(epsilon - wanted).min() < 1e-6 * max(wanted, 1.0):
                    viewer.control_seconds.append(now - when)
                    del asked[header["panel"]]
            if controls and counting and now >= next_control and not asked:
                value, next_control = round(value + 0.001, 4), now + 1.0
                asked[1 if panels > 1 else 0] = (value, now)
                await live.send(json.dumps({"type": "control", "panel": max(asked), "epsilon": value}))
    viewer.key_frames = key_frames
    viewer.key_frames_per_second = key_frames / seconds
    viewer.bytes_per_second = size / seconds


async def measure(port: int, viewers: int, seconds: float, **options: Any) -> dict[str, Any]:
    """All viewers at once; a summary and each one's figures."""
    options = {"base": "", "warm": 3.0, "speed": None, "controls": False, "tag": "", "name": ""} | options
    seen = await asyncio.gather(*(view(i, port, seconds=seconds, **options) for i in range(viewers)))
    rates = [v.key_frames_per_second for v in seen]
    controls = [s for v in seen for s in v.control_seconds]
    return {
        "viewers": viewers,
        "seconds": seconds,
        "slowest": min(rates),
        "fastest": max(rates),
        "mean": statistics.fmean(rates),
        "first_frame_slowest": max((v.first_frame or float("inf")) for v in seen),
        "control_median_seconds": statistics.median(controls) if controls else None,
        "errors": [error for v in seen for error in v.errors],
        "each": [asdict(v) for v in seen],
    }


def main() -> None:
    """Print the summary as JSON; exit status 1 when a viewer failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=8501)
    parser.add_argument("--base", default="", help="server.baseUrlPath, with a leading slash")
    parser.add_argument("--viewers", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--warm", type=float, default=3.0, help="seconds after the first frame that do not count")
    parser.add_argument("--speed", type=float, default=None, help="steps a second to ask for; 0 is as fast as it can")
    parser.add_argument("--controls", action="store_true", help="also move a slider once a second")
    parser.add_argument("--brief", action="store_true", help="leave out the single viewers")
    options = vars(parser.parse_args())
    brief, port, viewers, seconds = (options.pop(name) for name in ("brief", "port", "viewers", "seconds"))
    result = asyncio.run(measure(port, viewers, seconds, **options))
    if brief:
        result.pop("each")
    print(json.dumps(result, indent=1))
    sys.exit(1 if result["errors"] else 0)


if __name__ == "__main__":
    main()
