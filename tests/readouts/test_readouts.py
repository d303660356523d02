"""Readouts: padding never counts, DDCL's readout is the mean soft centroid, and the comparison learns what can be learnt."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from ddcl_core.errors import InputError
from ddcl_core.readouts import READOUTS, Documents, build_readout, classify, cluster, compare_readouts
from ddcl_core.readouts.compare import split

torch.set_num_threads(1)


def topics(seed: int = 0, documents: int = 60, classes: int = 3) -> Documents:
    rng = np.random.default_rng(seed)
    centres = 3.0 * rng.normal(size=(classes, 8))
    labels = np.arange(documents) % classes
    tokens = (centres[labels][:, None] + rng.normal(size=(documents, 6, 8))).astype(np.float32)
    mask = np.ones((documents, 6), dtype=bool)
    mask[::4, 4:] = False
    first = (centres[labels] + rng.normal(size=(documents, 8))).astype(np.float32)
    return Documents.of(tokens * mask[..., None], mask, first, labels)


@pytest.mark.parametrize("name", READOUTS)
def test_padding_never_counts(name: str) -> None:
    d = topics()
    readout = build_readout(name, 8, 4, d.tokens[d.mask], 0)
    if name == "attention pooling":
        with torch.no_grad():
            readout.query.normal_()
    vector, penalty = readout(d.tokens, d.mask, d.cls)
    dirty = torch.where(d.mask[..., None], d.tokens, 1e4)
    other, other_penalty = readout(dirty, d.mask, d.cls)
    torch.testing.assert_close(vector, other, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(penalty, other_penalty, rtol=1e-4, atol=1e-5)
    cut, _ = readout(d.tokens[:1, :4], d.mask[:1, :4], d.cls[:1])
    torch.testing.assert_close(cut, vector[:1], rtol=1e-4, atol=1e-5)
    nothing, _ = readout(d.tokens[:1], torch.zeros(1, 6, dtype=torch.bool), d.cls[:1])
    assert torch.isfinite(nothing).all()


def test_ddcl_reads_the_mean_soft_centroid() -> None:
    d = topics()
    readout = build_readout("DDCL", 8, 4, d.tokens[d.mask], 0)
    vector, _ = readout(d.tokens, d.mask, d.cls)
    z, p = d.tokens[0][d.mask[0]].double(), readout.prototypes.detach().double()
    q = (-torch.cdist(z, p).square() / readout.temperature).softmax(-1)
    torch.testing.assert_close(vector[0].double(), (q @ p).mean(0), rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(readout.assign(d.tokens, d.mask)[0].double(), q.mean(0), rtol=1e-4, atol=1e-4)


def test_the_split_is_stratified_and_leaves_no_document_out() -> None:
    labels = torch.tensor([0] * 10 + [1] * 20 + [2])
    train, test = split(labels, 3)
    assert sorted([*train.tolist(), *test.tolist()]) == list(range(31))
    assert labels[test].bincount(minlength=3).tolist() == [3, 6, 0], "a class of one is trained on, not tested"
    assert not torch.equal(test, split(labels, 4)[1]) and torch.equal(test, split(labels, 3)[1])


@pytest.mark.parametrize("name", READOUTS)
def test_every_readout_learns_easy_topics(name: str) -> None:
    result = classify(name, topics(), 4, 0, steps=150)
    assert result["accuracy"] > 0.9 and result["macro_f1"] > 0.9 and result["parameters"] >= 27
    assert result == classify(name, topics(), 4, 0, steps=150) | {k: result[k] for k in ("train_ms", "infer_ms")}


def test_clustering_and_the_tables() -> None:
    assert cluster("k-means on mean", topics(), 0)["acc"] > 0.95
    assert cluster("DDCL, leading prototype", topics(), 0, steps=100)["acc"] > 0.45
    assert cluster("k-means on DDCL", topics(), 0, steps=100)["acc"] > 0.9
    said = []
    tables = compare_readouts(topics(), 4, (0, 1), 20, lambda fraction, text: said.append(fraction))
    assert [row["method"] for row in tables["classification"]] == list(READOUTS)
    assert len(said) == 24 and said == sorted(said)
    row = tables["classification"][2]
    assert row["accuracy"][1] <= row["accuracy"][0] <= row["accuracy"][2] and row["seeds"] == 2


def test_bad_input() -> None:
    with pytest.raises(InputError, match="two classes"):
        Documents.of(np.zeros((3, 2, 4), np.float32), np.ones((3, 2), bool), np.zeros((3, 4), np.float32), np.zeros(3, int))
    with pytest.raises(InputError, match="no readout called"):
        build_readout("median", 4, 2, torch.zeros(3, 4), 0)
