"""One prototype: what it stands for, where it is used, and whether it is alive."""

from __future__ import annotations

import html

import numpy as np
import streamlit as st

from dashboard.documents import html as pieces
from dashboard.documents import look as looks
from dashboard.documents.choice import document_list, go_to, names, theme


def one_prototype(look: looks.DocumentLook, k: int, token: str) -> None:
    """Prototype k: its name, words, contexts, classes, usage over training, neighbours, documents."""
    shade = theme()
    order = [int(i) for i in np.argsort(-look.usage)]
    pick, rename = st.columns([2, 2], gap="medium", vertical_alignment="bottom")
    with pick:
        # The list shows the words it was made with for what is chosen, so a new name makes it anew.
        chosen = st.selectbox(
            "Prototype", order, order.index(k), key=f"prototype-pick-{k}-{look.step}-{names().get(k, '')}",
            format_func=lambda i: f"{i + 1}: {look.name(i, names())} ({look.usage[i]:.0%})",
        )  # fmt: skip
        if chosen != k:
            go_to(prototype=chosen)
            st.rerun(scope="fragment")
    with rename:
        given = st.text_input(
            "Call it", names().get(k, ""), max_chars=60, placeholder=look.name(k), key=f"prototype-name-{k}-{look.step}",
            help="Your name for it; it stays on this page and goes into the exports.",
        )  # fmt: skip
        if given.strip() != names().get(k, ""):
            names()[k] = given.strip()
            st.rerun(scope="fragment")
    st.html(f'<p class="ddcl-note">{html.escape(_about(look, k))}</p>')
    left, right = st.columns([1, 1.3], gap="large")
    with left:
        st.markdown("**Its words** (class-based TF-IDF)")
        st.dataframe(
            {"word": [w for w, _ in look.names[k]], "score": [round(s, 4) for _, s in look.names[k]]}, hide_index=True,
            key=f"prototype-words-{k}-{look.step}",
        )  # fmt: skip
        st.markdown("**Classes its weight lies in**")
        st.dataframe(
            {"class": look.material.class_names, "share": look.profile[k].round(3)}, hide_index=True,
            key=f"prototype-classes-{k}-{look.step}",
            column_config={"share": st.column_config.ProgressColumn(format="percent", min_value=0.0, max_value=1.0)},
        )  # fmt: skip
        apart = np.linalg.norm(look.prototypes - look.prototypes[k], axis=1)
        near = [int(j) for j in np.argsort(apart) if j != k][:4]
        st.markdown("**Nearest prototypes**")
        st.dataframe(
            {"prototype": [f"{j + 1}: {look.name(j, names())}" for j in near], "distance": apart[near].round(2)},
            hide_index=True, key=f"prototype-near-{k}-{look.step}",
        )  # fmt: skip
    with right:
        st.markdown("**Its surest tokens, in context**")
        st.html(pieces.contexts_html(look, k, shade))
        st.markdown("**Documents that use it most**")
        some = np.argsort(-look.mixture[:, k], kind="stable")[:12]
        labels = [look.material.class_names[look.material.labels[i]] for i in some]
        columns = {"share": look.mixture[some, k].round(3), "label": labels}
        document_list(look, some, columns, f"prototype-documents-{k}-{look.step}")
        st.caption("Choose a row; it opens under *One document*.")
    _over_training(k, token, shade)


def _about(look: looks.DocumentLook, k: int) -> str:
    led = int((look.lead == k).sum())
    words = f"Prototype {k + 1} holds {look.usage[k]:.1%} of all tokens and leads {led:,} of them."
    if look.dead[k]:
        words += " It is dead: less than a tenth of an even share."
    for group in look.twins:
        if k in group:
            others = ", ".join(str(j + 1) for j in group if j != k)
            words += f" It is a twin of {others}: they stand on one spot, and which of them leads is chance."
    if np.isfinite(look.npmi[k]):
        words += f" Coherence of its words on these documents: NPMI {look.npmi[k]:+.2f}."
    return words


def _over_training(k: int, token: str, shade: str) -> None:
    steps, usage = looks.usage_over_training(token)
    if len(steps) < 2 or k >= usage.shape[1]:
        return
    import plotly.graph_objects as go

    even = 1.0 / usage.shape[1]
    figure = go.Figure()
    figure.add_scatter(
        x=steps, y=usage[:, k], mode="lines", line={"color": pieces.colour(k, shade), "width": 2.5}, name=f"prototype {k + 1}",
        hovertemplate="step %{x}: %{y:.1%}<extra></extra>",
    )  # fmt: skip
    figure.add_hline(y=even, line={"dash": "dot", "width": 1}, annotation_text="an even share", annotation_font_size=11)
    figure.update_layout(height=210, margin={"l": 50, "r": 10, "t": 8, "b": 36}, showlegend=False)
    figure.update_xaxes(title="step")
    figure.update_yaxes(tickformat=".0%", range=[0, 1.15 * max(even, float(usage[:, k].max()))])
    st.markdown("**Its share of the tokens over training**")
    st.plotly_chart(
        figure, key=f"prototype-usage-{k}", width="stretch", config={"displayModeBar": False},
        alt=f"Share of the tokens of prototype {k + 1} from step {steps[0]} to {steps[-1]}: {usage[0, k]:.1%} to {usage[-1, k]:.1%}",
    )  # fmt: skip
