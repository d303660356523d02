"""Documents of one's own: a file or pasted text, the guess which column is what, and the choice to change it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import streamlit as st

from dashboard.documents.state import DocumentState
from dashboard.engine.uploads import uploads
from dashboard.own_data import own_popover
from dashboard.theme import plain
from ddcl_core.data.table_text import ENCODINGS
from ddcl_core.data.tables import Table, pasted_table, read_table, take_documents
from ddcl_core.errors import InputError

Begin = Callable[[DocumentState], None]
KINDS = ["csv", "tsv", "txt", "jsonl", "json", "ndjson", "parquet", "xlsx", "zip", "tab", "md", "xls"]


def own_documents(state: DocumentState, shown: DocumentState, begin: Begin) -> None:
    """The popover in which documents are loaded. state: what runs; shown: with what was set in the live view since."""
    with own_popover("documents", state.own, "document_own"):
        st.markdown(
            "CSV, TSV, JSON lines, Parquet, Excel, or a zip of text files with a folder for each label; or paste text. Nothing leaves "
            "this machine, and nothing of it goes into the link."
        )
        file = st.file_uploader("File of documents", key="document-file", label_visibility="collapsed")
        pasted = st.text_area(
            "Or paste documents, one a line; a label and a tab before each if you have labels", key="document-paste", height=90
        )
        _read(file, pasted)
        _encoding(file)
        failed = st.session_state.get("document_file_failed")
        if failed:
            st.error(plain(f"{failed} What runs goes on unchanged."))
        table: Table | None = st.session_state.get("document_table")
        if table is not None and not failed:
            _choose(table, shown, begin)
        if state.own and st.button("Back to the example's documents", key="document-back"):
            begin(replace(shown, own="", own_size=0, own_labelled=False, wanted=False, document=0, prototype=0))
            st.rerun()


def _read(file: Any, pasted: str) -> None:
    sent = (file.file_id if file is not None else "", hashlib.sha256(pasted.encode()).hexdigest())
    if sent == st.session_state.get("document_sent") or (file is None and not pasted.strip()):
        return
    before = st.session_state.get("document_sent", ("", ""))
    st.session_state.document_sent = sent
    st.session_state.document_file_failed = st.session_state.document_table = None
    try:
        if file is not None and sent[0] != before[0]:
            with st.spinner("Reading the file …"):
                _take(file, None)
        elif pasted.strip():
            st.session_state.document_table = pasted_table(pasted)
            st.session_state.document_digest = hashlib.sha256(pasted.encode()).digest()
    except InputError as error:
        st.session_state.document_file_failed = str(error)


def _take(file: Any, encoding: str | None) -> None:
    content = file.getvalue()
    st.session_state.document_table = read_table(content, file.name, encoding=encoding)
    st.session_state.document_digest = hashlib.sha256(content + repr(encoding).encode()).digest()


def _encoding(file: Any) -> None:
    """A file that is not UTF-8 was read by a guess, which can be changed."""
    table: Table | None = st.session_state.get("document_table")
    if file is None or table is None or table.encoding in (None, "utf-8"):
        return
    known = list(ENCODINGS)
    chosen = st.selectbox(
        "Encoding of the file", known, known.index(table.encoding), format_func=ENCODINGS.get, key=f"document-encoding-{file.file_id}"
    )
    if chosen != table.encoding:
        _take(file, chosen)


def _choose(table: Table, shown: DocumentState, begin: Begin) -> None:
    st.caption(plain(f"{table.total:,} rows. The guess: {table.reason}."))
    a, b = st.columns(2)
    columns, of = range(len(table.columns)), st.session_state.document_digest.hex()[:8]  # a choice belongs to its file
    with a:
        text = st.selectbox("Text", columns, table.text, format_func=table.columns.__getitem__, key=f"document-text-column-{of}")
    with b:
        options = [None, *columns]
        label = st.selectbox(
            "Label", options, options.index(table.label), key=f"document-label-column-{of}",
            format_func=lambda c: "none" if c is None else table.columns[c],
        )  # fmt: skip
    some = [c for c in (text, label) if c is not None]
    st.dataframe({table.columns[c]: [row[c][:160] for row in table.rows[:5]] for c in dict.fromkeys(some)}, hide_index=True)
    try:
        own = take_documents(table, text, label)
    except InputError as error:
        st.error(plain(str(error)))
        return
    for note in own.notes:
        st.caption(plain(note))
    what = "this document" if len(own) == 1 else f"these {len(own):,} documents"
    if st.button(f"Read {what}", type="primary", key="document-use"):
        labelled = len(set(own.labels)) >= 2
        digest = st.session_state.document_digest + repr((text, label)).encode()
        reference = uploads().keep(digest, own)
        begin(
            replace(
                shown, own=reference, own_size=len(own), own_labelled=labelled, wanted=True, document=0, prototype=0,
                count=min(len(own), 400), task=None, prototypes=shown.prototypes,
            )
        )  # fmt: skip
        st.rerun()
