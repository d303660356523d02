"""Codebook: soft DDCL quantization beside hard vector quantization. Which one is alive, and do its codes differ?"""

from __future__ import annotations

import json
from dataclasses import replace

import streamlit as st

from dashboard.codebook.controls import images_row
from dashboard.codebook.measured import WORDS
from dashboard.codebook.presets import CODEBOOK_PRESETS
from dashboard.codebook.sections import hardening, rate
from dashboard.codebook.state import MAPS, CodebookState, from_query, panels_of, to_query
from dashboard.links import settle_view
from dashboard.live_view import live_view
from dashboard.page import Page, panels_or_example, report_on
from dashboard.presets import Panel
from dashboard.theme import heading, page_css

BACKGROUND = """
**One picture, two codebooks.** A small convolutional autoencoder halves an image twice, so that each cell of 4 × 4
pixels becomes one vector $z$ of $d$ numbers; the codebook replaces it by one of its $K$ codes, and the decoder paints
the image from codes alone. *Hard* (VQ-VAE, van den Oord et al., arXiv 1711.00937): the nearest code, with a gradient
that is copied past the choice (straight-through) and a commitment loss. *Soft* (DDCL, arXiv 2604.03850): the centroid
$\\sum_k q_k p_k$ with $q_k \\propto e^{-|z - p_k|^2 / T}$; its gradient is exact, nothing is copied.

**Is a codebook alive?** Usage alone deceives: far above its critical temperature every code is used, and every code is
the same. So the verdict under each map takes three numbers together, the same rule for soft and hard. *Usage*: share of
the codes chosen at least once, by argmax, over an epoch; at least 90 %. *Separation*: weighted by use, in units of the
distance of two encoder outputs; at least 0.1. *Error*: mean squared error over that of the mean image, on images kept
apart; at most 0.5, and as much after every cell was given its one best code. A verdict takes two whole epochs, since
the first one counts codes where they were placed.

**What moves.** The dots are encoder outputs of images kept apart, the discs codes; the map is frozen, fitted on short
trial runs of both sides. A code that gets less than a tenth of an even share over an epoch is dead: ✕ if it was never
chosen, ╱ if hardly ever. *Made hard* is what the soft codebook costs when it is used as a code: argmax in place of the
centroid. Cooling closes that gap.

Bits per pixel: $\\log_2 K / 16$, or with an entropy coder the entropy of the usage over 16.
"""


PAGE = Page("codebook", from_query, to_query)


def show() -> None:
    """The whole page."""
    st.html(page_css())
    words = "Pictures from a small set of codes. Which codebook is alive, and do its codes differ?"
    st.html(heading("Codebook", words))
    state = PAGE.state()
    _example(state)
    panels = panels_or_example(panels_of, state, CodebookState(example=state.example))
    token = PAGE.scene(state, panels)
    images_row(state, PAGE.shown, panels, PAGE.begin)
    view = live_view(
        token,
        [_sliders(panel) for panel in panels],
        key="codebook",
        view={
            "map": state.map or state.preset.map, "color": state.colour or state.preset.colour,
            "speed": state.preset.steps_per_second, "trails": False,
        },
        extension="codebook",
    )  # fmt: skip
    shown = settle_view(state, panels, report_on(view, token), MAPS)
    PAGE.show(shown)
    with st.expander("What does it cost to make the soft codebook hard?"):
        hardening(token)
    with st.expander("Rate and distortion: how many codes are worth their bits?"):
        rate(panels_of(shown))
    with st.expander("Does the soft codebook keep its codes alive? What was measured"):
        st.markdown(WORDS)
    with st.expander("What am I looking at? The method and the verdict"):
        st.markdown(BACKGROUND)
    with st.expander("Repeat it elsewhere: seed and configuration"):
        own = " Hand your own pictures to the run as `read_images(files)`." if state.own else ""
        now = panels_of(shown)
        seed = now[0].config.seed
        st.caption(f"Seed {seed}. `CodebookConfig.from_dict` reads these, `CodebookRun` runs them.{own}")
        values = {panel.label: panel.config.to_dict() for panel in now}
        st.code(json.dumps(values, indent=2, ensure_ascii=False), language="json")


def _sliders(panel: Panel) -> dict[str, str | float | None]:
    """A panel for the live view; a hard codebook has no temperature to set."""
    config = panel.config
    temperature = config.temperature if config.codebook == "soft" else None
    return {"label": panel.label, "epsilon": config.epsilon, "temperature": temperature}


def _example(state: CodebookState) -> None:
    shown = PAGE.shown
    chosen = PAGE.example(CODEBOOK_PRESETS, state.example, state.preset.watch)
    if chosen is not None:
        kept = {name: getattr(shown, name) for name in ("seed", "images", "own", "wanted")}
        PAGE.begin(CodebookState(example=chosen, **kept))
        st.rerun()
    which = PAGE.pair(state.preset, state.pair)
    if which is not None:
        PAGE.begin(replace(shown, pair=which, epsilon=(None, None), temperature=(None, None)))
        st.rerun()


show()
