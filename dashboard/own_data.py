"""Where a person's own data is loaded: the same on every page."""

from __future__ import annotations

from typing import Any

import streamlit as st


def own_popover(what: str, own: str, key: str) -> Any:
    """The popover in which `what` of one's own is loaded. It closes once `own`, the reference of what runs, has changed,
    so that the picture can be seen."""
    if st.session_state.get(f"{key}_runs", own) != own:
        st.session_state[key] = False
    st.session_state[f"{key}_runs"] = own
    label = f"{'Other' if own else 'Own'} {what}"
    return st.popover(label, icon=":material/upload_file:", width="stretch", wrap=True, key=key, on_change="rerun")
