"""Hierarchy: stacked DDCL layers compress documents level by level; and one level cooled, branch by branch."""

from __future__ import annotations

import json
from dataclasses import replace

import streamlit as st

from dashboard.documents.html import DOCUMENT_CSS
from dashboard.hierarchy.measured import WORDS
from dashboard.hierarchy.sections import compression, document, splits
from dashboard.hierarchy.state import MAPS, MODES, SHAPES, TEXTS, HierarchyState, from_query, panels_of, presets_of, to_query
from dashboard.hierarchy.uploads import own_texts
from dashboard.links import settle_view
from dashboard.live_view import live_view
from dashboard.page import Page, panels_or_example, refused, report_on, sliders
from dashboard.tables import TABLE_CSS
from dashboard.theme import heading, page_css

BACKGROUND = """
**Levels.** The first level's prototypes settle among the tokens, as in the Stability Lab. The prototypes of the next level settle among
*those*, each weighted with its usage, and so on. Level $l$ has its own temperature $T_l$ and its own ratio $\\varepsilon_l$: how fast what
it reads follows its loss, compared with its own prototypes; $\\varepsilon_1$ is the encoder's. On every level $L_q = L_{OLS} + V$ exactly, and
$V \\ge 0$. On the maps the first level has numbers and the second letters.

**The tree.** A node is as tall as the share of all words that it holds, a band as wide as the share that goes from a prototype to one of
the next level. Names are the most characteristic words of the tokens shown (class-based TF-IDF), and change as the run does.

**Cooling** (Rose, Gurewitz and Fox, Phys. Rev. Lett. 65, 1990). Descending $F$ above $T_c = 2\\lambda_{max}(C)$, with $C$ the covariance of the
tokens, all prototypes are one. Below, they part; and each branch again where $T$ meets $2\\lambda_{max}$ of the covariance of *its* tokens, each
weighted with its posterior. Prototypes that are closer than 5 % of the tokens' distance count as one branch.
"""


PAGE = Page("hierarchy", from_query, to_query)


def show() -> None:
    """The whole page."""
    st.html(page_css() + f"<style>{TABLE_CSS}{DOCUMENT_CSS}</style>")
    st.html(heading("Hierarchy", "Prototypes of prototypes: what is left of a document, level by level?"))
    state = PAGE.state()
    _example(state)
    panels = panels_or_example(panels_of, state, HierarchyState(mode=state.mode, example=state.example))
    token = PAGE.scene(state, panels)
    if state.mode == "levels":
        _row(state, PAGE.shown)
    view = live_view(
        token,
        sliders(panels),
        key=f"hierarchy-{state.mode}",
        view={
            "map": state.map or state.preset.map, "color": state.colour or state.preset.colour,
            "speed": state.preset.steps_per_second, "forces": False,
        },
        extension="hierarchy" if state.mode == "levels" else "cooling",
    )  # fmt: skip
    PAGE.show(settle_view(state, panels, report_on(view, token), MAPS))
    if state.mode == "cooling":
        st.html('<h2 class="orb-heading">Measured beside predicted</h2>')
        splits(token)
    else:
        st.html('<h2 class="orb-heading">One document through the levels</h2>')
        document(token, panels)
        with st.expander("How much is left at each level? The compression curve"):
            compression(token, panels)
        with st.expander("V ≥ 0 on every level, and clustering: what was measured"):
            st.markdown(WORDS)
    with st.expander("What am I looking at? Levels, the tree, cooling"):
        st.markdown(BACKGROUND)
    with st.expander("Repeat it elsewhere: seed and configuration"):
        reads = "`HierarchyConfig.from_dict` reads these, `HierarchyRun`" if state.mode == "levels" else "`RunConfig.from_dict` reads this, `TrainingRun`"
        st.caption(f"Seed {panels[0].config.seed}. {reads} runs it.")
        st.code(json.dumps({p.label: p.config.to_dict() for p in panels}, indent=2, ensure_ascii=False), language="json")


def _example(state: HierarchyState) -> None:
    mode = st.segmented_control(
        "What to watch", list(MODES), default=state.mode, format_func=MODES.get, required=True, label_visibility="collapsed",
        key=f"hierarchy-mode-{state.mode}",
    )  # fmt: skip
    if mode is not None and mode != state.mode:
        PAGE.begin(HierarchyState(mode=mode, example=presets_of(mode)[0].key, seed=PAGE.shown.seed))
        st.rerun()
    chosen = PAGE.example(presets_of(state.mode), state.example, state.preset.watch, state.mode)
    if chosen is not None:
        PAGE.begin(HierarchyState(mode=state.mode, example=chosen, seed=PAGE.shown.seed))
        st.rerun()


def _row(state: HierarchyState, shown: HierarchyState) -> None:
    new = shown
    a, b, c, _ = st.columns([1, 1, 1.1, 1.6], gap="medium", vertical_alignment="bottom")
    key = f"{state.example}-{state.shape}-{state.texts}-{bool(state.own)}"
    with a:
        shape = st.selectbox("Prototypes of each level", list(SHAPES), list(SHAPES).index(state.shape), format_func=SHAPES.get, key=f"hs-{key}")
        new = new if shape == state.shape else replace(new, shape=shape)
    with b:
        texts = st.selectbox(
            "Texts", list(TEXTS), list(TEXTS).index(state.texts), key=f"ht-{key}",
            format_func=lambda kind: "your own" if state.own and not kind else TEXTS[kind],
        )  # fmt: skip
        new = new if texts == state.texts else replace(new, texts=texts, own="", own_size=0, wanted=False)
    with c:
        own_texts(state, shown, PAGE.begin)
    if new != shown and not refused(panels_of, new):
        PAGE.begin(new)
        st.rerun()


show()
