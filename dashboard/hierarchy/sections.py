"""What stands below the Hierarchy page's live view: one document through the levels, compression, and measured splits."""

from __future__ import annotations

import asyncio
import html
import math
from typing import Any

import numpy as np
import streamlit as st

from dashboard.documents import html as pieces
from dashboard.documents.look import DocumentLook, Material
from dashboard.engine.client import get_engine
from dashboard.engine.handles import EngineError
from dashboard.hierarchy.cooling import splits_of
from dashboard.live.hub import get_hub
from dashboard.presets import Panel
from dashboard.theme import palette, plain, theme_name
from ddcl_core.errors import InputError

WORKER = "dashboard.hierarchy.worker"
PATIENCE = 120.0
_COLUMNS = ("split", "prototypes", "into", "due at T (2 λmax of the branch)", "seen at T", "seen over due")


def ask(token: str, side: int, function: str, **arguments: Any) -> Any:
    """Ask the run of one side; from a page's thread. Raises InputError with a sentence."""
    session = get_hub(get_engine()).showing(token)
    handle = session.panels[side].handle if session is not None and len(session.panels) > side else None
    if handle is None:
        raise InputError("The run is not there yet; wait for the first picture.")
    try:
        return asyncio.run(handle.call("ask", f"{WORKER}:{function}", timeout=PATIENCE, **arguments))
    except (EngineError, asyncio.TimeoutError) as error:
        raise InputError("The worker did not answer just now; try again in a moment.") from error


@st.fragment
def document(token: str, panels: tuple[Panel, ...]) -> None:
    """One document as a path through the levels, and one word from the text up to the coarsest prototype."""
    pick, press = st.columns([3, 1.2], vertical_alignment="bottom")
    with pick:
        side = st.segmented_control(
            "Which side", range(len(panels)), default=0, format_func=lambda i: panels[i].label, required=True,
            key=f"hierarchy-side-{token}",
        )  # fmt: skip
    with press:
        asked = st.button("Read the documents now", key="hierarchy-read", width="stretch")
    side = int(side or 0)
    kept = st.session_state.setdefault("hierarchy_looks", {})
    if kept.get("token") != token:
        kept.clear()
        kept["token"] = token
    if asked:
        try:
            with st.spinner("Reading …"):
                kept[side] = ask(token, side, "reading")
        except InputError as error:
            st.error(plain(str(error)))
    look = kept.get(side)
    if look is None:
        st.caption("Let the run settle, then read: every word, and the document as a whole, at each level.")
        return
    _path(look, token, side)


def _path(look: dict[str, Any], token: str, side: int) -> None:
    shade = theme_name(getattr(st.context.theme, "type", None))
    count, levels = len(look["texts"]), len(look["chains"])
    a, b = st.columns([1, 1.6], gap="medium", vertical_alignment="bottom")
    with a:
        d = int(st.number_input(f"Document (1 to {count:,})", 1, count, 1, key=f"hierarchy-document-{token}-{side}")) - 1
    with b:
        level = st.segmented_control(
            "Tint words by", range(levels), default=0, required=True, key=f"hierarchy-level-{token}-{side}",
            format_func=lambda i: f"level {i + 1} ({look['chains'][i].shape[1]})",
        )  # fmt: skip
    views = [_view(look, i) for i in range(levels)]
    for i, view in enumerate(views):
        shown = [int(k) for k in np.argsort(-view.mixture[d]) if view.mixture[d][k] >= 0.03]
        st.html(
            f'<p class="ddcl-note"><b>Level {i + 1}</b>: the document as {view.K} numbers</p>'
            f"{pieces.mixture_bar(view.mixture[d], shade, f'Mixture of document {d + 1} at level {i + 1}')}"
            f"{pieces.legend(view, shown[:8], shade, {}, view.mixture[d])}"
        )
    st.html(pieces.tinted(views[int(level or 0)], d, shade))
    words = views[0].words_of(d)
    text = look["texts"][d]
    if not words:
        return
    chosen = st.selectbox(
        "Follow one word up", range(len(words)), key=f"hierarchy-word-{token}-{side}-{d}",
        format_func=lambda i: f"{text[words[i][0] : words[i][1]]}  ({i + 1})",
    )  # fmt: skip
    steps = [f"<b>{html.escape(text[words[chosen][0] : words[chosen][1]])}</b>"]
    for i, view in enumerate(views):
        share = view.words_of(d)[chosen][2]
        k = int(share.argmax())
        steps.append(f"level {i + 1}: <b>{k + 1}</b> {html.escape(view.name(k))} ({share[k]:.0%})")
    st.html(f'<p class="ddcl-note" role="status">{" → ".join(steps)}</p>')


