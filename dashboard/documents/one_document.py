"""One document, read through its prototypes."""

from __future__ import annotations

import html

import numpy as np
import streamlit as st

from dashboard.documents import html as pieces
from dashboard.documents import look as looks
from dashboard.documents.choice import document_list, go_to, names, theme
from dashboard.theme import plain
from ddcl_core.errors import InputError
from ddcl_core.explain import nearest_documents

_NUMBER = "document-number"


def one_document(look: looks.DocumentLook, d: int, token: str) -> None:
    """Document d: mixture, words, what carried its class, what changes without a prototype, documents like it."""
    material, shade = look.material, theme()
    pick, tint = st.columns([1.2, 2], gap="medium", vertical_alignment="bottom")
    with pick:
        st.session_state[_NUMBER] = d + 1  # also after a choice made elsewhere; one key keeps the keyboard's focus
        st.number_input(f"Document (1 to {material.count:,})", 1, material.count, key=_NUMBER, on_change=_number_chosen)
    with tint:
        shown = [int(k) for k in np.argsort(-look.mixture[d]) if look.mixture[d][k] >= 0.01]
        only = st.selectbox(
            "Tint", [None, *shown], key=f"document-tint-{d}-{look.step}",
            format_func=lambda k: "every word by its leading prototype" if k is None else f"only {k + 1}: {look.name(k, names())}",
        )  # fmt: skip
    off = _switches(look, d, shown)
    whole = _whole(look, d, token)
    mixture, logits = look.without(d, off, whole)
    st.html(_verdict(look, d, logits, off))
    st.html(pieces.mixture_bar(mixture, shade, f"Mixture of document {d + 1}"))
    st.html(pieces.legend(look, [k for k in shown if not off[k]][:12], shade, names(), mixture))
    st.html(pieces.tinted(look, d, shade, only, off, whole))
    read = int(material.first[d + 1] - material.first[d]) if whole is None else len(whole["words"])
    rest = "What follows, faded, is not read." if whole is None or whole["unread"] else "This is all of it."
    st.html(
        f'<p class="ddcl-note">{read:,} tokens of this document are read. {rest} A small number names the prototype from where it '
        "changes; the stronger the tint, the surer.</p>"
    )
    if look.weight is not None:
        _carried(look, d, off, mixture, logits, shade, whole)
    _alike(look, d)


def _whole(look: looks.DocumentLook, d: int, token: str) -> dict | None:
    """The document to its end, once somebody has asked for it at this step."""
    kept = st.session_state.setdefault("document_whole", {})
    if kept.get("step") != (token, look.step):
        kept.clear()
        kept["step"] = (token, look.step)
    if d not in kept and st.button("Read this document to its end", key=f"document-whole-{d}-{look.step}"):
        try:
            with st.spinner("Reading it in windows …"):
                kept[d] = looks.ask_whole(token, d, look.step)
        except InputError as error:
            st.error(plain(str(error)))
        else:
            st.rerun(scope="fragment")
    return kept.get(d)


def _switches(look: looks.DocumentLook, d: int, shown: list[int]) -> np.ndarray:
    off = np.zeros(look.K, dtype=bool)
    chosen = st.multiselect(
        "Switch prototypes off", shown, key=f"document-off-{d}-{look.step}",
        format_func=lambda k: f"{k + 1}: {look.name(k, names())}",
        help="Its share goes to the other prototypes, in proportion, as a softmax over those that are left gives it.",
    )  # fmt: skip
    if len(chosen) == look.K:
        st.warning("At least one prototype must stay on; the last one is kept.")
        chosen = chosen[:-1]
    off[chosen] = True
    return off


def _verdict(look: looks.DocumentLook, d: int, logits: np.ndarray | None, off: np.ndarray) -> str:
    labels, true = look.material.class_names, look.material.class_names[look.material.labels[d]]
    if len(labels) < 2:
        return '<p class="ddcl-note">These documents have no labels.</p>'
    if logits is None:
        return f'<p class="ddcl-note">Its label, which the clustering has not seen: <b>{html.escape(true)}</b>.</p>'
    share = np.exp(logits - logits.max())
    share /= share.sum()
    got = int(logits.argmax())
    text = f"Read as <b>{html.escape(labels[got])}</b> ({share[got]:.0%}); its label is <b>{html.escape(true)}</b>."
    if off.any():
        before = int(look.without(d, np.zeros_like(off))[1].argmax())
        change = "the same as" if before == got else f"instead of {html.escape(labels[before])}"
        text += f" With {int(off.sum())} switched off: {change}{' before' if before == got else ''}."
        kept = 1.0 - float(look.mixture[d][off].sum())
        if kept < 0.25:
            text += f" Those that are left held {kept:.0%} of this document, and are scaled up to all of it, so take this with a grain of salt."
    return (
        f'<p class="ddcl-note" role="status">{text} It was trained on this document too; how well new ones are read stands in the table '
        "of readouts below.</p>"
    )


def _carried(
    look: looks.DocumentLook, d: int, off: np.ndarray, mixture: np.ndarray, logits: np.ndarray, shade: str, whole: dict | None
) -> None:
    classes = look.material.class_names
    c = st.selectbox(
        "What carried the class", range(len(classes)), int(logits.argmax()), format_func=classes.__getitem__,
        key=f"document-class-{d}-{look.step}-{int(logits.argmax())}",
    )  # fmt: skip
    parts = mixture * (look.prototypes.astype(float) @ look.weight[c].astype(float))
    order = [int(k) for k in np.argsort(-np.abs(parts))[:8] if abs(parts[k]) >= 5e-4]
    st.html(pieces.contribution_table(look, parts, float(look.bias[c]), order, shade, names()))
    exact = look.logits[d] if whole is None else whole["logits"]
    own = f" The run's own logit is {exact[c]:+.3f}." if not off.any() else ""
    st.html(
        f'<p class="ddcl-note">Each prototype adds its share of the document times its own score for the class; the sum is the logit '
        f"exactly, since the head is linear.{own}</p>"
    )


def _alike(look: looks.DocumentLook, d: int) -> None:
    order, distance = nearest_documents(look.mixture, d, 8)
    st.markdown("**Documents with the most similar mixture**")
    columns = {"distance": distance.round(3), "label": [look.material.class_names[look.material.labels[i]] for i in order]}
    document_list(look, order, columns, f"document-alike-{d}-{look.step}")
    st.caption("Hellinger distance of the mixtures: 0 the same, 1 no prototype in common. Choose a row to read it.")


def _number_chosen() -> None:
    go_to(document=int(st.session_state[_NUMBER]) - 1)
