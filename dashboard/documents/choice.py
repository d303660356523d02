"""What is looked at on the Documents page, and the lists that choose it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from dashboard.documents.look import DocumentLook
from dashboard.theme import theme_name


def theme() -> str:
    """'light' or 'dark', as the page is shown."""
    return theme_name(getattr(st.context.theme, "type", None))


def names() -> dict[int, str]:
    """Names that a person has given to prototypes of the present scene."""
    return st.session_state.setdefault("document_names", {})


def go_to(document: int | None = None, prototype: int | None = None) -> None:
    """Look at this document or prototype from now on."""
    if document is not None:
        st.session_state.document_at = int(document)
    if prototype is not None:
        st.session_state.prototype_at = int(prototype)


def document_list(look: DocumentLook, documents: np.ndarray, columns: dict[str, Any], key: str, **how: Any) -> None:
    """A table with a row for each of `documents`; a row that is chosen is the document looked at from then on.

    A callback, since a selection lasts: read on every run, it would take back what was chosen elsewhere later.
    """
    table = {"document": np.asarray(documents) + 1, **columns, "begins": beginnings(look, documents)}
    st.dataframe(
        table, hide_index=True, key=key, on_select=partial(_row_chosen, key, documents), selection_mode="single-row", **how
    )  # fmt: skip


def beginnings(look: DocumentLook, documents: Sequence[int] | np.ndarray, length: int = 120) -> list[str]:
    """How each document begins, in one line."""
    return [" ".join(look.material.texts[i][: 2 * length].split())[:length] for i in documents]


def _row_chosen(key: str, documents: np.ndarray) -> None:
    rows = st.session_state[key].selection.rows
    if rows and rows[0] < len(documents):
        go_to(document=int(documents[rows[0]]))
