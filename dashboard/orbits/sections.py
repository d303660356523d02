"""What stands below the maps of the Orbits page: the look at the clusters, kept apart from what moves above."""

from __future__ import annotations

import html
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import streamlit as st

from dashboard import looking
from dashboard.orbits import look as looks
from dashboard.orbits.catalogues import columns
from dashboard.orbits.earth import MOST_ORBITS, alt_text, chosen_orbits, earth_figure
from dashboard.orbits.methods import row
from dashboard.orbits.peers import peers
from dashboard.orbits.state import OrbitState
from dashboard.tables import count_table, method_table
from dashboard.theme import theme_name
from ddcl_core.orbits import NAMED_CLOUDS, REGIMES

LISTED = 500
Keep = Callable[[OrbitState], None]


def kept_look(token: str) -> looks.Look | None:
    """The last look at the runs of this scene."""
    return looking.kept_look(WATCH.key, token)


# Before step 20 the prototypes have hardly left their start.
WATCH = looking.Watch(
    "orbit", "Look at the clusters now", ("the runs have", "the runs rest", "the tables"), 20,
    lambda token, _: looks.take_look(token), lambda look: f"all {len(look.catalogue):,} objects",
)  # fmt: skip


@st.fragment(run_every=2.0)
def watch(token: str) -> None:
    """How far the runs are and how old the look below is; looks by itself when they come to rest."""
    looking.keep_watch(token, WATCH)
    look = kept_look(token)
    if look is not None and _peers(look).state in ("done", "error") and not st.session_state.get("orbit_peers_seen"):
        st.session_state.orbit_peers_seen = True
        st.rerun()


def _peers(look: looks.Look):
    return peers(look.sides[0].config, look.catalogue)


@st.fragment
def results(token: str, state: OrbitState, keep: Keep) -> None:
    """Everything that is read out of the last look; its own choices rerun nothing else."""
    look = kept_look(token)
    if look is None:
        return
    labels = [f"{side.label} · step {side.step}" for side in look.sides]
    chosen = st.segmented_control(
        "Which side", range(len(labels)), default=min(state.side, len(labels) - 1), format_func=labels.__getitem__,
        required=True, key=f"orbit-side-{token}-{_moves()}",
    )  # fmt: skip
    state = replace(state, side=int(chosen or 0))
    tabs = st.tabs(
        ["Prototypes and regimes", "One prototype", "Debris clouds", "Far from every prototype", "Other methods"]
    )
    with tabs[0]:
        _regimes(look, state.side)
    with tabs[1]:
        state = _prototype(look, state, token)
    with tabs[2]:
        _clouds(look, state.side)
    with tabs[3]:
        _anomalies(look, state.side)
    with tabs[4]:
        _methods(look)
    st.download_button(
        "All objects with their clusters (CSV)", lambda: looks.members_csv(look), "orbit-clusters.csv", "text/csv",
        key="orbit-csv", on_click="ignore",
    )  # fmt: skip
    keep(state)


def _moves() -> int:
    """How often the browser's Back has led elsewhere."""
    return st.session_state.get("orbit_moves", 0)


def _numbers(count: int) -> list[str]:
    return [str(k + 1) for k in range(count)]


def _regimes(look: looks.Look, side: int) -> None:
    counts = looks.confusion(look, side)
    st.html(
        count_table(
            counts, REGIMES, _numbers(counts.shape[1]),
            "Which prototype leads for the objects of which regime. Look for a rare regime whose row is dark in one "
            "column: it has a prototype to itself if that column is pale elsewhere.",
            "regime \\ prototype", [looks.holders(row) for row in counts],
        )
    )  # fmt: skip
    s = look.sides[side]
    idle = [k + 1 for k in np.flatnonzero(counts.sum(axis=0) == 0)]
    words = f"Prototypes that lead for nothing: {', '.join(map(str, idle))}. " if idle else ""
    spots = "; ".join(", ".join(str(k + 1) for k in group) for group in s.together())
    words += f"On one spot, sharing their objects, so that which of them leads is chance: {spots}. " if spots else ""
    st.html(
        f'<p class="ddcl-note">{words}An object follows the prototype with its largest share; at T = {s.temperature:g} the '
        f"median of that share is {100 * float(np.median(s.strength)):.0f} %.</p>"
    )


