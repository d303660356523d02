"""What stands below the Documents page's live view, read out of the last look at the run."""

from __future__ import annotations

import html
import time
from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from dashboard.documents import look as looks
from dashboard.documents.all_of_them import all_of_them, is_it_faithful
from dashboard.documents.one_document import one_document
from dashboard.documents.one_prototype import one_prototype
from dashboard.documents.state import DocumentState
from ddcl_core.errors import InputError

FIRST_LOOK = 40  # step; before it prototypes have hardly left their start
AGAIN = 5.0
Keep = Callable[[DocumentState], None]


def kept_look(token: str) -> looks.DocumentLook | None:
    """The last look at the run of this scene."""
    held = st.session_state.get("document_look")
    return held[1] if held is not None and held[0] == token else None


@st.fragment(run_every=2.0)
def watch(token: str) -> None:
    """How far the run is and how old the look below is; looks by itself at first, and when the run comes to rest."""
    now = looks.pulse_of(token)
    look = kept_look(token)
    seen = look.step if look is not None else -1
    words, press = st.columns([4, 1.4], vertical_alignment="center")
    with press:
        waiting = now.state == "waiting"
        asked = st.button("Read the documents now", key="document-read", width="stretch", disabled=waiting)
    rested = now.state == "resting" and now.step >= 0 and now.step != seen
    started = now.state == "training" and now.step >= FIRST_LOOK and not FIRST_LOOK <= seen <= now.step
    failed = st.session_state.get("document_look_failed")
    if asked or ((rested or started) and (failed is None or time.monotonic() - failed[0] > AGAIN)):
        try:
            taken = looks.take_look(token, look.material if look is not None else None)
            if st.session_state.get("document_names_of") != token:
                st.session_state.document_names, st.session_state.document_names_of = {}, token
            st.session_state.document_look = (token, taken)
            st.session_state.document_faith = None
            st.session_state.document_look_failed = failed = None
        except InputError as error:
            st.session_state.document_look_failed = failed = (time.monotonic(), str(error))
        else:
            st.rerun()
    with words:
        st.html(f'<p class="doc-note" role="status">{html.escape(_state_words(now, look, failed))}</p>')


def _state_words(now, look, failed) -> str:
    if failed is not None:
        return failed[1]
    if look is None:
        later = "as soon as the run has begun" if now.state == "waiting" else f"at step {FIRST_LOOK}, and again when the run rests"
        return f"The documents can be read {later}."
    read, total = len(look.material.owners), look.material.count
    what = f"Below: step {look.step}, {total:,} documents, {read:,} tokens read."
    if now.state == "training" and now.step > look.step:
        return f"{what} Training is at step {now.step}; the texts follow when it rests, or when you ask."
    return what


@st.fragment
def results(token: str, state: DocumentState, keep: Keep) -> None:
    """Everything that is read out of the last look; its own choices rerun nothing else."""
    look = kept_look(token)
    if look is None:
        return
    state = replace(
        state, document=min(st.session_state.get("document_at", state.document), look.material.count - 1),
        prototype=min(st.session_state.get("prototype_at", state.prototype), look.K - 1),
    )  # fmt: skip
    tabs = st.tabs(["One document", "One prototype", "All of them", "Is it faithful?"])
    with tabs[0]:
        one_document(look, state.document, token)
    with tabs[1]:
        one_prototype(look, state.prototype, token)
    with tabs[2]:
        all_of_them(look, state.document)
    with tabs[3]:
        is_it_faithful(look, token)
    keep(state)
