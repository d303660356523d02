"""Words, mixtures, contributions, names and coherence, by hand and against independent computations."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ddcl_core.explain import (
    WordIndex, characteristic_words, class_profile, contributions, join_pieces, mixtures, nearest_documents, npmi,
    switched_off, token_spans, twins,
)  # fmt: skip
from ddcl_core.explain.names import stop_words


def test_pieces_join_to_words_in_their_places() -> None:
    text = "“Un##believable!”  said O'Neill,\nunbelievably.   Yes"
    pieces = ["“", "Un", "##", "##", "believable", "!", "”", "said", "O", "'", "Neill", ",", "un", "##believ", "##ably", ".", "Yes"]
    spans = token_spans(text, pieces)
    assert [text[a:b] for a, b in spans] == [
        "“", "Un", "##", "##", "believable", "!", "”", "said", "O", "'", "Neill", ",", "un", "believ", "ably", ".", "Yes",
    ] or spans[2][0] == spans[1][1]  # a text that writes ## itself
    words = join_pieces("unbelievably good", ["un", "##believ", "##ably", "good"])
    assert [(w.start, w.end, w.first, w.last) for w in words] == [(0, 12, 0, 2), (13, 17, 3, 3)]
    assert token_spans("short", ["nowhere", "short"]) == [(0, 0), (0, 5)]


def test_every_character_of_a_real_text_is_a_word_or_between_words() -> None:
    from ddcl_core.data.text_encoder import encode_documents, resolve_model

    text = "It's “quite” re-usable — naïve café, 3.14 & emojis 👩‍🚀 ok?\n\nSecond   paragraph… ##hash"
    read = encode_documents([text], 200, resolve_model("minilm"))
    words = join_pieces(text, read.words[0])
    assert all(a.end <= b.start for a, b in zip(words, words[1:]))
    covered = {i for w in words for i in range(w.start, w.end)}
    left = "".join(c for i, c in enumerate(text) if i not in covered and not c.isspace())
    assert left.strip("\u200d") == ""
    assert [w.first for w in words[1:]] == [w.last + 1 for w in words[:-1]] and words[-1].last == len(read.words[0]) - 1


def test_mixtures_and_contributions_are_exact() -> None:
    rng = np.random.default_rng(0)
    q = rng.dirichlet(np.ones(4), size=11)
    owners = np.array([0, 0, 0, 1, 1, 1, 1, 1, 3, 3, 3])
    p, w, c = rng.normal(size=(4, 5)), rng.normal(size=(3, 5)), rng.normal(size=3)
    u = mixtures(q, owners, 4)
    assert np.allclose(u[0], q[:3].mean(0)) and np.all(u[2] == 0) and np.allclose(u[[0, 1, 3]].sum(1), 1)
    parts = contributions(u, p, w)
    centroids = q @ p
    for b in (0, 1, 3):
        pooled = centroids[owners == b].mean(0)
        assert np.allclose(parts[b].sum(0) + c, w @ pooled + c, atol=1e-12)


def test_switching_off_is_the_softmax_over_the_others() -> None:
    d, T = np.array([[1.0, 2.0, 4.0], [0.0, 900.0, 1000.0]]), 1.3
    soft = np.exp(-(d - d.min(1, keepdims=True)) / T)
    q = soft / soft.sum(1, keepdims=True)
    off = np.array([True, False, False])
    rest = np.exp(-(d[:, 1:] - d[:, 1:].min(1, keepdims=True)) / T)
    rest /= rest.sum(1, keepdims=True)
    got = switched_off(q, off)
    assert np.allclose(got[0, 1:], rest[0]) and got[0, 0] == 0 and np.allclose(got.sum(1), 1)
    assert np.allclose(got[1], [0, 0.5, 0.5]), "a token that only it held is shared out evenly"
    with pytest.raises(ValueError, match="stay on"):
        switched_off(q, np.ones(3, dtype=bool))


def test_nearest_documents_by_hand() -> None:
    u = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5], [0.9, 0.1]])
    order, distance = nearest_documents(u, 0, 3)
    assert order.tolist() == [3, 2, 1]
    assert distance == pytest.approx([math.sqrt(1 - math.sqrt(0.9)), math.sqrt(1 - math.sqrt(0.5)), 1.0])


def test_class_profile_and_twins() -> None:
    u = np.array([[0.5, 0.5, 0.0], [0.0, 1.0, 0.0]])
    assert np.allclose(class_profile(u, np.array([0, 1]), 2), [[1, 0], [1 / 3, 2 / 3], [0, 0]])
    p = np.array([[0.0, 0], [10, 0], [0.1, 0], [0, 7], [0.2, 0]])
    assert twins(p) == [[0, 2, 4]]
    assert twins(np.array([[0.0, 0], [1, 0]])) == []


def test_names_by_the_formula() -> None:
    words = ["Ball", "ball", "goal", "vote", "vote", "ball", "the", "the", "the", "42", "x", "Vote"]
    leads = np.array([0, 0, 0, 1, 1, 1, 0, 1, 0, 0, 0, 1])
    found = characteristic_words(words, leads, 3, stop={"the"}, least=1)
    # tf: prototype 0 {ball 2, goal 1}, prototype 1 {vote 3, ball 1}; A = (3 + 4) / 2; f: ball 3, goal 1, vote 3
    A = 3.5
    assert dict(found[0]) == pytest.approx({"ball": 2 / 3 * math.log(1 + A / 3), "goal": 1 / 3 * math.log(1 + A)})
    assert found[1][0][0] == "vote" and found[1][0][1] == pytest.approx(3 / 4 * math.log(1 + A / 3)) and found[2] == []
    assert [word for word, _ in characteristic_words(words, leads, 3, stop={"the"})[0]] == ["ball"], "seen twice or more"


def test_an_index_names_as_the_formula_does_and_looks_into_the_whole_texts() -> None:
    texts = ["Foot-ball wins; football WON the 42 cups", "votes are votes", ""]
    pieces = [["Foot", "-", "ball", "wins", ";", "foot", "##ball", "WON", "the", "42"], ["votes", "are", "votes"], []]
    index = WordIndex.of(texts, pieces)
    words = ["Foot", "-", "ball", "wins", ";", "football", "WON", "the", "42", "votes", "are", "votes"]
    assert index.vocabulary == ["ball", "foot", "football", "votes", "wins", "won"] and index.tokens == 13
    forms = [index.vocabulary[i] if i >= 0 else "" for i in index.token_ids]
    assert forms == ["foot", "", "ball", "wins", "", "football", "football", "won", "", "", "votes", "", "votes"]
    rng = np.random.default_rng(3)
    q = rng.dirichlet(np.ones(3), 13)
    share = np.stack([q[5:7].mean(0) if word == "football" else q[at] for word, at in zip(words, [0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12])])
    assert np.allclose(index.shares(q), share, atol=1e-6)
    for least in (1, 2):
        expected = characteristic_words(words, share.argmax(1), 3, 10, share.max(1), stop_words(), least)
        found = index.names(q, 10, least)
        assert [[w for w, _ in one] for one in found] == [[w for w, _ in one] for one in expected]
        assert np.allclose([s for one in found for _, s in one], [s for one in expected for _, s in one], rtol=1e-5)
    # "cups" was not read and names nothing; "won" is in the first text, whatever its case
    sets = [{"foot", "ball", "wins", "football", "won", "cups"}, {"votes"}, set()]
    names = [["won", "football"], ["won", "votes"], ["votes"]]
    assert np.allclose(index.coherence([[(w, 1.0) for w in one] for one in names]), npmi(names, sets), equal_nan=True)


def test_without_texts_every_piece_names_also_one_with_a_number() -> None:
    index = WordIndex.of(None, [["topic 1", "topic 2"], ["topic 1"]])
    assert index.vocabulary == ["topic 1", "topic 2"] and index.token_ids.tolist() == [0, 1, 0]
    assert [w for w, _ in index.names(np.array([[1.0, 0], [0, 1], [1, 0]]))[0]] == ["topic 1"]


def test_no_word_at_all_names_nothing() -> None:
    index = WordIndex.of(["42 !"], [["42", "!"]])
    names = index.names(np.eye(2))
    assert names == [[], []] and np.isnan(index.coherence(names)).all()


def test_npmi_by_hand() -> None:
    documents = [{"a", "b"}, {"a", "b"}, {"a"}, {"c"}]
    scores = npmi([["a", "b"], ["a", "c"], ["a"], ["b", "d"]], documents)
    expected = math.log(0.5 / (0.75 * 0.5)) / -math.log(0.5)
    assert scores[0] == pytest.approx(expected) and scores[1] == -1.0 and math.isnan(scores[2]) and scores[3] == -1.0
    assert npmi([["a", "b"]], [{"a", "b"}] * 3)[0] == 1.0
