"""Still maps of the documents and tokens of a look, linked with the lists: a lasso or a click chooses."""

from __future__ import annotations

import html
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from dashboard.documents.choice import beginnings, go_to
from dashboard.documents.html import colour
from dashboard.documents.look import DocumentLook
from dashboard.theme import plotly_symbol

MOST_POINTS = 4000
FEW_GROUPS = 14
_LAYOUT = {"margin": {"l": 10, "r": 10, "t": 34, "b": 10}, "showlegend": True}


def plane(points: np.ndarray) -> np.ndarray:
    """The two principal directions of points (N, d): (N, 2), with fixed signs; zeros where there are fewer."""
    centred = np.asarray(points, dtype=np.float64) - np.mean(points, axis=0)
    _, _, directions = np.linalg.svd(centred, full_matrices=False)
    directions = directions[:2]
    largest = np.abs(directions).argmax(axis=1)
    directions = directions * np.sign(directions[np.arange(len(directions)), largest])[:, None]
    flat = centred @ directions.T
    return np.pad(flat, ((0, 0), (0, 2 - flat.shape[1])))


def document_map(look: DocumentLook, theme: str, names: dict[int, str]) -> np.ndarray | None:
    """Documents by the square roots of their mixtures; returns the chosen documents, or None without a choice."""
    material = look.material
    shown = np.linspace(0, material.count - 1, min(MOST_POINTS, material.count)).astype(int)
    xy = plane(np.sqrt(look.mixture))[shown]
    classes = material.labels[shown]
    groups = [(name, np.flatnonzero(classes == c), c) for c, name in enumerate(material.class_names)]
    part = "" if len(shown) == material.count else f", {len(shown):,} of {material.count:,} shown"
    title = f"Documents by mixture{part}"
    said = beginnings(look, shown, 90)
    return _scatter("document-map", title, xy, groups, shown, theme, said, look.step, lambda place: go_to(document=place))


def token_map(look: DocumentLook, theme: str, names: dict[int, str]) -> np.ndarray | None:
    """An even sample of the encoded tokens by leading prototype; returns the chosen tokens' places, or None."""
    lead = look.lead[look.places]
    order = [int(k) for k in np.argsort(-look.usage) if (lead == k).any()]
    groups = [(f"{k + 1}: {look.name(k, names)}", np.flatnonzero(lead == k), k) for k in order]
    material = look.material
    owners = material.owners[look.places]
    said = [
        f"{material.words[d][p - material.first[d]]} (document {d + 1})" for p, d in zip(look.places.tolist(), owners.tolist())
    ]
    title = f"Tokens by prototype, {len(look.places):,} of {len(material.owners):,} shown"
    one = lambda place: go_to(int(material.owners[place]), int(look.lead[place]))  # noqa: E731
    return _scatter("token-map", title, plane(look.tokens), groups, look.places, theme, said, look.step, one)


def _scatter(
    key: str, title: str, xy: np.ndarray, groups: list, ids: np.ndarray, theme: str, said: list[str], step: int,
    one: Callable[[int], None],
) -> np.ndarray | None:  # fmt: skip
    """Draws the points; returns the chosen ids. A single chosen point calls `one` with its id, once."""
    import plotly.graph_objects as go

    figure = go.Figure()
    for name, members, c in groups:
        if not len(members):
            continue
        figure.add_scatter(
            x=xy[members, 0], y=xy[members, 1], mode="markers", name=html.escape(str(name)[:40]), customdata=ids[members],
            text=[html.escape(said[i]) for i in members], hovertemplate="%{text}<extra>%{fullData.name}</extra>",
            marker={"color": colour(c, theme), "symbol": plotly_symbol(c), "size": 6, "opacity": 0.8},
        )  # fmt: skip
    # Below the points a short legend leaves them the whole width, also on a narrow page; a long one would take the height.
    few = len(figure.data) <= FEW_GROUPS
    below = {"orientation": "h", "yanchor": "top", "y": -0.02, "xanchor": "left", "x": 0.0} if few else {}
    # With the lasso at hand from the start, Streamlit takes no clicks on points; so it waits among the chart's tools.
    figure.update_layout(
        **_LAYOUT, height=460 if few else 400, dragmode="pan",
        legend={"itemsizing": "constant", "font": {"size": 11}, **below},
    )  # fmt: skip
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False, scaleanchor="x")
    st.markdown(f"**{title}**")  # outside the chart, whose tools would lie over it on a narrow page
    chosen = st.plotly_chart(
        figure, key=f"{key}-{step}", width="stretch", on_select=partial(_chosen, f"{key}-{step}", one),
        selection_mode=("points", "box", "lasso"),
        config={"displayModeBar": True, "displaylogo": False, "modeBarButtonsToRemove": ["toImage", "autoScale2d"]},
        alt=f"{title}: a scatter plot in the two principal directions",
    )  # fmt: skip
    return _ids(chosen)


def _ids(chosen: Any) -> np.ndarray | None:
    points = chosen.selection.points
    if not points:
        return None
    values = [p["customdata"][0] if isinstance(p["customdata"], (list, tuple)) else p["customdata"] for p in points]
    return np.array(sorted({int(v) for v in values}))


def _chosen(key: str, one: Callable[[int], None]) -> None:
    ids = _ids(st.session_state[key])
    if ids is not None and len(ids) == 1:
        one(int(ids[0]))


def heat_map(look: DocumentLook, theme: str, names: dict[int, str]) -> None:
    """Prototype by class: in which classes the weight of each prototype lies."""
    from dashboard.tables import count_table

    order = [int(k) for k in np.argsort(-look.usage)]
    classes = len(look.material.class_names)
    weights = np.zeros((look.K, classes))
    counts = np.bincount(look.material.owners, minlength=look.material.count)
    np.add.at(weights.T, look.material.labels, look.mixture * counts[:, None])
    st.html(
        count_table(
            np.rint(weights[order]).astype(int), [f"{k + 1}: {look.name(k, names)}" for k in order],
            list(look.material.class_names),
            "Prototype by class: how many tokens' weight each prototype holds in documents of each class. A row with one dark cell "
            "belongs to that class; an even row holds what all classes share.",
            "prototype \\ class",
        )
    )  # fmt: skip
