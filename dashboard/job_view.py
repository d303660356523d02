"""How far a job is, on the page."""

from __future__ import annotations

import streamlit as st

from dashboard.engine.jobs import jobs


@st.fragment(run_every=1.0)
def job_progress(key: str) -> None:
    """A bar with words and a cancel button; reruns the page when the job has ended."""
    state = jobs().state(key)
    if state.state in ("done", "error", "idle"):
        st.rerun()
    st.progress(min(max(state.progress, 0.0), 1.0), state.text)
    if st.button("Cancel", key=f"cancel-{key}"):
        jobs().cancel(key)
        st.rerun()
