"""The Stability Lab's decisions: links, forms and what the live view reports."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.lab import (
    LabState, changed_settings, from_query, own_documents, panels_of, settle, to_query,
)  # fmt: skip
from dashboard.presets import PRESETS
from ddcl_core import InputError

EVERY_PAIR = [(p.key, i) for p in PRESETS for i in range(len(p.pairs))]


@pytest.mark.parametrize(("example", "pair"), EVERY_PAIR)
def test_a_link_reproduces_the_state(example, pair):
    state = LabState(
        example, pair, seed=11, epsilon=(0.3, None), temperature=(None, 1.25), map="pca", colour="prototype",
        changes={"num_prototypes": 5, "data.dim": 16, "left.objective": "F", "batch_documents": None},
    )  # fmt: skip
    back, problems = from_query(to_query(state))
    assert back == state and problems == []
    assert panels_of(back) == panels_of(state)


@pytest.mark.parametrize(("example", "pair"), EVERY_PAIR)
def test_both_sides_share_data_seed_and_encoder(example, pair):
    left, right = panels_of(LabState(example, pair, seed=3))
    assert left.config.data == right.config.data and left.config.seed == right.config.seed == 3
    assert left.config.encoder == right.config.encoder and left.config != right.config


def test_changes_reach_one_side_or_both():
    left, right = panels_of(LabState(changes={"left.objective": "V", "num_prototypes": 3, "schedule.end": 0.5}))
    assert (left.config.objective, right.config.objective) == ("V", "L_q")
    assert left.config.num_prototypes == right.config.num_prototypes == 3
    assert left.config.schedule.end == right.config.schedule.end == 0.5


@pytest.mark.parametrize(
    ("query", "word"),
    [
        ({"example": "nothing"}, "example"),
        ({"example": "<script>alert(1)</script>" * 9}, "example"),
        ({"seed": "-1"}, "seed"),
        ({"seed": "7" * 40}, "seed"),
        ({"seed": "٧"}, "seed"),
        ({"pair": "99"}, "pair"),
        ({"eps": "1"}, "eps"),
        ({"eps": "a,b"}, "eps"),
        ({"eps": "nan,1"}, "eps"),
        ({"T": "0,2"}, "temperature"),
        ({"T": "-3,2"}, "temperature"),
        ({"eps": "1e9,1"}, "epsilon"),
        ({"set": "{"}, "settings"),
        ({"set": "[1]"}, "settings"),
        ({"set": '{"no.such": 1}'}, "no.such"),
        ({"set": '{"data.dim": "many"}'}, "dim"),
        ({"set": '{"data": {"kind": "bbc"}}'}, "data"),
        ({"set": '{"data.texts": ["a"]}'}, "texts"),
        ({"set": '{"encoder.layers": 1e99}'}, "layers"),
        ({"set": '{"num_prototypes": true}'}, "num_prototypes"),
        ({"set": '{"device": 5}'}, "device"),
        ({"set": '{"data.model": 5}'}, "model"),
        ({"set": '{"data.num_documents": 100000}'}, "fewer documents"),
        ({"set": '{"num_prototypes": 8.0}'}, "num_prototypes"),
        ({"set": '{"encoder.final_norm": "no"}'}, "final_norm"),
        ({"set": '{"objective": null}'}, "objective"),
    ],
)
def test_a_bad_link_costs_one_sentence_and_keeps_the_rest(query, word):
    state, problems = from_query({"map": "pca"} | query)
    assert len(problems) == 1 and word in problems[0] and problems[0].rstrip().endswith(".")
    assert state == LabState(map="pca")
    panels_of(state)


@given(st.dictionaries(st.sampled_from(["example", "pair", "seed", "eps", "T", "set", "map", "colour"]), st.text(max_size=40)))
def test_no_link_raises(query):
    state, _ = from_query(query)
    panels_of(state)


def test_settled_values_go_into_the_link_only_where_they_differ():
    state = LabState()
    panels = panels_of(state)
    same = {"panels": [{"epsilon": 1.0, "temperature": 2.0}, {"epsilon": 0.05, "temperature": 2.0}], "seed": 7}
    assert to_query(settle(state, panels, same)) == {"example": "collapse"}
    moved = {"panels": [{"epsilon": 0.4, "temperature": 2.0}, {"epsilon": 0.05, "temperature": 3.5}], "seed": 9, "map": "pca"}
    query = to_query(settle(state, panels, moved))
    assert query == {"example": "collapse", "eps": "0.4,", "T": ",3.5", "seed": "9", "map": "pca"}
    back, _ = from_query(query)
    assert [p.config.epsilon for p in panels_of(back)] == [0.4, 0.05]
    assert [p.config.temperature for p in panels_of(back)] == [2.0, 3.5]


def test_a_scheduled_temperature_is_not_taken_for_one_set_by_hand():
    state = LabState("cooling")
    view = {"panels": [{"epsilon": 0.05, "temperature": 6.0}, {"epsilon": 0.05, "temperature": 1.3}]}
    assert settle(state, panels_of(state), view).temperature == (None, None)


@pytest.mark.parametrize("view", [None, {}, {"panels": None}, {"panels": [{}], "seed": "x", "map": 3, "color": []}])
def test_odd_reports_of_the_view_change_nothing(view):
    assert settle(LabState(), panels_of(LabState()), view) == LabState()


def test_the_form_reports_only_what_was_changed():
    state = LabState()
    panels = panels_of(state)
    values = {"num_prototypes": 8, "data.kind": "bbc", "left.objective": "L_q", "right.objective": "F", "data.dim": 16}
    assert changed_settings(panels, values, state) == {"right.objective": "F", "data.dim": 16}


def test_own_documents_with_and_without_labels():
    assert own_documents("one\n\n two \n") == (("one", "two"), ())
    assert own_documents("a\tone\nb\ttwo: x\ty") == (("one", "two: x\ty"), ("a", "b"))
    assert own_documents("a\tone\nno label") == (("a\tone", "no label"), ())
    with pytest.raises(InputError, match="at least one line"):
        own_documents(" \n\t\n")


def test_every_example_says_what_to_watch_in_two_sentences():
    for example in PRESETS:
        sentences = [s for s in example.watch.replace("0.", "0").split(". ") if s]
        assert len(sentences) == 2 and len(example.watch) < 420, example.key
        assert len({p.key for p in PRESETS}) == len(PRESETS)
