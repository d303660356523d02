"""Documents: which prototypes explain each document, and what does each prototype stand for?"""

from __future__ import annotations

import json
from dataclasses import replace

import streamlit as st

from dashboard.documents.choice import names
from dashboard.documents.export import documents_frame, parquet, prototypes_frame, report, safe_csv
from dashboard.documents.html import DOCUMENT_CSS
from dashboard.documents.presets import DOCUMENT_PRESETS
from dashboard.documents.readouts import readouts
from dashboard.documents.sections import kept_look, results, watch
from dashboard.documents.state import COUNTS, MAPS, PROTOTYPES, READ, TASKS, DocumentState, from_query, panel_of, to_query
from dashboard.documents.uploads import own_documents
from dashboard.links import settle_view
from dashboard.live_view import live_view
from dashboard.page import Page, panels_or_example, refused, report_on, sliders
from dashboard.tables import TABLE_CSS
from dashboard.theme import heading, page_css

OWN = (
    "Your own documents. Let the run train to step 100 or so, then read one below: each word is tinted by the prototype it follows, "
    "and the document is the mixture of its words."
)
BACKGROUND = """
**From text to tokens.** A frozen language model (all-MiniLM-L6-v2) reads each document and gives a vector for every word piece, as
it is meant in its place; a long document is read in windows. The vectors are reduced to 32 dimensions (PCA, one scale for all),
and a small encoder that learns slowly (ε) moves them while prototypes settle among them.

**A document is a mixture.** Each token is shared among the prototypes, $q_{nk} \\propto e^{-|z_n - p_k|^2/T}$; the mixture of a document is
the mean $u_k$ over its tokens, and its readout is $\\sum_k u_k p_k$. The class comes from a linear head, so its logit is
$c + \\sum_k u_k (p_k \\cdot w)$: **exactly a sum over prototypes**, which is what *What carried the class* shows.

**Names** are the most characteristic words by class-based TF-IDF (Grootendorst, arXiv 2203.05794): frequent among the words a prototype
leads and rare among the others', stop words left out. **Coherence** is the normalised pointwise mutual information of a name's words
over these documents. **Faithfulness** leaves the words of the top prototype unread and compares with random words.

Accuracy in the charts is on the documents that are trained on; the table of readouts holds documents out.
"""


def _moved(state: DocumentState) -> None:
    """What was chosen in the lists gives way to what the address says."""
    for name in ("document_at", "prototype_at"):
        st.session_state.pop(name, None)


PAGE = Page("document", from_query, to_query, looked=("document", "prototype"), moved=_moved)


def show() -> None:
    """The whole page."""
    st.html(page_css() + f"<style>{TABLE_CSS}{DOCUMENT_CSS}</style>")
    st.html(heading("Documents", "Which prototypes explain each document, and what does each prototype stand for?"))
    state = PAGE.state()
    chosen = PAGE.example(DOCUMENT_PRESETS, state.example, OWN if state.own else state.preset.watch, "Your own documents" if state.own else "")
    if chosen is not None:
        _begin(DocumentState(example=chosen, seed=PAGE.shown.seed))
        st.rerun()
    panel = panels_or_example(panel_of, state, DocumentState(example=state.example))
    token = PAGE.scene(state, [panel])
    _row(state, PAGE.shown, panel)
    view = live_view(
        token,
        sliders([panel]),
        key="documents",
        view={
            "map": state.map or state.preset.map, "color": state.colour or state.preset.colour,
            "speed": state.preset.steps_per_second, "forces": False,
        },
        extension="documents",
    )  # fmt: skip
    shown = settle_view(state, [panel], report_on(view, token), MAPS)
    PAGE.show(shown)
    st.html('<h2 class="orb-heading">Read the documents</h2>')
    watch(token)
    results(token, shown, _chosen)
    with st.expander("Readouts compared: DDCL beside CLS, mean, max, attention, Slot Attention, Perceiver latents and k-means"):
        readouts(panel.config)
    with st.expander("Take the results with you: CSV, Parquet, one report in HTML"):
        _export(token, panel)
    with st.expander("What am I looking at? Mixtures, names and contributions"):
        st.markdown(BACKGROUND)
    with st.expander("Repeat it elsewhere: seed and configuration"):
        own = " They name your documents by a digest only; give them as `data.texts` and `data.text_labels` there." if state.own else ""
        st.caption(f"Seed {panel.config.seed}. `RunConfig.from_dict` reads this, `TrainingRun` runs it.{own}")
        st.code(json.dumps(panel.config.to_dict(), indent=2, ensure_ascii=False), language="json")


