"""What stands below the Codebook page's live view."""

from __future__ import annotations

import html
import math

import streamlit as st

from dashboard.codebook.own import own_images
from dashboard.codebook.work import RATE_SIZES, rate_points
from dashboard.engine.client import get_engine
from dashboard.engine.jobs import job_key, jobs
from dashboard.job_view import job_progress
from dashboard.live.hub import get_hub
from dashboard.presets import Panel
from dashboard.tables import TABLE_CSS
from dashboard.theme import palette, plain, theme_name
from ddcl_core.codebook.health import VERDICTS
from ddcl_core.errors import InputError

_NUMBERS = (
    ("T", "temperature", "{:.3g}"), ("error as used", "error_relative", "{:.3f}"),
    ("made hard", "error_hardened_relative", "{:.3f}"), ("usage", "used", "{:.0%}"),
    ("perplexity", "perplexity_last", "{:.1f}"), ("bits per pixel", "bits_per_pixel", "{:.3f}"),
    ("with entropy coder", "bits_per_pixel_entropy", "{:.3f}"),
)  # fmt: skip


@st.fragment(run_every=3.0)
def hardening(token: str) -> None:
    """The price of argmax at the present step of both runs, and what it is made of."""
    session = get_hub(get_engine()).showing(token)
    panels = session.panels if session is not None else []
    body = ""
    for panel in panels:
        history = panel.track.history()
        if not len(history["step"]):
            continue
        soft = panel.config.codebook == "soft"
        cells = [f"<td>{int(history['step'][-1])}</td>"]
        for _, name, form in _NUMBERS:
            value = float(history[name][-1])
            text = form.format(value).replace("%", " %") if math.isfinite(value) else "–"
            cells.append(f"<td>{text}</td>")
        gap = float(history["error_hardened"][-1]) / max(float(history["error"][-1]), 1e-12) - 1.0
        cells.append(f"<td>{f'{100 * gap:+.1f} %' if soft and math.isfinite(gap) else 'none'}</td>")
        body += f'<tr><th scope="row">{html.escape(panel.label)}</th>{"".join(cells)}</tr>'
    if not body:
        st.caption("The figures appear with the first picture.")
        return
    names = ("step", *(name for name, _, _ in _NUMBERS), "price of argmax")
    heads = "".join(f'<th scope="col">{name}</th>' for name in names)
    st.html(
        f"<style>{TABLE_CSS}</style><div class='orb-scroll'><table class='orb'>"
        f"<thead><tr><th scope='col'>side</th>{heads}</tr></thead><tbody>{body}</tbody></table></div>"
        "<p class='ddcl-note'>Errors are shares of the mean image's error. A soft codebook passes on a mixture of "
        "codes. "
        "To send a picture one must name one code a cell: <i>made hard</i> is the error after that. Cooling makes "
        "mixtures purer and closes the gap: move T of the soft side and watch the thin line of the error chart. "
        "The example <i>A mixture is not yet a code</i> shows the gap, and a schedule that closes it.</p>"
    )


@st.fragment
def rate(panels: tuple[Panel, Panel]) -> None:
    """Rate-distortion points of both sides, trained on demand."""
    config = panels[0].config
    sides = [(panel.label, panel.config.to_dict()) for panel in panels]
    key = job_key("rate", sides, RATE_SIZES)
    listed = ", ".join(map(str, RATE_SIZES))
    st.caption(
        f"Trains both sides anew for K = {listed} with seed {config.seed} and {config.max_steps} steps each, on a "
        "worker beside the picture above; two minutes or so. Distortion is measured after argmax, which is what the "
        "bits pay for."
    )
    state = jobs().state(key)
    if state.state in ("idle", "error"):
        if state.state == "error":
            st.error(plain(state.text))
        if st.button("Train for all K", key="codebook-rate"):
            try:
                jobs().begin(key, rate_points, sides, own_images().held(config))
            except InputError as error:
                st.error(plain(str(error)))
            else:
                st.rerun(scope="fragment")
        return
    if state.state != "done":
        job_progress(key)
        return
    _rate_figure(state.result)


def _rate_figure(rows: list[dict]) -> None:
    import plotly.graph_objects as go

    theme = theme_name(getattr(st.context.theme, "type", None))
    figure = go.Figure()
    labels = list(dict.fromkeys(row["label"] for row in rows))
    for i, label in enumerate(labels):
        some = [row for row in rows if row["label"] == label]
        figure.add_scatter(
            x=[row["bits_per_pixel_entropy"] for row in some], y=[row["error_hardened"] for row in some],
            text=[f"K = {row['num_codes']}" for row in some], mode="lines+markers+text", textposition="top center",
            name=label, line={"color": palette(theme)[3 * i], "dash": ("solid", "dash")[i % 2]},
            marker={"symbol": ("circle", "diamond")[i % 2], "size": 9},
        )  # fmt: skip
    figure.update_layout(
        height=380, margin={"l": 60, "r": 20, "t": 20, "b": 50}, xaxis_title="bits per pixel (entropy of the usage)",
        yaxis_title="mean squared error after argmax", legend={"orientation": "h", "y": 1.12},
        yaxis_range=[0.0, 1.18 * max(row["error_hardened"] for row in rows)],
    )  # fmt: skip
    st.plotly_chart(
        figure, key="codebook-rate-figure", width="stretch", config={"displayModeBar": False},
        alt="Error after argmax against bits per pixel, one line a side, one point for each number of codes",
    )  # fmt: skip
    st.dataframe(
        {
            "side": [row["label"] for row in rows], "K": [row["num_codes"] for row in rows],
            "bits per pixel": [round(row["bits_per_pixel"], 3) for row in rows],
            "with entropy coder": [round(row["bits_per_pixel_entropy"], 3) for row in rows],
            "error": [round(row["error"], 5) for row in rows],
            "error made hard": [round(row["error_hardened"], 5) for row in rows],
            "verdict": [VERDICTS[row["health"]] for row in rows],
        },
        hide_index=True, key="codebook-rate-table",
    )  # fmt: skip
