"""What may be opened, and what a client may say."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard.live import messages
from dashboard.live.registry import Registry
from ddcl_core.config import RunConfig
from ddcl_core.errors import InputError

CONFIGS = [RunConfig(epsilon=1.0), RunConfig(epsilon=0.05)]


def test_tokens_are_unguessable_and_lead_back() -> None:
    scenes = Registry()
    tokens = {scenes.register(CONFIGS, ["a", "b"]) for _ in range(20)}
    assert len(tokens) == 20 and all(len(token) >= 24 for token in tokens)
    assert scenes.get(tokens.pop()).labels == ("a", "b")
    assert scenes.get("nonsense") is None


def test_the_same_scene_keeps_its_token() -> None:
    scenes = Registry()
    token = scenes.register(CONFIGS)
    assert scenes.register(CONFIGS, reuse=token) == token
    assert scenes.register(CONFIGS[:1], reuse=token) != token


def test_bounded_and_forgetting() -> None:
    now = [0.0]
    scenes = Registry(capacity=3, lifetime=10.0, clock=lambda: now[0])
    tokens = [scenes.register(CONFIGS) for _ in range(4)]
    assert scenes.get(tokens[0]) is None and len(scenes) == 3
    now[0] = 8.0
    assert scenes.get(tokens[1]) is not None  # use renews it
    now[0] = 12.0
    assert scenes.get(tokens[1]) is not None and scenes.get(tokens[2]) is None


def test_scenes_that_cannot_share_a_map_are_refused() -> None:
    scenes = Registry()
    with pytest.raises(InputError, match="same seed"):
        scenes.register([RunConfig(seed=1), RunConfig(seed=2)])
    with pytest.raises(InputError, match="1 to 4"):
        scenes.register([])
    with pytest.raises(InputError, match="labels"):
        scenes.register(CONFIGS, ["one"])


def test_good_messages() -> None:
    parse = lambda **m: messages.parse(json.dumps(m))  # noqa: E731
    assert parse(type="open", scene="x", resume=None, extra=1) == {"type": "open", "scene": "x", "resume": None}
    assert parse(type="control", panel=1, epsilon=0.5) == {"type": "control", "panel": 1, "epsilon": 0.5}
    leveled = parse(type="control", panel=0, level=2, epsilon=0.5, temperature=3)
    assert leveled == {"type": "control", "panel": 0, "epsilon@2": 0.5, "temperature@2": 3.0}
    assert parse(type="step") == {"type": "step", "who": "both", "count": 1}
    assert parse(type="reset") == {"type": "reset", "seed": None}
    assert parse(type="speed", steps_per_second=0)["steps_per_second"] == 0.0


@pytest.mark.parametrize(
    "text",
    [
        "", "null", "[]", "7", "{}", '{"type": 3}', '{"type": ["open"]}', '{"type": "open"}',
        '{"type": "open", "scene": 5}', '{"type": "open", "scene": "' + "x" * 99 + '"}',
        '{"type": "control", "panel": 9, "epsilon": 1}', '{"type": "control", "panel": 0}',
        '{"type": "control", "panel": 0, "epsilon": -1}', '{"type": "control", "panel": 0, "temperature": 0}',
        '{"type": "control", "panel": 0, "epsilon": NaN}', '{"type": "control", "panel": 0, "epsilon": "1"}',
        '{"type": "control", "panel": 0, "level": 9, "epsilon": 1}',
        '{"type": "control", "panel": true, "epsilon": 1}', '{"type": "play", "playing": 1}',
        '{"type": "speed", "steps_per_second": 1e9}', '{"type": "step", "who": "nobody"}',
        '{"type": "step", "count": 0.5}', '{"type": "reset", "seed": -1}', '{"type": "ack"}',
        '{"type": "extend", "steps": 1e99}', '{"type": "map", "kind": "globe"}', "[" * 3000, "x" * 5000,
    ],
)  # fmt: skip
def test_bad_messages_get_a_sentence(text: str) -> None:
    with pytest.raises(InputError) as caught:
        messages.parse(text)
    assert str(caught.value).endswith(".")


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(st.text(max_size=5), st.none() | st.booleans() | st.floats() | st.text(max_size=5), max_size=5))
def test_nothing_else_is_raised(fields: dict[str, object]) -> None:
    for kind in ("open", "control", "play", "step", "ack", "speed", "reset", "visible", "extend", "map"):
        try:
            messages.parse(json.dumps({**fields, "type": kind}))
        except InputError:
            pass
