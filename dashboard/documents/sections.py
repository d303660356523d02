"""What stands below the Documents page's live view, read out of the last look at the run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from dashboard import looking
from dashboard.documents import look as looks
from dashboard.documents.all_of_them import all_of_them, is_it_faithful
from dashboard.documents.one_document import one_document
from dashboard.documents.one_prototype import one_prototype
from dashboard.documents.state import DocumentState

Keep = Callable[[DocumentState], None]


def kept_look(token: str) -> looks.DocumentLook | None:
    """The last look at the run of this scene."""
    return looking.kept_look(WATCH.key, token)


def _take(token: str, last: looks.DocumentLook | None) -> looks.DocumentLook:
    taken = looks.take_look(token, last.material if last is not None else None)
    if st.session_state.get("document_names_of") != token:
        st.session_state.document_names, st.session_state.document_names_of = {}, token
        st.session_state.document_faith = None  # of other documents; one of an earlier step says so itself
    return taken


def _what(look: looks.DocumentLook) -> str:
    count = look.material.count
    return f"{count:,} document{'s' if count != 1 else ''}, {len(look.material.owners):,} tokens read"


# Before step 40 the prototypes have hardly left their start.
WATCH = looking.Watch(
    "document", "Read the documents now", ("the run has", "it rests", "the texts"), 40, _take, _what
)


@st.fragment(run_every=2.0)
def watch(token: str) -> None:
    """How far the run is and how old the look below is; looks by itself at first, and when the run comes to rest."""
    looking.keep_watch(token, WATCH)


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
