"""Documents of one's own: a file or pasted text, the guess which column is what, and the choice to change it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import streamlit as st

from dashboard.documents.state import DocumentState, panel_of, prototypes_for
from dashboard.engine.uploads import uploads
from dashboard.own_data import own_popover
from dashboard.theme import plain
from ddcl_core.data.table_text import ENCODINGS
from ddcl_core.data.tables import MAX_BYTES, OwnDocuments, Table, pasted_table, read_table, take_documents
from ddcl_core.errors import InputError

FIRST = 400  # documents that are read at first, so that the first picture does not take minutes
Begin = Callable[[DocumentState], None]


def own_documents(state: DocumentState, shown: DocumentState, begin: Begin) -> None:
    """The popover in which documents are loaded. state: what runs; shown: with what was set in the live view since."""
    with own_popover("documents", state.own, "document_own"):
        st.markdown(
            "CSV, TSV, JSON lines, Parquet, Excel, or a zip of text files with a folder for each label; or paste text. Nothing leaves "
            "this machine, and nothing of it goes into the link."
        )
        file = st.file_uploader(
            "File of documents", key="document-file", label_visibility="collapsed", max_upload_size=MAX_BYTES >> 20
        )  # fmt: skip
        pasted = st.text_area(
            "Or paste documents, one a line; a label and a tab before each if you have labels", key="document-paste", height=90
        )
        _read(file, pasted)
        _reading(file)
        failed = st.session_state.get("document_file_failed")
        if failed:
            st.error(plain(f"{failed} What runs goes on unchanged."))
        table: Table | None = st.session_state.get("document_table")
        if table is not None and not failed:
            _choose(table, state, shown, begin)
        if state.own and st.button("Back to the example's documents", key="document-back"):
            begin(replace(shown, own="", own_size=0, own_labelled=False, wanted=False, document=0, prototype=0))
            st.rerun()


def _read(file: Any, pasted: str) -> None:
    """Reads what has been sent last, a file or a paste; when it is taken away, the other one that is still there."""
    sent = {"file": file.file_id if file is not None else "", "paste": hashlib.sha256(pasted.encode()).hexdigest() if pasted.strip() else ""}
    before = st.session_state.get("document_sent", {"file": "", "paste": ""})
    if sent == before:
        return
    st.session_state.document_sent = sent
    st.session_state.document_file_failed = st.session_state.document_table = None
    changed = [kind for kind in sent if sent[kind] != before[kind] and sent[kind]]
    kind = (changed or [kind for kind in sent if sent[kind]] or [""])[0]
    if kind == "file":
        with st.spinner("Reading the file …"):
            _take(file)
    elif kind == "paste":
        _keep(pasted.encode(), lambda: pasted_table(pasted))


def _take(file: Any, encoding: str | None = None, header: bool | None = None) -> None:
    content = file.getvalue()
    _keep(content + repr((encoding, header)).encode(), lambda: read_table(content, file.name, encoding=encoding, header=header))


def _keep(content: bytes, read: Callable[[], Table]) -> None:
    try:
        st.session_state.document_table = read()
        st.session_state.document_digest = hashlib.sha256(content).digest()
        st.session_state.document_file_failed = None
    except InputError as error:
        st.session_state.document_file_failed = str(error)


def _reading(file: Any) -> None:
    """How the file is read, where that was a guess: its encoding, and whether its first row is a header."""
    table: Table | None = st.session_state.get("document_table")
    if file is None or table is None or table.header is None:
        return
    a, b = st.columns(2, vertical_alignment="bottom")
    encoding, known = table.encoding, list(ENCODINGS)
    with a:
        header = st.checkbox("The first row names the columns", table.header, key=f"document-header-{file.file_id}")
    with b:
        if encoding not in (None, "utf-8"):
            encoding = st.selectbox(
                "Encoding of the file", known, known.index(encoding), format_func=ENCODINGS.get, key=f"document-encoding-{file.file_id}"
            )
    if (encoding, header) != (table.encoding, table.header):
        _take(file, encoding, header)


def _choose(table: Table, state: DocumentState, shown: DocumentState, begin: Begin) -> None:
    st.caption(plain(f"{table.total:,} row{'s' if table.total != 1 else ''}. The guess: {table.reason}."))
    a, b = st.columns(2)
    columns, of = range(len(table.columns)), st.session_state.document_digest.hex()[:8]  # a choice belongs to its file
    with a:
        text = st.selectbox("Text", columns, table.text, format_func=lambda c: _short(table.columns[c]), key=f"document-text-column-{of}")
    with b:
        options = [None, *columns]
        label = st.selectbox(
            "Label", options, options.index(table.label), key=f"document-label-column-{of}",
            format_func=lambda c: "none" if c is None else _short(table.columns[c]),
        )  # fmt: skip
    some = [c for c in (text, label) if c is not None]
    st.dataframe({_short(table.columns[c]): [row[c][:160] for row in table.rows[:5]] for c in dict.fromkeys(some)}, hide_index=True)
    try:
        own = _taken(table, text, label)
    except InputError as error:
        st.error(plain(str(error)))
        return
    for note in own.notes:
        st.caption(plain(note))
    first, read = min(len(own), FIRST), shown.read or panel_of(state).config.data.tokens_per_document
    st.caption(
        f"{first:,} of them are read at first, up to {read:,} tokens of each; the sliders for both take more."
        if first < len(own)
        else f"Up to {read:,} tokens of each are read; a slider takes more."
    )
    what = "this document" if len(own) == 1 else f"these {len(own):,} documents"
    if st.button(f"Read {what}", type="primary", key="document-use"):
        labelled = len(set(own.labels)) >= 2
        digest = st.session_state.document_digest + repr((text, label)).encode()
        reference = uploads().keep(digest, own)
        begin(
            replace(
                shown, own=reference, own_size=len(own), own_labelled=labelled, wanted=True, document=0, prototype=0,
                count=first, task=None,
                prototypes=shown.prototypes or prototypes_for(len(set(own.labels))),
            )
        )  # fmt: skip
        st.rerun()


def _taken(table: Table, text: int, label: int | None) -> OwnDocuments:
    """`take_documents`, which takes half a second for 20,000 documents, once for each choice and not at each run of the page."""
    key = (st.session_state.document_digest, text, label)
    kept = st.session_state.get("document_taken")
    if kept is None or kept[0] != key:
        kept = st.session_state.document_taken = (key, take_documents(table, text, label))
    return kept[1]


def _short(name: str) -> str:
    return name if len(name) <= 40 else name[:39] + "…"