def _begin(state: DocumentState) -> None:
    PAGE.begin(state)
    _moved(state)


def _chosen(state: DocumentState) -> None:
    """What is looked at below has changed; the run has not."""
    PAGE.look_at(document=state.document, prototype=state.prototype)


def _row(state: DocumentState, shown: DocumentState, panel) -> None:
    config, new = panel.config, shown
    a, b, c, d, e = st.columns([1, 1, 1, 1.1, 1.1], gap="medium", vertical_alignment="bottom")
    key = f"{state.example}-{state.own[-6:]}"
    with a:
        count = _slide("Documents", COUNTS, config.data.num_documents, f"document-count-{key}")
        new = new if count == config.data.num_documents else replace(new, count=count, document=0)
    with b:
        read = _slide(
            "Tokens read of each", READ, config.data.tokens_per_document, f"document-read-{key}",
            "A document longer than the model's window is read in several; what is beyond this limit is not read, and said so.",
        )  # fmt: skip
        new = new if read == config.data.tokens_per_document else replace(new, read=read)
    with c:
        prototypes = _slide("Prototypes K", PROTOTYPES, config.num_prototypes, f"document-k-{key}")
        new = new if prototypes == config.num_prototypes else replace(new, prototypes=prototypes, prototype=0)
    with d:
        tasks = list(TASKS) if not state.own or state.own_labelled else ["reconstruction"]
        task = st.selectbox("Task", tasks, tasks.index(config.anchor), format_func=TASKS.get, key=f"document-task-{key}-{config.anchor}")
        new = new if task == config.anchor else replace(new, task=task)
    with e:
        own_documents(state, shown, _begin)
    if new != shown and not refused(panel_of, new):
        _begin(new)
        st.rerun()


def _slide(label: str, options: tuple[int, ...], value: int, key: str, help: str | None = None) -> int:
    known = sorted({*options, value})
    return int(st.select_slider(label, known, value, format_func="{:,}".format, key=f"{key}-{value}", help=help))


def _export(token: str, panel) -> None:
    look = kept_look(token)
    if look is None:
        st.caption("There is something to take along once the documents have been read.")
        return
    st.caption(f"As of step {look.step}, with your names. Nothing is sent anywhere; the files are made on this machine.")
    about = f"{look.material.source} Step {look.step}, ε = {look.epsilon:g}, T = {look.temperature:g}, seed {panel.config.seed}."
    config = json.dumps(panel.config.to_dict(), indent=1, ensure_ascii=False)
    called = names()  # itself, not a copy: a name may still be given before a button is pressed
    files = (
        ("Documents (CSV)", lambda: safe_csv(documents_frame(look, called)), "ddcl-documents.csv", "text/csv"),
        ("Prototypes (CSV)", lambda: safe_csv(prototypes_frame(look, called)), "ddcl-prototypes.csv", "text/csv"),
        ("Documents (Parquet)", lambda: parquet(documents_frame(look, called)), "ddcl-documents.parquet", "application/octet-stream"),
        ("Report (HTML)", lambda: report(look, called, about, config).encode(), "ddcl-documents.html", "text/html"),
    )
    for column, (label, make, name, kind) in zip(st.columns(4), files):
        with column:
            st.download_button(label, make, name, kind, key=f"document-export-{name}", on_click="ignore", width="stretch")


show()
