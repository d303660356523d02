"""Configurations: what they refuse, in words, and that they survive JSON."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddcl_core import DataConfig, EncoderConfig, InputError, RunConfig, ScheduleConfig

ANY = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.lists(st.integers(), max_size=2))


def test_a_configuration_survives_json():
    config = RunConfig(
        data=DataConfig("custom", texts=("a", "b"), text_labels=("x", "y")), encoder=EncoderConfig("residual", heads=2),
        schedule=ScheduleConfig("cosine", 3.0, 0.1, 50), seed=5, batch_documents=4, epsilon=0.5,
    )  # fmt: skip
    again = RunConfig.from_dict(json.loads(json.dumps(config.to_dict())))
    assert again == config and again.digest() == config.digest()
    assert again.with_(epsilon=0.4).digest() != config.digest()


def test_runs_that_differ_in_speed_or_heat_share_a_scene_and_others_do_not():
    config = RunConfig()
    assert config.with_(epsilon=1.0, temperature=9.0, objective="F").scene_digest() == config.scene_digest()
    for changes in ({"seed": 8}, {"data": DataConfig(dim=16)}, {"num_prototypes": 9}, {"init_scale": 0.1}):
        assert config.with_(**changes).scene_digest() != config.scene_digest()


@pytest.mark.parametrize("part", [RunConfig, DataConfig, EncoderConfig, ScheduleConfig])
@given(data=st.data())
def test_any_value_is_taken_or_refused_in_one_sentence(part, data):
    name = data.draw(st.sampled_from([f for f in part.__dataclass_fields__ if f not in ("data", "encoder", "schedule")]))
    value = data.draw(ANY)
    try:
        part(**{name: value})
    except InputError as error:
        assert str(error).endswith(".") and "\n" not in str(error)


@pytest.mark.parametrize("values", [None, [], {"sead": 7}, {"data": 5}, {"data": {"kinds": "bbc"}}, {"encoder": {"layers": "two"}}])
def test_a_mapping_that_is_no_configuration_is_refused(values):
    with pytest.raises(InputError):
        RunConfig.from_dict(values)


@pytest.mark.parametrize("temperature", [0, -1, float("nan"), float("inf"), 1e-5, 1e7, "2", True])
def test_temperatures_that_cannot_be(temperature):
    with pytest.raises(InputError, match="temperature"):
        RunConfig().with_(temperature=temperature)
    assert RunConfig().with_(temperature=1e-4).temperature == 1e-4


def test_heads_that_do_not_divide_the_dimension_are_refused_before_anything_is_loaded():
    with pytest.raises(InputError, match="choose one of 1, 2, 3, 6"):
        RunConfig(data=DataConfig(dim=6))
    assert RunConfig(data=DataConfig(dim=6), encoder=EncoderConfig("none")).data.dim == 6
