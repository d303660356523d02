"""The table of readouts: begun on a worker when asked for, with progress, and shown when it is there."""

from __future__ import annotations

import html

import streamlit as st

from dashboard.documents.measured import WORDS
from dashboard.documents.worker import readout_tables
from dashboard.engine.jobs import job_key, jobs
from dashboard.engine.uploads import uploads
from dashboard.job_view import job_progress
from dashboard.tables import TABLE_CSS
from dashboard.theme import plain
from ddcl_core.config import RunConfig

SEEDS = 5
MOST_DOCUMENTS = 400
_CLASSIFICATION = (("accuracy", "accuracy", "{:.3f}"), ("macro_f1", "macro F1", "{:.3f}"), ("parameters", "parameters", "{:,.0f}"),
                   ("train_ms", "training, ms per 1000", "{:,.0f}"), ("infer_ms", "reading, ms per 1000", "{:,.0f}"))  # fmt: skip
_CLUSTERING = (("acc", "ACC", "{:.3f}"), ("nmi", "NMI", "{:.3f}"), ("ari", "ARI", "{:.3f}"))


def readouts(config: RunConfig) -> None:
    """Both tables for the documents of this page, on demand, and what was measured before."""
    _here(config)
    st.markdown(WORDS)


@st.fragment
def _here(config: RunConfig) -> None:
    data = config.to_dict()["data"] | {"num_documents": min(config.data.num_documents, MOST_DOCUMENTS)}
    units = config.num_prototypes
    key = job_key("readouts", data, config.seed, units, SEEDS)
    st.caption(
        f"Up to {MOST_DOCUMENTS} documents, {data['tokens_per_document']} tokens each, frozen encoder at full width, {units} prototypes, slots "
        f"or latents, {SEEDS} seeds, 30 % held out, the same budget for all (200 steps of 32 documents, Adam). Takes one to five minutes "
        "on a worker, beside the picture above."
    )
    state = jobs().state(key)
    if state.state == "done":
        _tables(state.result)
        return
    if state.state == "working":
        job_progress(key)
        return
    if state.state == "error":
        st.error(plain(state.text))
    if st.button("Compare the readouts", key=f"readouts-{key}"):
        jobs().begin(key, readout_tables, data, config.seed, units, SEEDS, uploads().held(config.data))
        st.rerun(scope="fragment")


def _tables(tables: dict) -> None:
    st.html(
        f"<style>{TABLE_CSS}</style>{_table(tables['classification'], _CLASSIFICATION, 'Classification, on the held-out documents')}"
        f"{_table(tables['clustering'], _CLUSTERING, 'Clustering without labels, into as many clusters as there are classes')}"
        f'<p class="ddcl-note">Mean and, small, half of the 95 % interval over {tables["classification"][0]["seeds"]} seeds.</p>'
    )


def _table(rows: list[dict], columns: tuple, caption: str) -> str:
    head = "".join(f'<th scope="col">{name}</th>' for _, name, _ in columns)
    body = []
    for row in rows:
        cells = []
        for key, _, form in columns:
            mean, low, high = row[key]
            half = f"<small>± {form.format((high - low) / 2)}</small>" if high > low and key != "parameters" else ""
            cells.append(f"<td>{form.format(mean)} {half}</td>")
        own = ' class="own"' if row["method"] == "DDCL" else ""
        body.append(f'<tr{own}><th scope="row">{html.escape(row["method"])}</th>{"".join(cells)}</tr>')
    return (
        f'<div class="orb-scroll"><table class="orb"><caption style="text-align:left;padding:0.4rem 0">{caption}</caption><thead><tr>'
        f'<th scope="col">readout</th>{head}</tr></thead><tbody>{"".join(body)}</tbody></table></div>'
    )
