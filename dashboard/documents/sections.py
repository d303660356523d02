"""What stands below the Documents page's live view, read out of the last look at the run."""

from __future__ import annotations

import html
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import streamlit as st

from dashboard.documents import html as pieces
from dashboard.documents import look as looks
from dashboard.documents.maps import document_map, heat_map, token_map
from dashboard.documents.state import DocumentState
from dashboard.theme import theme_name
from ddcl_core.errors import InputError
from ddcl_core.explain import nearest_documents

FIRST_LOOK = 40  # step; before it prototypes have hardly left their start
AGAIN = 5.0
Keep = Callable[[DocumentState], None]


def theme() -> str:
    """'light' or 'dark', as the page is shown."""
    return theme_name(getattr(st.context.theme, "type", None))


def names() -> dict[int, str]:
    """Names that a person has given to prototypes of the present scene."""
    return st.session_state.setdefault("document_names", {})


def kept_look(token: str) -> looks.DocumentLook | None:
    """The last look at the run of this scene."""
    held = st.session_state.get("document_look")
    return held[1] if held is not None and held[0] == token else None


@st.fragment(run_every=2.0)
def watch(token: str) -> None:
    """How far the run is and how old the look below is; looks by itself at first, and when the run comes to rest."""
    now = looks.pulse_of(token)
    look = kept_look(token)
    seen = look.step if look is not None else -1
    words, press = st.columns([4, 1.4], vertical_alignment="center")
    with press:
        waiting = now.state == "waiting"
        asked = st.button("Read the documents now", key="document-read", width="stretch", disabled=waiting)
    rested = now.state == "resting" and now.step >= 0 and now.step != seen
    started = now.state == "training" and now.step >= FIRST_LOOK and not FIRST_LOOK <= seen <= now.step
    failed = st.session_state.get("document_look_failed")
    if asked or ((rested or started) and (failed is None or time.monotonic() - failed[0] > AGAIN)):
        try:
            taken = looks.take_look(token, look.material if look is not None else None)
            if st.session_state.get("document_names_of") != token:
                st.session_state.document_names, st.session_state.document_names_of = {}, token
            st.session_state.document_look = (token, taken)
            st.session_state.document_faith = None
            st.session_state.document_look_failed = failed = None
        except InputError as error:
            st.session_state.document_look_failed = failed = (time.monotonic(), str(error))
        else:
            st.rerun()
    with words:
        st.html(f'<p class="doc-note" role="status">{html.escape(_state_words(now, look, failed))}</p>')


def _state_words(now, look, failed) -> str:
    if failed is not None:
        return failed[1]
    if look is None:
        later = "as soon as the run has begun" if now.state == "waiting" else f"at step {FIRST_LOOK}, and again when the run rests"
        return f"The documents can be read {later}."
    read, total = len(look.material.owners), look.material.count
    what = f"Below: step {look.step}, {total:,} documents, {read:,} tokens read."
    if now.state == "training" and now.step > look.step:
        return f"{what} Training is at step {now.step}; the texts follow when it rests, or when you ask."
    return what


@st.fragment
def results(token: str, state: DocumentState, keep: Keep) -> None:
    """Everything that is read out of the last look; its own choices rerun nothing else."""
    look = kept_look(token)
    if look is None:
        return
    state = replace(
        state, document=min(st.session_state.get("document_at", state.document), look.material.count - 1),
        prototype=min(st.session_state.get("prototype_at", state.prototype), look.K - 1),
    )  # fmt: skip
    tabs = st.tabs(["One document", "One prototype", "All of them", "Is it faithful?"])
    with tabs[0]:
        _document(look, state, token)
    with tabs[1]:
        _prototype(look, state)
    with tabs[2]:
        _all(look, state)
    with tabs[3]:
        _faith(look, token)
    keep(state)


def go_to(document: int | None = None, prototype: int | None = None) -> None:
    """Look at this document or prototype from now on."""
    if document is not None:
        st.session_state.document_at = int(document)
    if prototype is not None:
        st.session_state.prototype_at = int(prototype)


# ---- one document ----------------------------------------------------------------------------------------------------


