"""Texts of one's own for the Hierarchy page: read as on the Documents page, in a smaller popover."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from dashboard.engine.uploads import uploads
from dashboard.hierarchy.state import HierarchyState
from dashboard.own_data import own_popover
from dashboard.theme import plain
from ddcl_core.data.tables import read_table, take_documents
from ddcl_core.errors import InputError

Begin = Callable[[HierarchyState], None]


def own_texts(state: HierarchyState, shown: HierarchyState, begin: Begin) -> None:
    """The popover in which a file is loaded; its columns are guessed, and the Documents page lets them be chosen."""
    with own_popover("documents", state.own, "hierarchy_own"):
        st.markdown("CSV, TSV, JSON lines, Parquet, Excel or a zip of text files. They stay on this machine and out of the link.")
        file = st.file_uploader("File of documents", key="hierarchy-file", label_visibility="collapsed")
        if file is not None and file.file_id != st.session_state.get("hierarchy_file_read"):
            st.session_state.hierarchy_file_read = file.file_id
            st.session_state.hierarchy_file_failed = None
            try:
                content = file.getvalue()
                table = read_table(content, file.name)
                own = take_documents(table)
                if len(own) < 2:
                    raise InputError(f"{file.name} holds only one document; give at least two.")
            except InputError as error:
                st.session_state.hierarchy_file_failed = str(error)
            else:
                reference = uploads().keep(hashlib.sha256(content).digest() + b"hierarchy", own)
                begin(replace(shown, own=reference, own_size=len(own), texts="", wanted=True))
                st.rerun()
        failed = st.session_state.get("hierarchy_file_failed")
        if failed:
            st.error(plain(f"{failed} What runs goes on unchanged."))
        if state.own and st.button("Back to the example's documents", key="hierarchy-back"):
            begin(replace(shown, own="", own_size=0, wanted=False))
            st.rerun()
