"""What the Documents page shows, from a real run of a small text scene: exact sums, escaped texts, links, exports."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
import torch

from dashboard.documents import worker
from dashboard.documents.export import documents_frame, parquet, prototypes_frame, report, safe_csv
from dashboard.documents.html import contexts_html, contribution_table, ink_on, mixture_bar, signed, tinted
from dashboard.documents.look import DocumentLook, Material
from dashboard.documents.presets import DOCUMENT_PRESETS
from dashboard.documents.state import DocumentState, from_query, panel_of, prototypes_for, to_query
from ddcl_core import InputError, RunConfig, TrainingRun
from ddcl_core.config import DataConfig, EncoderConfig

torch.set_num_threads(1)
TEXTS = (
    "The team won the match after a late goal. <b>The coach</b> praised the players & fans.",
    "Shares fell as the bank reported a loss. Investors sold stocks on the market.",
    "A striker scored twice; the goalkeeper saved a penalty in the cup final.",
    "Profits rose at the oil company, and its shares gained on the stock market today.",
    "=SUM(A1) the league season ends with a match between two rival teams.",
    "The central bank raised interest rates; economists expect slower growth.",
)
LABELS = ("sport", "money") * 3


@pytest.fixture(scope="module")
def run() -> TrainingRun:
    config = RunConfig(
        data=DataConfig(kind="custom", texts=TEXTS, text_labels=LABELS, num_documents=6, tokens_per_document=12, dim=8),
        encoder=EncoderConfig("residual", heads=4), num_prototypes=4, anchor="classification", objective_weight=0.1,
        epsilon=0.05, max_steps=60,
    )  # fmt: skip
    run = TrainingRun(config)
    run.advance(1e9)
    return run


@pytest.fixture(scope="module")
def look(run: TrainingRun) -> DocumentLook:
    return DocumentLook(Material(**worker.material(run)), **worker.moment(run))


def test_contributions_sum_to_the_logit_that_the_run_itself_gets(run: TrainingRun, look: DocumentLook) -> None:
    with torch.no_grad():
        evaluation = run.model.evaluate(run.temperature)
        owners = torch.from_numpy(look.material.owners.astype(np.int64))
        for d in range(6):
            pooled = evaluation.losses.centroids[owners == d].mean(0)
            logits = run.model.head(pooled).double().numpy()
            assert np.allclose(look.logits[d], logits, atol=1e-5)
            assert np.allclose(look.parts(d).sum(0) + look.bias, logits, atol=5e-3), "assignments travel in half precision"
            assert np.allclose(look.without(d, np.zeros(4, bool))[1], logits, atol=5e-3)


def test_switching_off_changes_what_it_should(look: DocumentLook) -> None:
    d, top = 0, int(look.mixture[0].argmax())
    off = np.zeros(4, bool)
    off[top] = True
    mixture, logits = look.without(d, off)
    assert mixture[top] == 0 and mixture.sum() == pytest.approx(1, abs=1e-3) and not np.allclose(logits, look.logits[d], atol=1e-3)


def test_a_whole_document_reads_on_where_the_live_picture_stops(run: TrainingRun, look: DocumentLook) -> None:
    whole = worker.whole(run, 0)
    assert len(whole["words"]) > 12 and whole["words"][:12] == look.material.words[0] and whole["unread"] == 0
    assert np.allclose(whole["assignments"].sum(1), 1, atol=1e-5)
    mixture, logits = look.without(0, np.zeros(4, bool), whole)
    assert np.allclose(logits, whole["logits"], atol=1e-4) and np.allclose(mixture, whole["assignments"].mean(0))


def test_faithfulness_takes_the_right_tokens(run: TrainingRun) -> None:
    found = worker.faithfulness(run, draws=3)
    assert len(found["documents"]) == len(found["drop_top"]) == len(found["drop_random"]) > 0
    assert (found["taken"] >= 1).all() and (found["taken"] <= 11).all() and np.isfinite(found["drop_top"]).all()
    assert np.allclose(found["drop_top"], worker.faithfulness(run, draws=3)["drop_top"])


def test_faithfulness_of_many_documents_is_of_some_of_them_spread_evenly(run: TrainingRun) -> None:
    found = worker.faithfulness(run, draws=1, most=3)
    assert set(found["documents"]) <= {0, 2, 5}


def test_many_tokens_are_measured_on_a_sample() -> None:
    many = panel_of(DocumentState(own="upload:x", own_size=20_000, own_labelled=True, count=20_000, read=32)).config
    assert many.measured_documents == 1250 and many.batch_documents == 64
    assert panel_of(DocumentState(count=400, read=64)).config.measured_documents is None


def test_texts_are_escaped_and_complete(look: DocumentLook) -> None:
    out = tinted(look, 0, "light")
    assert "<b>The coach" not in out and "&amp; fans" in out and "won" in out and "praised the players" in out
    plain = look.material.texts[0]
    assert look.words_of(0)[0][:2] == (0, 3) and plain[slice(*look.words_of(0)[1][:2])] == "team"
    assert "&lt;" not in mixture_bar(look.mixture[0], "dark", 'x"y') and 'aria-label="x&quot;y"' in mixture_bar(look.mixture[0], "dark", 'x"y')
    table = contribution_table(look, look.parts(0)[:, 0], float(look.bias[0]), [0, 1], "light", {0: "<i>mine</i>"})
    assert "&lt;i&gt;mine" in table and "2 others together" in table
    assert "class" in contexts_html(look, int(look.usage.argmax()), "light")
    assert ink_on("#000000") == "#ffffff" and ink_on("#ffffff") == "#111418"


def test_exports(look: DocumentLook) -> None:
    import pandas

    frame = documents_frame(look, {0: "mine"})
    assert len(frame) == 6 and frame[[f"prototype_{k + 1}" for k in range(4)]].sum(axis=1).round(3).eq(1).all()
    back = pandas.read_csv(io.BytesIO(safe_csv(frame)))
    assert any(text.startswith("'=SUM") for text in back["text"])
    assert pandas.read_parquet(io.BytesIO(parquet(frame)))["text"].tolist() == list(look.material.texts)
    assert prototypes_frame(look, {0: "mine"})["name"][0] == "mine"
    page = report(look, {0: "<mine>"}, "About <it>", json.dumps({"seed": 7}))
    assert "&lt;mine&gt;" in page and "About &lt;it&gt;" in page and "http" not in page and "<script" not in page


def test_no_cell_of_a_csv_is_a_formula_and_an_empty_one_stays_empty() -> None:
    import pandas

    frame = pandas.DataFrame({"a": ["", "=1+1", "-x", "fine", "@cmd"], "n": [1, 2, -3, 4, 5]})
    assert safe_csv(frame).decode("utf-8-sig").splitlines()[1:] == [",1", "'=1+1,2", "'-x,-3", "fine,4", "'@cmd,5"]


def test_three_digits_with_a_sign_unless_they_are_nothing() -> None:
    assert [signed(v) for v in (0.0004, -0.0004, 0.0006, -1.0)] == ["0.000", "0.000", "+0.001", "-1.000"]


def test_own_documents_begin_with_two_prototypes_a_label() -> None:
    assert [prototypes_for(n) for n in (0, 1, 2, 3, 5, 27, 64)] == [8, 8, 6, 6, 12, 64, 64]


def test_links_come_back(look: DocumentLook) -> None:
    state = DocumentState("reviews", 3, (0.2,), (4.0,), count=50, read=64, prototypes=6, task="reconstruction", map="pca", document=4)
    again, problems = from_query(to_query(state))
    assert again == state and problems == []
    state, problems = from_query({"example": "none", "eps": "x", "documents": "-1", "tokens": "9999999", "task": "fly", "k": "0"})
    assert state == DocumentState() and len(problems) == 6
    assert from_query({"documents": "20000", "tokens": "4096"})[1], "more tokens than can train here"


def test_every_example_gives_a_run_and_own_documents_too() -> None:
    for preset in DOCUMENT_PRESETS:
        assert panel_of(DocumentState(example=preset.key)).config.data.num_documents == 200
    own = panel_of(DocumentState(own="upload:x", own_size=30, own_labelled=False)).config
    assert own.data.kind == "custom" and own.data.num_documents == 30 and own.anchor == "reconstruction" and own.batch_documents is None
    with pytest.raises(InputError, match="take fewer"):
        panel_of(DocumentState(count=20_000, read=4096))


def test_one_moment_holds_everything_of_one_step(run: TrainingRun, look: DocumentLook) -> None:
    moment = worker.moment(run)
    again = DocumentLook(look.material, **moment)
    assert again.step == run.step and again.names == look.names and np.array_equal(again.assignments, look.assignments)
    lead, labels = again.mixture.argmax(1), again.material.labels
    assert set(again.agreement) == {"lead", "mixtures"}
    best = max(  # each of two classes matched with another prototype, tried one by one
        ((lead == a) & (labels == 0)).sum() + ((lead == b) & (labels == 1)).sum() for a in range(4) for b in range(4) if a != b
    )
    assert again.agreement["lead"][0] == pytest.approx(best / 6)
    assert all(0 <= nmi <= 1 and -1 <= ari <= 1 for _, nmi, ari in again.agreement.values())
    assert worker.faithfulness(run, draws=1)["step"] == worker.whole(run, 1)["step"] == run.step