def _view(look: dict[str, Any], level: int) -> DocumentLook:
    material = Material(look["texts"], look["words"], look["labels"], look["class_names"], look["owners"], [], "")
    K = look["chains"][level].shape[1]
    return DocumentLook(
        material, look["step"], look["temperature"], 0.0, "", look["chains"][level], look["prototypes"][level], None, None, None,
        np.zeros(0, int), np.zeros((0, 1)), look["names"][level], np.full(K, math.nan),
    )  # fmt: skip


@st.fragment
def compression(token: str, panels: tuple[Panel, ...]) -> None:
    """How much of the tokens and of a linear probe is left at each level, beside summaries of the same size."""
    st.caption(
        "Each document is summed up in as many numbers as a level has prototypes. Kept: share of the token variance that is left when "
        "every token is replaced by what the summary knows of it. Accuracy: of a linear probe on 30 % held-out documents."
    )
    side = st.segmented_control(
        "Side", range(len(panels)), default=0, format_func=lambda i: panels[i].label, required=True, key=f"compression-side-{token}"
    )
    side = int(side or 0)
    kept = st.session_state.setdefault("hierarchy_compression", {})
    if st.button("Measure at the present step", key="compression-ask"):
        try:
            with st.spinner("Measuring …"):
                kept[token, side] = ask(token, side, "compression")
        except InputError as error:
            st.error(plain(str(error)))
    rows = kept.get((token, side))
    if rows is None:
        return
    import plotly.graph_objects as go

    theme = theme_name(getattr(st.context.theme, "type", None))
    figure = go.Figure()
    methods = {"DDCL": "DDCL levels", "k-means": "k-means", "PCA": "PCA of the mean", "mean": "mean of the tokens"}
    for i, (start, name) in enumerate(methods.items()):
        some = sorted((row for row in rows if row["method"].startswith(start)), key=lambda row: row["numbers"])
        has_probe = any(math.isfinite(row["accuracy"]) for row in some)
        figure.add_scatter(
            x=[row["numbers"] for row in some], y=[row["accuracy"] if has_probe else row["kept"] for row in some], name=name,
            mode="lines+markers", line={"color": palette(theme)[i], "dash": ("solid", "dash", "dot", "dashdot")[i]},
            marker={"symbol": ("circle", "square", "triangle-up", "diamond")[i], "size": 9},
        )  # fmt: skip
    figure.update_layout(
        height=340, margin={"l": 60, "r": 20, "t": 10, "b": 50}, xaxis_title="numbers per document", xaxis_type="log",
        yaxis_title="accuracy of the probe", yaxis_rangemode="tozero", legend={"orientation": "h", "y": 1.12},
    )  # fmt: skip
    st.plotly_chart(
        figure, key=f"compression-figure-{side}", width="stretch", config={"displayModeBar": False},
        alt="Accuracy of a linear probe against the numbers a document is summed up in, one line a method",
    )  # fmt: skip
    st.dataframe(
        {
            "summary": [row["method"] for row in rows], "numbers per document": [row["numbers"] for row in rows],
            "token variance kept": [round(row["kept"], 3) for row in rows],
            "probe accuracy": [None if math.isnan(row["accuracy"]) else round(row["accuracy"], 3) for row in rows],
        },
        hide_index=True, key=f"compression-table-{side}",
    )  # fmt: skip


@st.fragment(run_every=3.0)
def splits(token: str) -> None:
    """Every split so far: where its branch was due, and where it was seen."""
    session = get_hub(get_engine()).showing(token)
    frames = session.panels[0].track.frames if session is not None and session.panels else []
    found = splits_of(frames)
    if not found:
        st.caption("No branch has parted yet. Each split is listed here with the temperature at which theory puts it.")
        return
    rows = []
    for i, split in enumerate(found, 1):
        members = ", ".join(str(k + 1) for k in split.members)
        cells = (i, members, split.parts, f"{split.predicted:.2f}", f"{split.temperature:.2f}", f"{split.temperature / split.predicted:.2f}")
        rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    head = "".join(f'<th scope="col">{name}</th>' for name in _COLUMNS)
    st.html(f'<div class="orb-scroll"><table class="orb"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>')
    st.caption(
        "A branch parts a little below its due temperature: cooling goes on while the prototypes, which have come together almost to the "
        "last digit, drift apart. Slower cooling brings the two closer. The covariance of a branch is that of its tokens, each "
        "weighted with its posterior, just before."
    )
