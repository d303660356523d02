"""The Documents page's examples: what is read, and what to look for. `tests/explain/test_document_presets.py` checks the words."""

from __future__ import annotations

from dataclasses import replace

from dashboard.presets import Pair, Panel, Preset
from ddcl_core.config import DataConfig, EncoderConfig, RunConfig, ScheduleConfig

BASE = RunConfig(
    data=DataConfig(kind="bbc", num_documents=200, tokens_per_document=48, dim=32),
    encoder=EncoderConfig(kind="residual"),
    schedule=ScheduleConfig("constant", 2.0, 2.0),
    num_prototypes=12,
    epsilon=0.05,
    lr_prototypes=0.1,
    anchor="classification",
    objective_weight=0.1,
    init_scale=0.6,
    batch_documents=64,
    frame_every=4,
    max_steps=300,
)
ALONE = {"anchor": "reconstruction", "anchor_weight": 1.0, "objective_weight": 1.0, "lr_prototypes": 0.05}
"""Clustering: no label is seen; the tokens are to be reconstructed, which keeps the encoder from drawing all together."""


def _one(label: str, config: RunConfig) -> tuple[Pair, ...]:
    panel = Panel(label, config)
    return (Pair("", panel, panel),)


DOCUMENT_PRESETS: tuple[Preset, ...] = (
    Preset(
        "news",
        "BBC News, by section",
        "Two hundred articles, read word by word. Twelve prototypes are trained to tell the five sections apart; each word follows "
        "the prototypes nearest to it, and an article is the mixture of its words. Let it train to step 100 or so, then read an "
        "article below and see which prototypes carried its section.",
        _one("DDCL readout", BASE),
        steps_per_second=16.0,
    ),
    Preset(
        "clusters",
        "BBC News, without labels",
        "The same articles, but no section is shown: prototypes only settle among the words. Names and mixtures come from the text "
        "alone; the sections colour the map and are compared afterwards: by leading prototype articles fall into groups hardly better than "
        "chance, by their whole mixtures better.",
        _one("DDCL clustering", replace(BASE, **ALONE)),
        steps_per_second=16.0,
    ),
    Preset(
        "reviews",
        "Film reviews, for or against",
        "Reviews of films, liked or not. Much of a review is plot, names and little words; look below a review at the contributions "
        "to see which prototypes carried the verdict, and switch one off.",
        _one("DDCL readout", replace(BASE, data=replace(BASE.data, kind="reviews"))),
        steps_per_second=16.0,
    ),
    Preset(
        "newsgroups",
        "20 Newsgroups",
        "Posts to twenty newsgroups. They come through scikit-learn where the network allows, or from a folder that DDCL_DATA_DIR "
        "names. Twenty prototypes for twenty groups; the table of prototypes by class shows which groups share theirs.",
        _one("DDCL readout", replace(BASE, data=replace(BASE.data, kind="newsgroups"), num_prototypes=20)),
        steps_per_second=16.0,
    ),
)


def document_preset(key: str) -> Preset:
    """The example of this key. Raises KeyError when there is none."""
    return next(p for p in DOCUMENT_PRESETS if p.key == key)
