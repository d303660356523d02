"""The form behind 'Change the experiment': every setting of both runs, with its present value filled in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from dashboard.lab import SIDES, own_documents
from dashboard.presets import Panel
from ddcl_core.config import ANCHORS, ENCODERS, INITIALIZATIONS, OBJECTIVES, OPTIMIZERS, SCHEDULES, RunConfig

DATA_NAMES = {
    "synthetic": "Synthetic topics",
    "bbc": "BBC News",
    "reviews": "Movie reviews",
    "newsgroups": "20 Newsgroups",
    "custom": "My own documents",
}
ENCODER_NAMES = {
    "transformer": "Small transformer, from scratch",
    "residual": "Residual transformer, starts as the identity",
    "mlp": "Small network on each token by itself",
    "none": "None: the tokens stand still",
}
OBJECTIVE_NAMES = {"L_q": "L_q = L_OLS + V", "F": "Free energy F", "L_OLS": "L_OLS alone", "V": "V alone"}
ANCHOR_NAMES = {"none": "No task", "classification": "Name the document's class", "reconstruction": "Rebuild the tokens"}
INITIAL_NAMES = {"scaled": "On tokens, drawn to their mean by a", "kmeans++": "k-means++", "random": "Random, blind to the tokens"}
SCHEDULE_NAMES = {
    "constant": "Constant", "linear": "Linear", "exponential": "Exponential", "cosine": "Cosine", "by_hand": "By hand",
}  # fmt: skip


def experiment_form(panels: tuple[Panel, Panel], version: int) -> dict[str, Any] | None:
    """Show the form; the values by dotted name once the person asks for a new run, else None.

    `version` changes when the runs on the page change, so that the form shows their settings anew.
    Raises InputError for documents that are no documents.
    """
    left, right = panels[0].config, panels[1].config
    with st.form(f"experiment-{version}", border=False):
        values = _data(left) | _model(left) | _training(left, right)
        asked = st.form_submit_button("Start a new run with these settings", type="primary")
    if not asked:
        return None
    if values["data.kind"] == "custom":
        values["data.texts"], values["data.text_labels"] = own_documents(values.pop("documents"))
        values["data.num_documents"] = len(values["data.texts"])
    values.pop("documents", None)
    return values


def _pick(label: str, options: tuple[str, ...], value: str, names: Mapping[str, str], key: str, help: str | None = None) -> str:
    return st.selectbox(label, options, options.index(value), format_func=lambda o: names.get(o, o), key=key, help=help)


def _whole(label: str, value: int, low: int, high: int, key: str, help: str | None = None) -> int:
    return int(st.number_input(label, low, high, int(value), step=1, key=key, help=help))


def _number(label: str, value: float, low: float, high: float, key: str, help: str | None = None) -> float:
    return float(st.number_input(label, low, high, float(value), format="%.6g", key=key, help=help))


def _data(config: RunConfig) -> dict[str, Any]:
    data, values = config.data, {}
    st.markdown("**Tokens**")
    a, b, c, d = st.columns(4)
    with a:
        values["data.kind"] = _pick("Documents", tuple(DATA_NAMES), data.kind, DATA_NAMES, "f-kind")
        values["data.model"] = st.text_input(
            "Frozen text encoder", data.model, key="f-model",
            help="'minilm' is the packaged all-MiniLM-L6-v2. Any other Hugging Face model by name, or a folder on this machine.",
        )  # fmt: skip
    with b:
        values["data.num_documents"] = _whole("Number of documents", data.num_documents, 1, 2000, "f-docs")
        values["data.tokens_per_document"] = _whole("Tokens read of each", data.tokens_per_document, 1, 512, "f-tokens")
    with c:
        values["data.dim"] = _whole("Dimension d", data.dim, 1, 1024, "f-dim", "Text tokens are reduced to it by PCA.")
        values["data.clusters"] = _whole("Synthetic: topics", data.clusters, 1, 64, "f-clusters")
    with d:
        values["data.noise"] = _number("Synthetic: noise", data.noise, 0.0, 100.0, "f-noise")
    values["documents"] = st.text_area(
        "My own documents, one a line; with label, tab, text on every line they have classes too",
        "\n".join(data.texts), key="f-own", height=90, help="They stay on this machine, and out of the link.",
    )  # fmt: skip
    return values


def _model(config: RunConfig) -> dict[str, Any]:
    values: dict[str, Any] = {}
    st.markdown("**Encoder and prototypes**")
    a, b, c, d = st.columns(4)
    with a:
        values["encoder.kind"] = _pick("Encoder", ENCODERS, config.encoder.kind, ENCODER_NAMES, "f-encoder")
        values["encoder.final_norm"] = st.checkbox(
            "LayerNorm at its end", config.encoder.final_norm, key="f-norm",
            help="Without it, plain gradient descent at ε = 1 runs to infinity: worth seeing once.",
        )  # fmt: skip
    with b:
        values["encoder.layers"] = _whole("Layers", config.encoder.layers, 1, 12, "f-layers")
        values["encoder.heads"] = _whole("Attention heads", config.encoder.heads, 1, 32, "f-heads")
    with c:
        values["num_prototypes"] = _whole("Prototypes K", config.num_prototypes, 1, 64, "f-k")
    with d:
        values["initialization"] = _pick("They start", INITIALIZATIONS, config.initialization, INITIAL_NAMES, "f-init")
        values["init_scale"] = _number("a, their distance from the mean", config.init_scale, 0.0, 100.0, "f-a")
    return values


def _training(left: RunConfig, right: RunConfig) -> dict[str, Any]:
    values: dict[str, Any] = {}
    st.markdown("**Training**")
    a, b, c, d = st.columns(4)
    with a:
        for side, config in zip(SIDES, (left, right)):
            values[f"{side}.objective"] = _pick(
                f"Objective, {side}", OBJECTIVES, config.objective, OBJECTIVE_NAMES, f"f-objective-{side}"
            )
        values["objective_weight"] = _number("Its weight", left.objective_weight, 0.0, 1e6, "f-ow")
    with b:
        values["anchor"] = _pick("Task beside it", ANCHORS, left.anchor, ANCHOR_NAMES, "f-anchor")
        values["anchor_weight"] = _number("Weight of the task", left.anchor_weight, 0.0, 1e6, "f-aw")
        values["max_steps"] = _whole("Steps", left.max_steps, 1, 100_000, "f-steps")
    with c:
        values["optimizer"] = _pick("Optimiser", OPTIMIZERS, left.optimizer, {"sgd": "SGD", "adam": "Adam"}, "f-optimizer")
        values["lr_prototypes"] = _number("η of the prototypes", left.lr_prototypes, 0.0, 1e3, "f-lr")
        batch = _whole("Documents a step (0: all)", left.batch_documents or 0, 0, 2000, "f-batch")
        values["batch_documents"] = batch or None
    with d:
        for side, config in zip(SIDES, (left, right)):
            values[f"{side}.schedule.kind"] = _pick(
                f"T over time, {side}", SCHEDULES, config.schedule.kind, SCHEDULE_NAMES, f"f-schedule-{side}"
            )
        values["schedule.end"] = _number("T at the end", right.schedule.end, 1e-4, 1e6, "f-t-end")
        values["schedule.steps"] = _whole("reached at step", right.schedule.steps, 1, 10_000_000, "f-t-steps")
    return values
