"""Orbits: satellites and debris as tokens. Which prototype holds which regime, and who loses the rare ones?"""

from __future__ import annotations

import html
import json
from dataclasses import replace

import streamlit as st

from dashboard.live_view import live_view
from dashboard.orbits.catalogues import catalogue_of, in_words
from dashboard.orbits.controls import population_row, problem_list
from dashboard.orbits.presets import ORBIT_PRESETS
from dashboard.orbits.sections import results, watch
from dashboard.orbits.state import OrbitState, first_pair, from_query, panels_of, settle, to_query
from dashboard.page import Page, report_on, sliders
from dashboard.tables import TABLE_CSS
from dashboard.theme import heading, page_css, plain
from ddcl_core.errors import InputError
from ddcl_core.orbits import FEATURES, REGIME_RULES

OWN = (
    "Your catalogue, under this example's two settings. Watch where the prototypes settle among its orbits; below, tables "
    "count which of them holds which regime and which debris cloud, and list what lies far from all of them."
)
BACKGROUND = f"""
**Each object is one token** of {len(FEATURES)} numbers that say which orbit it is in, whatever the hour: the logarithms of the
semi-major axis, of perigee and apogee radius, the eccentricity, and cosine and sine of the inclination, each brought to
mean 0 and variance 1. Node, argument of perigee and anomaly are left out, since they turn within hours to years.

**Regimes by rule**, asked in this order: {"; ".join(f"*{name}*: {rule}" for name, rule in REGIME_RULES)}. No method sees
them; they only colour the maps and score the clusters. Synthetic objects keep the regime they were drawn from.

**The maps.** *size × shape* and *size × tilt* show the orbits themselves: the semi-major axis, counted from the ground on a
logarithmic axis, against eccentricity and inclination. There the objects stand still and only prototypes move, each at the
mean of its objects, weighted with their shares. UMAP and PCA show what the encoder has made of them. At most 1,500 objects are
drawn, always the same random ones; training, tables and downloads use all.

**Training** descends $L_q$ by plain gradient descent on mini-batches of 512 objects; metrics are taken over all objects at
every drawn step.

Sources: Cirrincione and Kumar, arXiv 2604.03850; Cirrincione, arXiv 2604.01740; orbits: Hoots and Roehrich, *Spacetrack
Report No. 3* (1980), Vallado et al., AIAA 2006-6753, read with the package `sgp4`.
"""


LOOKED = ("side", "prototype", "cloud")


def _moved(state: OrbitState) -> None:
    """The lists below are made anew, so that they follow the address."""
    st.session_state.orbit_moves = st.session_state.get("orbit_moves", 0) + 1


PAGE = Page("orbit", from_query, to_query, looked=LOOKED, moved=_moved)


def show() -> None:
    """The whole page."""
    st.html(page_css() + f"<style>{TABLE_CSS}</style>")
    st.html(heading("Orbits", "Satellites and debris in four regimes, two of them rare. Who keeps the rare ones?"))
    state = PAGE.state()
    _example(state)
    panels = panels_of(state)
    token = PAGE.scene(state, panels)
    population_row(state, PAGE.shown, panels, PAGE.begin)
    catalogue = _catalogue(panels)
    view = live_view(
        token,
        sliders(panels),
        key="orbits",
        view={
            "map": state.map or state.preset.map, "color": state.colour or state.preset.colour,
            "speed": state.preset.steps_per_second,
        },
    )  # fmt: skip
    PAGE.show(settle(state, panels, report_on(view, token)))
    st.html('<h2 class="orb-heading">Look at the clusters</h2>')
    watch(token)
    results(token, state, _chosen)
    with st.expander("Does DDCL keep the rare regimes? What was measured"):
        st.markdown(_measured())
    with st.expander("What am I looking at? Features, regimes and maps"):
        st.markdown(BACKGROUND)
    with st.expander("Repeat it elsewhere: seed and configuration"):
        own = " They name your catalogue by a digest only; give its text as `data.texts` there." if state.own else ""
        st.caption(f"Seed {panels[0].config.seed}. `RunConfig.from_dict` reads these, `TrainingRun` runs them.{own}")
        st.code(json.dumps({p.label: p.config.to_dict() for p in panels}, indent=2, ensure_ascii=False), language="json")
    del catalogue


def _chosen(state: OrbitState) -> None:
    """What is looked at below has changed; the runs have not."""
    PAGE.look_at(**{name: getattr(state, name) for name in LOOKED})


def _example(state: OrbitState) -> None:
    shown = PAGE.shown
    chosen = PAGE.example(ORBIT_PRESETS, state.example, OWN if state.own else state.preset.watch)
    if chosen is not None:
        own = {name: getattr(shown, name) for name in ("own", "own_size", "wanted", "seed", "objects")}
        PAGE.begin(OrbitState(example=chosen, pair=first_pair(chosen), **own))
        st.rerun()
    which = None if state.own else PAGE.pair(state.preset, state.pair)
    if which is not None:
        PAGE.begin(replace(shown, pair=which, imbalance=None, epsilon=(None, None), temperature=(None, None)))
        st.rerun()


def _catalogue(panels):
    try:
        catalogue = catalogue_of(panels[0].config.data, panels[0].config.seed)
    except InputError as error:  # the server has let go of a loaded file
        st.error(plain(str(error)))
        return None
    notes = " ".join(catalogue.notes)
    st.html(f'<p class="ddcl-note">{html.escape(in_words(catalogue))} {html.escape(notes)}</p>')
    problem_list(catalogue.problems)
    return catalogue


def _measured() -> str:
    from dashboard.orbits.measured import WORDS

    return WORDS


show()