def _prototype(look: looks.Look, state: OrbitState, token: str) -> OrbitState:
    s = look.sides[state.side]
    sizes = np.bincount(s.lead, minlength=s.count)
    options = [int(k) for k in np.argsort(-sizes, kind="stable") if sizes[k]]
    index = options.index(state.prototype) if state.prototype in options else 0
    k = st.selectbox(
        "Prototype", options, index, key=f"orbit-prototype-{token}-{_moves()}-{state.side}-{look.step}",
        format_func=lambda n: f"Prototype {n + 1} ({sizes[n]:,} objects)",
    )  # fmt: skip
    places = s.members(k)
    st.html(f'<p class="ddcl-note">{html.escape(looks.profile(look, state.side, k))}</p>')
    drawn = chosen_orbits(places)
    globe, table = st.columns([1, 1.15], gap="medium")
    with globe:
        dark = theme_name(getattr(st.context.theme, "type", None))
        st.plotly_chart(
            earth_figure(look.catalogue, drawn, dark), key=f"orbit-earth-{token}", width="stretch",
            alt=alt_text(look.catalogue, drawn, k, len(places)), config={"displayModeBar": False},
        )  # fmt: skip
        some = f"{len(drawn)} of {len(places):,} orbits, evenly chosen" if len(places) > MOST_ORBITS else "Every orbit of it"
        st.caption(f"{some}, to scale; drag to turn. Ellipses of the mean elements, turned as the catalogue says.")
    with table:
        shown = places[:LISTED]
        rows = columns(look.catalogue, shown)
        st.dataframe(
            {"object": rows.pop("object"), "share": s.strength[shown].round(3), **rows}, height=460, hide_index=True,
            key=f"orbit-members-{token}", column_config={"share": st.column_config.NumberColumn(format="%.3f")},
        )  # fmt: skip
        if len(places) > LISTED:
            st.caption(f"The {LISTED} that follow it most surely; the file below has all {len(places):,}.")
    return replace(state, prototype=int(k))


def _clouds(look: looks.Look, side: int) -> None:
    names, counts = looks.cloud_table(look, side)
    if not names:
        st.info(
            "No debris cloud of ten fragments or more is known here: the synthetic population has no names. Load a "
            "catalogue as TLE with names (3LE), or as CSV or JSON, to see Fengyun-1C, Cosmos-2251 and others."
        )
        return
    st.html(
        count_table(
            counts, names, _numbers(counts.shape[1]),
            "Which prototypes hold the fragments of a cloud. A cloud in one column stays together; one that is spread "
            "over several has been torn along height or inclination.",
            "cloud \\ prototype", [looks.holders(row) for row in counts],
        )
    )  # fmt: skip
    said = [f"{name}: {NAMED_CLOUDS[name]}" for name in names if name in NAMED_CLOUDS]
    st.html(f'<p class="ddcl-note">Clouds are told by name ("… DEB"). {". ".join(said)}.</p>')


def _anomalies(look: looks.Look, side: int) -> None:
    st.html(
        '<p class="ddcl-note">The objects farthest from every prototype in use. Distances are measured where the encoder '
        "has put the objects; beside them, how many times the median of all objects. A far object is rare or oddly "
        "placed, which is no fault of it: rare regimes stand here too.</p>"
    )
    st.dataframe(looks.anomalies(look, side), hide_index=True, height=420)


def _methods(look: looks.Look) -> None:
    made = _peers(look)
    st.session_state.orbit_peers_seen = made.state in ("done", "error")
    rows = [
        row(f"DDCL: {s.label}", look.catalogue.regime, s.lead, len(REGIMES), s.count) for s in look.sides
    ]  # fmt: skip
    total = len(look.catalogue)
    found = [{**r, "partial": r["objects"] < total} for r in made.result or ()]
    st.html(
        method_table(
            rows + found, len(rows), REGIMES,
            "The same features, no labels: how well clusters agree with regimes. ACC matches each regime with one "
            "cluster, so every further cluster of a regime counts as wrong; balanced is the mean of the recalls.",
        )
    )  # fmt: skip
    if made.state == "error":
        st.warning(made.text)
    elif made.state != "done":
        st.progress(min(max(made.progress, 0.0), 1.0), made.text)
    st.html(
        '<p class="ddcl-note">Recall near 0 for a rare regime: its objects lie in a cluster that belongs to another regime, '
        "or that was matched with it. Methods for large catalogues see a random part where that is said.</p>"
    )
