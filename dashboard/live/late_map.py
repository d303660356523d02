"""The UMAP, which becomes ready while training goes on already."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from typing import Any

from dashboard.engine.handles import EngineError
from dashboard.live import wire
from dashboard.live.greeting import NO_UMAP
from dashboard.live.outlet import Outlet
from dashboard.live.panel import Panel
from ddcl_core.errors import InputError


async def follow_umap(
    prepared: Any, engine: Any, maps: dict[str, dict[str, Any]], panels: Sequence[Panel], outlet: Outlet
) -> None:
    """Wait for the UMAP, put it into `maps`, tell the client, and place what has been shown before."""
    made = asyncio.ensure_future(prepared.map("umap"))
    told: tuple[float, str] | None = None
    try:
        while not made.done():
            said = engine.progress(prepared.topic) or (0.0, "")
            if said != told:
                told = said
                outlet.tell({**NO_UMAP, "progress": said[0]})
            await asyncio.wait({made}, timeout=1.0)
        result = made.result()
    except asyncio.CancelledError:
        made.cancel()
        raise
    except Exception as error:  # noqa: BLE001 - the PCA map stands; say why the other is missing
        text = str(error) if isinstance(error, InputError) else "The UMAP could not be fitted; the PCA map stays."
        outlet.tell({**NO_UMAP, "note": text, "fitting": False})
        return
    maps["umap"] = result
    outlet.send(result["message"])
    if result["available"]:
        for panel in panels:
            with contextlib.suppress(EngineError):  # a run that is made anew gets the map with the others
                await _place_earlier(panel, result["blob"], outlet)


async def _place_earlier(panel: Panel, blob: bytes, outlet: Outlet) -> None:
    handle = panel.handle
    if handle is None or not await handle.call("add_map", "umap", blob):
        return
    unplaced = 1
    while unplaced and handle is panel.handle:
        result = await handle.call("placed", panel.budget_ms, panel.index)
        unplaced = result["unplaced"]
        for message in result["messages"]:
            panel.track.add_placed(wire.unpack(message)[1])
            outlet.send(message)
