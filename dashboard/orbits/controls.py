"""The row above the maps: what population, how many prototypes, and a catalogue of one's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import streamlit as st

from dashboard.orbits.catalogues import load_upload
from dashboard.orbits.state import CLUSTERS, IMBALANCES, NOISES, OBJECTS, UPLOAD_LIMIT, OrbitState
from dashboard.presets import Panel
from dashboard.own_data import own_popover
from dashboard.theme import plain
from ddcl_core.errors import InputError
from ddcl_core.orbits import Problem

Begin = Callable[[OrbitState], None]


def population_row(state: OrbitState, shown: OrbitState, panels: tuple[Panel, Panel], begin: Begin) -> None:
    """Choices that start a new run. state: what runs; shown: with what was set in the live view since."""
    config = panels[0].config
    key = f"{state.example}-{state.pair}-{bool(state.own)}"
    new = shown
    if state.own:
        d, e, _ = st.columns([1, 1.1, 3], gap="medium", vertical_alignment="bottom")
    else:
        a, b, c, d, e = st.columns([1, 1, 1, 1, 1.1], gap="medium", vertical_alignment="bottom")
        data = config.data
        with a:
            value = _slide("Objects", OBJECTS, data.num_documents, f"objects-{key}", "{:,}")
            new = new if value == data.num_documents else replace(new, objects=int(value))
        with b:
            help = "The most frequent regime over the rarest, in the synthetic population. A new value starts a new run."
            value = _slide("Imbalance", IMBALANCES, data.imbalance, f"imbalance-{key}", "{:g} : 1", help)
            new = new if value == data.imbalance else replace(new, imbalance=float(value))
        with c:
            help = "How far orbits are smeared: 1 spreads LEO over 700 km and lets regimes overlap."
            value = _slide("Noise", NOISES, data.noise, f"noise-{key}", "{:g}", help)
            new = new if value == data.noise else replace(new, noise=float(value))
    with d:
        value = _slide("Prototypes K", CLUSTERS, config.num_prototypes, f"k-{key}", "{:g}")
        new = new if value == config.num_prototypes else replace(new, clusters=int(value), prototype=0)
    with e:
        _own_catalogue(state, shown, begin)
    if new != shown:
        begin(new)
        st.rerun()


def _slide(label: str, options: tuple[Any, ...], value: Any, key: str, form: str, help: str | None = None) -> Any:
    known = sorted({*map(float, options), float(value)})
    return st.select_slider(
        label, known, float(value), format_func=lambda v: form.format(int(v) if float(v).is_integer() else v), key=key,
        help=help,
    )  # fmt: skip


def _own_catalogue(state: OrbitState, shown: OrbitState, begin: Begin) -> None:
    with own_popover("catalogue", state.own, "orbit_own"):
        st.markdown(
            "A file of your own: two-line elements with or without names (TLE, 3LE), or GP data as CSV or JSON. It stays "
            "on this machine and out of the link."
        )
        file = st.file_uploader("Catalogue file", key="orbit-file", label_visibility="collapsed")
        if file is not None and file.file_id != st.session_state.get("orbit_file_read"):
            st.session_state.orbit_file_read = file.file_id
            with st.spinner("Reading the catalogue …"):
                _take(file, shown, begin)
        failed = st.session_state.get("orbit_file_failed")
        if failed:
            st.error(plain(f"{failed} What runs goes on unchanged."))
        if state.own and st.button("Back to the synthetic population", key="orbit-synthetic"):
            begin(replace(shown, own="", own_size=0, wanted=False, cloud="", prototype=0))
            st.rerun()


def _take(file: Any, shown: OrbitState, begin: Begin) -> None:
    st.session_state.orbit_file_failed = None
    try:
        reference, catalogue = load_upload(file.getvalue(), file.name, UPLOAD_LIMIT)
    except InputError as error:
        st.session_state.orbit_file_failed = str(error)
        return
    begin(replace(shown, own=reference, own_size=len(catalogue), wanted=True, cloud="", prototype=0))
    st.rerun()


def problem_list(problems: tuple[Problem, ...]) -> None:
    """What was left out of a file, with line and reason; nothing when all was read."""
    if not problems:
        return
    count = "One entry was" if len(problems) == 1 else f"{len(problems):,} entries were"
    with st.expander(f"{count} left out; the rest is loaded. Which, and why?"):
        st.dataframe(
            {
                "line": [p.line for p in problems[:2000]],
                "reason": [p.reason for p in problems[:2000]],
                "begins with": [p.text for p in problems[:2000]],
            },
            hide_index=True,
        )
