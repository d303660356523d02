"""Searching, paging and choosing among documents, and the moments that belong together."""

from __future__ import annotations

import numpy as np
import pytest

from dashboard.documents import look as looks
from dashboard.documents import maps
from dashboard.documents.html import tinted
from dashboard.documents.look import DocumentLook, Material
from ddcl_core import InputError

TEXTS = ["Red apples & pears", "<b>Red</b> cars\nand more", "green Apples", "nothing"]


def material() -> Material:
    words = [["Red", "apples", "&", "pears"], ["<", "b", ">", "Red"], ["green", "Apples"], ["nothing"]]
    owners = np.repeat(np.arange(4), [len(w) for w in words])
    return Material(TEXTS, words, np.array([0, 1, 0, 1]), ["fruit", "other"], owners, [], "")


def look(**changes: object) -> DocumentLook:
    m = material()
    q = np.full((len(m.owners), 2), 0.25)
    q[:, 0] = 0.75
    parts = {
        "step": 4, "temperature": 1.0, "epsilon": 0.1, "status": "stable", "assignments": q, "prototypes": np.eye(2),
        "weight": np.eye(2), "bias": np.zeros(2), "logits": np.array([[1.0, 0], [1, 0], [1, 0], [0, 1]]),
        "places": np.arange(3), "tokens": np.eye(3), "names": [[("red", 1.0)], []], "npmi": np.array([0.1, np.nan]),
    }  # fmt: skip
    return DocumentLook(m, **parts | changes)


def test_search_finds_all_words_in_any_case_among_those_chosen() -> None:
    assert looks.search(look()).tolist() == [0, 1, 2, 3]
    assert looks.search(look(), "APPLES").tolist() == [0, 2]
    assert looks.search(look(), "apples red").tolist() == [0]
    assert looks.search(look(), "red", np.array([1, 2])).tolist() == [1]
    assert looks.search(look(), wrong=True).tolist() == [1]
    assert looks.search(look(logits=None), wrong=True).tolist() == [0, 1, 2, 3]
    assert looks.search(look(), "no such words").tolist() == []


def test_a_long_document_is_folded_and_stays_escaped() -> None:
    short = tinted(look(), 1, "light", folded=8)
    assert "cars" not in short and short.endswith(" …</span></div>") and "<b>Red" not in short
    assert "cars" in tinted(look(), 1, "light", folded=900) and "…" not in tinted(look(), 1, "light", folded=900)


def test_reading_to_the_end_refuses_another_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looks, "_asked", lambda token, what, **_: {"step": 8})
    assert looks.ask_whole("t", 0, 8) == {"step": 8}
    with pytest.raises(InputError, match="from step 4 to 8"):
        looks.ask_whole("t", 0, 4)


def test_a_single_point_opens_its_document_and_a_lasso_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    class Chosen:
        def __init__(self, *ids: int) -> None:
            self.selection = type("S", (), {"points": [{"customdata": [i]} for i in ids]})

    opened: list[int] = []
    for ids in ((), (3,), (3, 1, 3)):
        monkeypatch.setattr(maps.st, "session_state", {"k": Chosen(*ids)})
        maps._chosen("k", opened.append)
    assert opened == [3]
    assert maps._ids(Chosen(3, 1, 3)).tolist() == [1, 3] and maps._ids(Chosen()) is None


def test_a_plane_keeps_distances_of_flat_points() -> None:
    points = np.random.default_rng(0).normal(size=(9, 2)) @ np.random.default_rng(1).normal(size=(2, 6))
    flat = maps.plane(points)
    apart = np.linalg.norm(points[:, None] - points[None], axis=-1)
    assert np.allclose(np.linalg.norm(flat[:, None] - flat[None], axis=-1), apart)
    assert np.array_equal(maps.plane(points[:1]), np.zeros((1, 2))) and maps.plane(np.ones((4, 1))).shape == (4, 2)


def test_a_long_end_that_was_not_read_is_folded_away_but_there() -> None:
    long = Material(["word " * 400 + "<i>end</i>"], [["word"]], np.array([0]), ["a"], np.array([0]), [], "")
    one = DocumentLook(
        long, 0, 1.0, 0.1, "stable", np.ones((1, 1)), np.ones((1, 1)), None, None, None, np.zeros(1, int), np.zeros((1, 1)), [[]],
        np.zeros(1),
    )  # fmt: skip
    out = tinted(one, 0, "dark")
    assert "<details" in out and "&lt;i&gt;end&lt;/i&gt;" in out and out.count("word") == 400
    assert "<details" not in tinted(one, 0, "dark", folded=900)


def test_a_mixture_bar_is_full() -> None:
    import re

    from dashboard.documents.html import mixture_bar

    mixture = np.array([0.9, 0.085, 0.008, 0.007])
    widths = [float(w) for w in re.findall(r"width:([\d.]+)%", mixture_bar(mixture, "light", "x"))]
    assert sum(widths) == pytest.approx(100, abs=0.05) and "all others: 1.5%" in mixture_bar(mixture, "light", "x")
