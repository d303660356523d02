"""All documents and prototypes: linked maps, a paged and searched list, the table by class, and the two measures."""

from __future__ import annotations

import hashlib

import numpy as np
import streamlit as st

from dashboard.documents import html as pieces
from dashboard.documents import look as looks
from dashboard.documents.choice import document_list, names, theme
from dashboard.documents.maps import document_map, heat_map, token_map
from dashboard.theme import plain
from ddcl_core.errors import InputError

PAGE = 200  # rows of the list that are sent at once


def all_of_them(look: looks.DocumentLook, d: int) -> None:
    """Maps, list and table; a choice on any of them narrows the list, and a single point or row opens a document."""
    shade, material = theme(), look.material
    left, right = st.columns(2, gap="medium")
    with left:
        picked = document_map(look, shade, names())
    with right:
        tokens = token_map(look, shade, names())
    if tokens is not None:
        picked = np.unique(material.owners[tokens])
    search, which, turn = st.columns([2, 1, 0.8], gap="medium", vertical_alignment="bottom")
    with search:
        wanted = st.text_input("Search the texts", key="document-search", placeholder="words that a document must hold")
    with which:
        wrong = look.predicted is not None and st.checkbox("only those read wrongly", key="document-wrong")
    rows = looks.search(look, wanted, picked, wrong)
    pages = max(1, -(-len(rows) // PAGE))
    with turn:
        page = 1
        if pages > 1:
            page = int(st.number_input(f"Page (1 to {pages:,})", 1, pages, key=f"document-page-{pages}"))
    here = rows[(page - 1) * PAGE : page * PAGE]
    part = f"Rows {(page - 1) * PAGE + 1:,} to {(page - 1) * PAGE + len(here):,} of these. " if pages > 1 else ""
    st.caption(
        f"{len(rows):,} of {material.count:,} documents. {part}Click a point of a map, or draw around several with its lasso (the tools "
        "at its upper right), to narrow the list; a single point or a row is read below and under *One document*."
    )
    top = np.argsort(-look.mixture[here], axis=1)[:, :3]
    columns = {"label": [material.class_names[material.labels[i]] for i in here]}
    if look.predicted is not None:
        columns["read as"] = [material.class_names[look.predicted[i]] for i in here]
    columns["leading prototypes"] = [", ".join(f"{k + 1} ({look.mixture[i, k]:.0%})" for k in best) for i, best in zip(here, top)]
    # A selection belongs to its rows: another list under the same key would open another document.
    key = hashlib.sha1(np.asarray(here, dtype=np.int64).tobytes()).hexdigest()[:12]
    document_list(look, here, columns, f"document-list-{look.step}-{key}", height=320)
    if d in here:
        bar = pieces.mixture_bar(look.mixture[d], shade, f"Mixture of document {d + 1}")
        st.html(f'<p class="ddcl-note"><b>Document {d + 1}</b></p>{bar}')
        st.html(pieces.tinted(look, d, shade, folded=900))
    if len(rows) and (picked is not None or wanted.strip()):
        st.html(pieces.mixture_bar(look.mixture[rows].mean(axis=0), shade, "Mean mixture of the documents in the list"))
        st.caption("The mean mixture of the documents in this list.")
    heat_map(look, shade, names())
    _agreement(look)


_WAYS = {"lead": "its leading prototype", "mixtures": "k-means on the mixtures, with as many groups as classes"}


def _agreement(look: looks.DocumentLook) -> None:
    if not look.agreement:
        return
    said = "; ".join(
        f"by {_WAYS[way]} ACC <b>{acc:.2f}</b>, NMI <b>{nmi:.2f}</b>, ARI <b>{ari:.2f}</b>"
        for way, (acc, nmi, ari) in look.agreement.items()
    )
    trained = ", which the training has seen" if look.weight is not None else ", which nothing has seen"
    st.html(
        f'<p class="ddcl-note">Documents grouped by their prototypes and compared with the labels{trained}: {said}. ACC matches each class '
        f"with one group (chance with {len(look.material.class_names)} even classes: about "
        f"{1 / len(look.material.class_names):.2f}); for NMI and ARI 0 is chance.</p>"
    )


def _of(look: looks.DocumentLook, some: np.ndarray) -> str:
    return "" if len(some) == look.material.count else f", spread over all {look.material.count:,}"


def is_it_faithful(look: looks.DocumentLook, token: str) -> None:
    """Coherence of the names, and what the logit loses without the words of the prototype that carried it."""
    scores = look.npmi[np.isfinite(look.npmi)]
    if len(scores):
        st.html(
            f'<p class="ddcl-note">Coherence: the ten words of a prototype have an NPMI of <b>{scores.mean():+.3f}</b> on these documents, '
            f"mean over {len(scores)} prototypes (−1: never together, 0: by chance, 1: always together).</p>"
        )
    if look.weight is None:
        st.info("Faithfulness is about a class that was predicted; choose the task that tells the classes apart.")
        return
    st.html(
        '<p class="ddcl-note">If the prototype that carried a prediction matters, then leaving its words unread must lower the '
        "logit more than leaving as many random words unread. Both encoder and readout see the shortened text.</p>"
    )
    if st.button("Check it on these documents", key="document-faith"):
        try:
            with st.spinner("Leaving words unread …"):
                st.session_state.document_faith = looks.ask_faithfulness(token)
        except InputError as error:
            st.error(plain(str(error)))
    found = st.session_state.get("document_faith")
    if found is None:
        return
    top, random = found["drop_top"], found["drop_random"]
    gap = top - random
    half = 1.96 * gap.std(ddof=1) / max(len(gap), 1) ** 0.5 if len(gap) > 1 else float("nan")
    st.html(
        f'<p class="ddcl-note">{len(gap):,} documents{_of(look, gap)}, {found["taken"].mean():.1f} tokens taken on average. The logit falls by '
        f"<b>{top.mean():.3f}</b> without the top prototype's words and by <b>{random.mean():.3f}</b> without as many random ones: a "
        f"difference of <b>{gap.mean():+.3f} ± {half:.3f}</b> (95 %). It is larger for the top prototype in "
        f"{(gap > 0).mean():.0%} of the documents. As of step {found['step']:,}, on the documents that were trained on.</p>"
    )
