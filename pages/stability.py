"""The Stability Lab: two DDCL models train side by side, and the prototypes move."""

from __future__ import annotations

import json
from dataclasses import replace

import streamlit as st

from dashboard.lab import LabState, changed_settings, from_query, panels_of, settle, to_query
from dashboard.lab_form import experiment_form
from dashboard.live_view import live_view
from dashboard.page import Page, report_on, sliders
from dashboard.presets import PRESETS
from dashboard.theme import heading, page_css, plain
from ddcl_core.errors import InputError

BACKGROUND = r"""
Each token $z_n$ is shared out among $K$ prototypes $p_k$ by Boltzmann weights at temperature $T$,
$q_{nk} = \mathrm{softmax}_k(-|z_n - p_k|^2 / T)$, and read out as its soft centroid $\mu_n = \sum_k q_{nk}\, p_k$.
The quantization loss splits exactly:
$$L_q = \underbrace{\tfrac1N \sum_n |z_n - \mu_n|^2}_{L_\mathrm{OLS}}
      + \underbrace{\tfrac1N \sum_n \sum_k q_{nk}\, |p_k - \mu_n|^2}_{V \ge 0}.$$

**Which force separates?** $V$ is often said to push prototypes apart. Descending it does the opposite: it contracts
them, at every $T$; $L_\mathrm{OLS}$, through the way $q$ reacts, spreads them. The arrows are $-\partial L_\mathrm{OLS}/\partial p_k$ and
$-\partial V/\partial p_k$, by automatic differentiation; the example *Which force separates?* descends each alone.

**When must they merge?** Near the mean of the tokens, with $C$ their covariance: descending $L_q$, prototypes separate
only below $T_c = 4\,\lambda_{\max}(C)$; descending $F = L_q - T H$, only below $T_c = 2\,\lambda_{\max}(C)$ (Rose, Gurewitz
and Fox 1990). An encoder in training shrinks $C$, so $T_c(t)$ moves: collapse is a race, lost when $T_c(t)$ falls below $T$
before the prototypes have spread.

**What is ε?** The ratio of the two learning rates, $\varepsilon = \eta_\mathrm{encoder} / \eta_\mathrm{prototypes}$. The paper says that
$\varepsilon \le 0.1$ keeps prototypes apart. Measured here: on synthetic topics it does, as long as we looked; on real text without a task it
only delays the collapse (*Real text, no anchor*); what settles it is a task that needs the differences between tokens.

**The free energy.** While $T$ falls, $F$ itself rises; $\tilde F = F + T \log K$ does not, and gradient flow on $F$ lowers it. Descending
$L_q$ is not descending $F$, so increases of $\tilde F$ can happen; they are counted.

**Verdicts.** *Collapsed*: fewer than 1.5 effective prototypes ($e^{\text{entropy of usage}}$), or a weighted separation below a
tenth of $\sqrt{2\,\mathrm{tr}\,C_0}$. *Diverged*: a value is not finite. *Stable* always means *so far*.

**The map.** One map is fitted on tokens of the start and of short trial runs, then frozen; later tokens are placed on it by their neighbours, so
collapsed tokens look collapsed. A UMAP distorts distances; the PCA view is linear and says how much of the variance it shows.

Sources: Cirrincione and Kumar, *Collapse-Free Prototype Readout Layer for Transformer Encoders*, arXiv 2604.03850;
Cirrincione, *DDCL*, arXiv 2604.01740; Rose, Gurewitz and Fox, Phys. Rev. Lett. 65 (1990).
"""


PAGE = Page("lab", from_query, to_query)


def show() -> None:
    """The whole page."""
    st.html(page_css())
    st.html(heading("Stability Lab", "Two models learn from the same tokens. Do their prototypes stay apart?"))
    state = PAGE.state()
    _example(state)
    panels = panels_of(state)
    token = PAGE.scene(state, panels)
    first = panels[0].config
    view = live_view(
        token,
        sliders(panels),
        key="stability",
        view={"map": state.map or state.preset.map, "color": state.colour or state.preset.colour, "speed": state.preset.steps_per_second},
    )
    shown = settle(state, panels, report_on(view, token))
    PAGE.show(shown)
    with st.expander("Change the experiment: data, encoder, prototypes, objective, task, cooling"):
        _change(shown, panels)
    with st.expander("What am I looking at? The mathematics in one page"):
        st.markdown(BACKGROUND)
    with st.expander("Repeat it elsewhere: seed, configuration, command"):
        st.caption(f"Seed {first.seed}. The address of this page holds every setting except your own documents.")
        st.code(_command(panels), language="python")
        st.code(json.dumps({p.label: p.config.to_dict() for p in panels}, indent=2, ensure_ascii=False), language="json")


def _example(state: LabState) -> None:
    chosen = PAGE.example(PRESETS, state.example, state.preset.watch)
    if chosen is not None:
        PAGE.begin(LabState(example=chosen, seed=PAGE.shown.seed))
        st.rerun()
    which = PAGE.pair(state.preset, state.pair)
    if which is not None:
        PAGE.begin(replace(PAGE.shown, pair=which, epsilon=(None, None), temperature=(None, None)))
        st.rerun()


def _change(state: LabState, panels) -> None:
    try:
        values = experiment_form(panels, PAGE.version)
        if values is None:
            return
        new = replace(state, changes=changed_settings(panels, values, state))
        panels_of(new)
    except InputError as error:
        st.error(plain(f"{error} The run above goes on unchanged."))
        return
    PAGE.begin(new)
    st.rerun()


def _command(panels) -> str:
    return (
        "from ddcl_core import RunConfig, TrainingRun\n\n"
        "config = RunConfig.from_dict(...)  # one of the configurations below\n"
        "run = TrainingRun(config)\n"
        f"frames = run.advance(float('inf'), {{'until_step': {panels[0].config.max_steps}}})\n"
        "print(run.status, run.status_tracker.step, run.history['weighted_separation'][-1])"
    )


show()
