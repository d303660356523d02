"""Navigation and what every page has in common."""

from __future__ import annotations

import gc
from pathlib import Path

import streamlit as st

from dashboard.process_state import once

_PAGES = Path(__file__).resolve().parents[1] / "pages"


def show() -> None:
    """Run the page that the address names."""
    st.set_page_config(page_title="DDCL Lab", page_icon=str(_PAGES.parent / "assets" / "icon.svg"), layout="wide")
    pages = [
        st.Page(_PAGES / "stability.py", title="Stability", url_path="stability", default=True),
        st.Page(_PAGES / "documents.py", title="Documents", url_path="documents"),
        st.Page(_PAGES / "codebook.py", title="Codebook", url_path="codebook"),
        st.Page(_PAGES / "hierarchy.py", title="Hierarchy", url_path="hierarchy"),
        st.Page(_PAGES / "orbits.py", title="Orbits", url_path="orbits"),
    ]
    st.navigation(pages, position="top").run()
    once("frozen after the first page", _freeze)


def _freeze() -> bool:
    """The first page has imported what pages need: no later collection need look at it again."""
    gc.collect()
    gc.freeze()
    return True
