"""Mounts the live view (`assets/live`) in a page: a component whose inline JavaScript is only a loader.

The view's modules are served at `<base>/ddcl/assets/live/` and its data at `<base>/ddcl/live`, a WebSocket that speaks
the protocol of `assets/live/protocol.js`. Inline JavaScript would travel with every message of the page, and frames
sent through script runs would rebuild the page at every one of them.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import streamlit as st

from ddcl_core.errors import InputError

ASSETS = Path(__file__).resolve().parent.parent / "assets" / "live"

_HTML = '<div class="ddcl-wait" style="min-height: 900px; opacity: 0.7" role="status">Loading the live view …</div>'

# The base path is read off Streamlit's own script, so that the view also works behind a proxy that cuts a prefix.
_LOADER = """
export default async function (component) {
  const script = [...document.scripts].map((s) => s.src).find((src) => src.includes("/static/js/"));
  const base = script ? script.split("/static/js/")[0] : location.origin + component.data.base;
  const root = `${base}/ddcl/`;
  try {
    const view = await import(`${root}assets/live/main.js?v=${component.data.version}`);
    return await view.mount(component, root);
  } catch (error) {
    const wait = component.parentElement.querySelector(".ddcl-wait");
    if (wait) wait.textContent = "The live view could not be loaded. Reload the page; if that does not help, restart the app.";
    console.error(error);
    return () => {};
  }
}
"""

_VIEW_SETTINGS = ("color", "map", "forces", "trails", "speed", "seed")


@lru_cache(maxsize=1)
def assets_version() -> str:
    """Short hash of the view's files; a changed file has a new address, so a browser never runs an old one."""
    digest = hashlib.sha256()
    for path in sorted(ASSETS.glob("*.*")):
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def payload(
    scene_token: str,
    panels: Sequence[Mapping[str, Any]],
    key: str,
    view: Mapping[str, Any] | None = None,
    base: str = "",
    extension: str = "",
) -> dict[str, Any]:
    """What the component receives; a pure function, so that tests need no browser.

    Equal arguments give an equal payload, and the view leaves a running scene alone as long as the token stays.
    """
    if not scene_token:
        raise InputError("The live view has no scene token; register the scene first and pass its token.")
    if not 1 <= len(panels) <= 2:
        raise InputError(f"The live view shows one or two panels, not {len(panels)}; leave some out.")
    if extension and not (ASSETS / f"{extension}.js").is_file():
        raise InputError(f"The live view has no extension {extension!r}; put it into assets/live as {extension}.js.")
    unknown = sorted(set(view or {}) - set(_VIEW_SETTINGS))
    if unknown:
        raise InputError(f"The live view has no setting {unknown[0]!r}; it knows {', '.join(_VIEW_SETTINGS)}.")
    path = base.strip("/")
    return {
        "key": key,
        "scene": scene_token,
        "panels": [_panel(panel, index) for index, panel in enumerate(panels)],
        "view": {name: value for name, value in (view or {}).items() if value is not None},
        "version": assets_version(),
        "base": f"/{path}" if path else "",
        "extension": extension,
    }


def _panel(panel: Mapping[str, Any], index: int) -> dict[str, Any]:
    label = str(panel.get("label") or ("left", "right")[index])
    values: dict[str, float | None] = {}
    for name in ("epsilon", "temperature"):
        value = panel.get(name)
        if name == "temperature" and name in panel and value is None:
            values[name] = None
            continue
        if not isinstance(value, (int, float)) or not math.isfinite(value) or value < 0:
            raise InputError(f"Panel {label!r} has {name} {value!r}; give a number that is not negative.")
        values[name] = float(value)
    return {"label": label, **values}


@lru_cache(maxsize=1)
def _component() -> Any:
    return st.components.v2.component("ddcl_live_view", html=_HTML, js=_LOADER)


def live_view(
    scene_token: str,
    panels: Sequence[Mapping[str, Any]],
    *,
    key: str,
    view: Mapping[str, Any] | None = None,
    extension: str = "",
    on_view_change: Any = None,
) -> dict[str, Any] | None:
    """Show a scene live and return what the person settled on, or None before they touched anything.

    scene_token: from the registry of live scenes. The same token on a rerun leaves the run alone; another one starts
        over, so a page keeps its token in `st.session_state` while ε, T or the view change.
    panels: one or two mappings with `label`, `epsilon` and `temperature` (the values at step 0; a
        temperature of None hides its slider).
    key: identity of the component on the page; zoom and selection are remembered under it.
    view: starting values of `color` ("class" | "prototype"), `map` ("umap" | "pca"), `forces`, `trails`, `speed` (steps
        a second, 0 for as fast as it can) and `seed`, taken up when a scene opens; what is left out stays as it was.
    extension: name of a module of `assets/live` that adds what this kind of run shows besides the maps.
    Returns {"scene", "panels": [{"epsilon", "temperature"}, ...], "seed", "map", "color", "forces", "trails", "speed"},
    reported 300 ms after a control was let go of, for the link.
    """
    data = payload(scene_token, panels, key, view, st.get_option("server.baseUrlPath") or "", extension)
    callback = on_view_change or _nothing
    result = _component()(data=data, key=key, on_view_change=callback)
    return getattr(result, "view", None)


def _nothing() -> None:
    """Streamlit keeps a component's state only for names that have a callback."""
