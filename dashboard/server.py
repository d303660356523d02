"""What the server process does around the pages: routes beside Streamlit's own, and the engine's life."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from starlette.routing import BaseRoute
from streamlit import config
from streamlit.runtime.pages_manager import PagesManager

from dashboard.engine.client import get_engine
from dashboard.live.hub import get_hub
from dashboard.live.socket import live_routes
from dashboard.presets import PRESETS


def base_path() -> str:
    """'' or '/prefix', as server.baseUrlPath says."""
    path = str(config.get_option("server.baseUrlPath") or "").strip("/")
    return f"/{path}" if path else ""


def routes() -> list[BaseRoute]:
    """The live routes, for `streamlit.starlette.App(routes=...)`."""
    return live_routes(get_hub(get_engine()), base_path())


@asynccontextmanager
async def lifespan(app: Any) -> AsyncIterator[dict[str, Any]]:
    """Start the engine while the first page is being read; end every worker when the server ends."""
    # A first visit to another page than the main one would else run its file alone, without the navigation.
    PagesManager.uses_pages_directory = False
    engine = get_engine().start(prefetch=_first_scenes())
    # What has been imported by now stays for good: a collection need not look at it again.
    gc.collect()
    gc.freeze()
    try:
        yield {}
    finally:
        await get_hub(engine).close()
        await asyncio.get_running_loop().run_in_executor(None, engine.stop)


def _first_scenes() -> list[Any]:
    """The default example's runs, so that its map is on its way before the first browser asks."""
    return [[panel.config for panel in PRESETS[0].pairs[0].panels]]
