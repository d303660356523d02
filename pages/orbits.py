"""Orbits: satellites and debris as tokens. Which prototype holds which regime, and who loses the rare ones?"""

from __future__ import annotations

import html
import json
from dataclasses import replace

import streamlit as st

from dashboard.live.registry import register_scene
from dashboard.live_view import live_view
from dashboard.orbits.catalogues import catalogue_of, in_words
from dashboard.orbits.controls import population_row, problem_list
from dashboard.orbits.presets import ORBIT_PRESETS
from dashboard.orbits.sections import results, watch
from dashboard.orbits.state import OrbitState, first_pair, from_query, panels_of, settle, to_query
from dashboard.tables import TABLE_CSS
from dashboard.theme import heading, page_css, plain, subscripts
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


def show() -> None:
    """The whole page."""
    st.html(page_css() + f"<style>{TABLE_CSS}</style>")
    st.html(heading("Orbits", "Satellites and debris in four regimes, two of them rare. Who keeps the rare ones?"))
    state = _state()
    shown = st.session_state.get("orbit_shown", state)
    _example(state, shown)
    panels, token = _scene(state)
    population_row(state, shown, panels, _begin)
    catalogue = _catalogue(panels)
    view = live_view(
        token,
        [{"label": p.label, "epsilon": p.config.epsilon, "temperature": p.config.temperature} for p in panels],
        key="orbits",
        view={
            "map": state.map or state.preset.map, "color": state.colour or state.preset.colour,
            "speed": state.preset.steps_per_second,
        },
    )  # fmt: skip
    shown = settle(state, panels, view if view and view.get("scene") == token else None)
    st.session_state.orbit_shown = shown
    st.query_params.from_dict(to_query(shown))
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


def _state() -> OrbitState:
    """The state of this tab: from the link when the page opens, afterwards from the page itself."""
    if "orbit_state" not in st.session_state:
        st.session_state.orbit_state, st.session_state.orbit_problems = from_query(st.query_params.to_dict())
    for problem in st.session_state.orbit_problems:
        st.warning(plain(problem))
    return st.session_state.orbit_state


def _begin(state: OrbitState) -> None:
    st.session_state.orbit_state = st.session_state.orbit_shown = state
    st.session_state.orbit_problems = []


def _chosen(state: OrbitState) -> None:
    """What is looked at below has changed; the runs have not."""
    looked = {name: getattr(state, name) for name in ("side", "prototype", "cloud")}
    if any(getattr(st.session_state.orbit_state, name) != value for name, value in looked.items()):
        st.session_state.orbit_state = replace(st.session_state.orbit_state, **looked)
        st.session_state.orbit_shown = replace(st.session_state.orbit_shown, **looked)
        st.query_params.from_dict(to_query(st.session_state.orbit_shown))


def _example(state: OrbitState, shown: OrbitState) -> None:
    keys = [p.key for p in ORBIT_PRESETS]
    titles = {p.key: p.title for p in ORBIT_PRESETS}
    pick, words = st.columns([1, 2.6], gap="medium", vertical_alignment="top")
    with pick:
        chosen = st.selectbox(
            "Example", keys, keys.index(state.example), format_func=titles.get, key=f"orbit-example-{state.example}"
        )
        if chosen != state.example:
            own = {name: getattr(shown, name) for name in ("own", "own_size", "wanted", "seed", "objects")}
            _begin(OrbitState(example=chosen, pair=first_pair(chosen), **own))
            st.rerun()
    with words:
        st.html(f'<p class="ddcl-watch">{OWN if state.own else subscripts(state.preset.watch)}</p>')
    pairs = state.preset.pairs
    if len(pairs) > 1 and not state.own:
        names = [pair.title for pair in pairs]
        which = st.segmented_control(
            "Compare", range(len(pairs)), default=state.pair, format_func=names.__getitem__, required=True,
            label_visibility="collapsed", key=f"orbit-pair-{state.example}-{state.pair}",
        )  # fmt: skip
        if which is not None and which != state.pair:
            _begin(replace(shown, pair=which, imbalance=None, epsilon=(None, None), temperature=(None, None)))
            st.rerun()


def _scene(state: OrbitState):
    panels = panels_of(state)
    token = register_scene(
        [p.config for p in panels],
        [p.label for p in panels],
        map_kind=state.map or state.preset.map,
        speed=state.preset.steps_per_second,
        reuse=st.session_state.get("orbit_token"),
    )
    st.session_state.orbit_token = token
    return panels, token


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
