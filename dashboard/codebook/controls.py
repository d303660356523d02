"""The row above the maps: which images, how many codes, and pictures of one's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import streamlit as st

from dashboard.codebook.own import own_images
from dashboard.codebook.state import IMAGES, SIZES, CodebookState
from dashboard.own_data import own_popover
from dashboard.presets import Panel
from dashboard.theme import plain
from ddcl_core.codebook.config import ImageConfig
from ddcl_core.errors import InputError

Begin = Callable[[CodebookState], None]


def images_row(state: CodebookState, shown: CodebookState, panels: tuple[Panel, Panel], begin: Begin) -> None:
    """Choices that start a new run. state: what runs; shown: with what was set in the live view since."""
    config = panels[0].config
    new = shown
    a, b, c, _ = st.columns([1, 1.2, 1.1, 1.2], gap="medium", vertical_alignment="bottom")
    with a:
        kinds = list(IMAGES) + (["own"] if state.own else [])
        now = "own" if state.own else config.images.kind
        kind = st.selectbox(
            "Images", kinds, kinds.index(now), format_func={**IMAGES, "own": "your own pictures"}.get,
            key=f"codebook-images-{state.example}-{now}-{bool(state.own)}",
        )  # fmt: skip
        if kind != now:
            new = replace(new, images=kind, own="", wanted=False)
    with b:
        known = sorted({*SIZES, config.num_codes})
        codes = st.select_slider(
            "Codes K", known, config.num_codes, key=f"codebook-codes-{state.example}-{state.pair}",
            help="How many codes there are. A new value starts a new run.",
        )  # fmt: skip
        if codes != config.num_codes:
            new = replace(new, codes=int(codes))
    with c:
        _own_pictures(state, shown, begin)
    if new != shown:
        begin(new)
        st.rerun()


def _own_pictures(state: CodebookState, shown: CodebookState, begin: Begin) -> None:
    with own_popover("pictures", state.own, "codebook_own"):
        st.markdown(
            "Pictures of your own: png or jpeg files, or a zip of them, of any size. Large ones are cut into patches "
            "of 32 × 32 pixels. They stay on this machine and out of the link."
        )
        files = st.file_uploader(
            "Pictures", key="codebook-files", label_visibility="collapsed", accept_multiple_files=True
        )
        sent = tuple(file.file_id for file in files or ())
        if sent and sent != st.session_state.get("codebook_files_read"):
            st.session_state.codebook_files_read = sent
            with st.spinner("Reading the pictures …"):
                _take(files, shown, begin)
        failed = st.session_state.get("codebook_files_failed")
        if failed:
            st.error(plain(f"{failed} What runs goes on unchanged."))
        if state.own and st.button("Back to the photo patches", key="codebook-back"):
            begin(replace(shown, own="", wanted=False))
            st.rerun()


def _take(files: Any, shown: CodebookState, begin: Begin) -> None:
    st.session_state.codebook_files_failed = None
    try:
        config = ImageConfig("own", 1024, 32)
        reference = own_images().read([(file.name, file.getvalue()) for file in files], config, shown.seed)
    except InputError as error:
        st.session_state.codebook_files_failed = str(error)
        return
    begin(replace(shown, own=reference, images=None, wanted=True))
    st.rerun()