def _document(look: looks.DocumentLook, state: DocumentState, token: str) -> None:
    material, d, shade = look.material, state.document, theme()
    pick, tint = st.columns([1.2, 2], gap="medium", vertical_alignment="bottom")
    with pick:
        number = st.number_input(
            f"Document (1 to {material.count:,})", 1, material.count, d + 1, key=f"document-number-{d}-{look.step}"
        )
        if int(number) - 1 != d:
            go_to(document=int(number) - 1)
            st.rerun(scope="fragment")
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
    rest = "Faded text at the end was not read." if whole is None or whole["unread"] else "This is all of it."
    st.html(
        f'<p class="doc-note">{read:,} tokens of this document are read. {rest} A small number names the prototype from where it '
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
                kept[d] = looks.ask_whole(token, d)
        except InputError as error:
            st.error(str(error))
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
    if logits is None:
        return f'<p class="doc-note">Its label, which the clustering has not seen: <b>{html.escape(true)}</b>.</p>'
    share = np.exp(logits - logits.max())
    share /= share.sum()
    got = int(logits.argmax())
    text = f"Read as <b>{html.escape(labels[got])}</b> ({share[got]:.0%}); its label is <b>{html.escape(true)}</b>."
    if off.any():
        before = int(look.without(d, np.zeros_like(off))[1].argmax())
        change = "the same as" if before == got else f"instead of {html.escape(labels[before])}"
        text += f" With {int(off.sum())} switched off: {change}{' before' if before == got else ''}."
    return f'<p class="doc-note" role="status">{text} It was trained on this document too.</p>'


def _carried(
    look: looks.DocumentLook, d: int, off: np.ndarray, mixture: np.ndarray, logits: np.ndarray, shade: str, whole: dict | None
) -> None:
    classes = look.material.class_names
    c = st.selectbox(
        "What carried the class", range(len(classes)), int(logits.argmax()), format_func=classes.__getitem__,
        key=f"document-class-{d}-{look.step}-{int(logits.argmax())}",
    )  # fmt: skip
    parts = mixture * (look.prototypes.astype(float) @ look.weight[c].astype(float))
    order = [int(k) for k in np.argsort(-np.abs(parts))[:8] if abs(parts[k]) > 1e-6]
    st.html(pieces.contribution_table(look, parts, float(look.bias[c]), order, shade, names()))
    exact = look.logits[d] if whole is None else whole["logits"]
    own = f" The run's own logit is {exact[c]:+.3f}." if not off.any() else ""
    st.html(
        f'<p class="doc-note">Each prototype adds its share of the document times its own score for the class; the sum is the logit '
        f"exactly, since the head is linear.{own}</p>"
    )


def _alike(look: looks.DocumentLook, d: int) -> None:
    order, distance = nearest_documents(look.mixture, d, 8)
    st.markdown("**Documents with the most similar mixture**")
    chosen = st.dataframe(
        {
            "document": order + 1, "distance": distance.round(3),
            "label": [look.material.class_names[look.material.labels[i]] for i in order],
            "begins": [look.material.texts[i][:140].replace("\n", " ") for i in order],
        },
        hide_index=True, key=f"document-alike-{d}-{look.step}", on_select="rerun", selection_mode="single-row",
    )  # fmt: skip
    if chosen.selection.rows:
        go_to(document=int(order[chosen.selection.rows[0]]))
        st.rerun(scope="fragment")
    st.caption("Hellinger distance of the mixtures: 0 the same, 1 no prototype in common. Choose a row to read it.")


# ---- one prototype ---------------------------------------------------------------------------------------------------


def _prototype(look: looks.DocumentLook, state: DocumentState) -> None:
    k, shade = state.prototype, theme()
    order = [int(i) for i in np.argsort(-look.usage)]
    pick, rename = st.columns([2, 2], gap="medium", vertical_alignment="bottom")
    with pick:
        chosen = st.selectbox(
            "Prototype", order, order.index(k), key=f"prototype-pick-{k}-{look.step}",
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
    st.html(f'<p class="doc-note">{html.escape(_about(look, k))}</p>')
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
        some = np.argsort(-look.mixture[:, k])[:12]
        chosen = st.dataframe(
            {
                "document": some + 1, "share": look.mixture[some, k].round(3),
                "label": [look.material.class_names[look.material.labels[i]] for i in some],
                "begins": [look.material.texts[i][:110].replace("\n", " ") for i in some],
            },
            hide_index=True, key=f"prototype-documents-{k}-{look.step}", on_select="rerun", selection_mode="single-row",
        )  # fmt: skip
        if chosen.selection.rows:
            go_to(document=int(some[chosen.selection.rows[0]]))
            st.caption(f"Document {int(some[chosen.selection.rows[0]]) + 1} is open under *One document*.")


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


# ---- all of them -----------------------------------------------------------------------------------------------------


def _all(look: looks.DocumentLook, state: DocumentState) -> None:
    shade, material = theme(), look.material
    left, right = st.columns(2, gap="medium")
    with left:
        picked = document_map(look, shade, names())
    with right:
        tokens = token_map(look, shade, names())
    if tokens is not None:
        picked = np.unique(material.owners[tokens])
    search, which = st.columns([2, 1], gap="medium")
    with search:
        wanted = st.text_input("Search the texts", key="document-search", placeholder="words that a document must hold")
    with which:
        wrong = look.predicted is not None and st.checkbox("only those read wrongly", key="document-wrong")
    rows = np.arange(material.count) if picked is None else picked
    if wanted.strip():
        parts = wanted.casefold().split()
        rows = np.array([i for i in rows if all(part in material.texts[i].casefold() for part in parts)], dtype=int)
    if wrong:
        rows = rows[look.predicted[rows] != material.labels[rows]]
    st.caption(f"{len(rows):,} of {material.count:,} documents. Choose a row to read it under *One document*; draw a lasso on a map to narrow the list.")
    top = np.argsort(-look.mixture[rows], axis=1)[:, :3] if len(rows) else np.zeros((0, 3), int)
    table = {
        "document": rows + 1, "label": [material.class_names[material.labels[i]] for i in rows],
        "leading prototypes": [", ".join(f"{k + 1} ({look.mixture[i, k]:.0%})" for k in best) for i, best in zip(rows, top)],
        "begins": [material.texts[i][:120].replace("\n", " ") for i in rows],
    }  # fmt: skip
    if look.predicted is not None:
        table["read as"] = [material.class_names[look.predicted[i]] for i in rows]
    chosen = st.dataframe(table, hide_index=True, key=f"document-list-{look.step}-{len(rows)}", height=320, on_select="rerun",
                          selection_mode="single-row")  # fmt: skip
    if chosen.selection.rows and len(rows):
        go_to(document=int(rows[chosen.selection.rows[0]]))
    if len(rows) and (picked is not None or wanted.strip()):
        st.html(pieces.mixture_bar(look.mixture[rows].mean(axis=0), shade, "Mean mixture of the documents in the list"))
        st.caption("The mean mixture of the documents in this list.")
    heat_map(look, shade, names())


def _faith(look: looks.DocumentLook, token: str) -> None:
    scores = look.npmi[np.isfinite(look.npmi)]
    if len(scores):
        st.html(
            f'<p class="doc-note">Coherence: the ten words of a prototype have an NPMI of <b>{scores.mean():+.3f}</b> on these documents, '
            f"mean over {len(scores)} prototypes (−1: never together, 0: by chance, 1: always together).</p>"
        )
    if look.weight is None:
        st.info("Faithfulness is about a class that was predicted; choose the task that tells the classes apart.")
        return
    st.html(
        '<p class="doc-note">If the prototype that carried a prediction matters, then leaving its words unread must lower the '
        "logit more than leaving as many random words unread. Both encoder and readout see the shortened text.</p>"
    )
    if st.button("Check it on these documents", key="document-faith"):
        try:
            st.session_state.document_faith = looks.ask_faithfulness(token)
        except InputError as error:
            st.error(str(error))
    found = st.session_state.get("document_faith")
    if found is None:
        return
    top, random = found["drop_top"], found["drop_random"]
    gap = top - random
    half = 1.96 * gap.std(ddof=1) / max(len(gap), 1) ** 0.5 if len(gap) > 1 else float("nan")
    st.html(
        f'<p class="doc-note">{len(gap):,} documents, {found["taken"].mean():.1f} tokens taken on average. The logit falls by '
        f"<b>{top.mean():.3f}</b> without the top prototype's words and by <b>{random.mean():.3f}</b> without as many random ones: a "
        f"difference of <b>{gap.mean():+.3f} ± {half:.3f}</b> (95 %). It is larger for the top prototype in "
        f"{(gap > 0).mean():.0%} of the documents.</p>"
    )
