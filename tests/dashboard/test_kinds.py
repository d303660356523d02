"""Kinds of run: which module serves a configuration, and what a run on a worker may be asked."""

from __future__ import annotations

import pytest

from dashboard.engine import kinds
from dashboard.engine.actor import LiveRun
from ddcl_core.config import DataConfig, EncoderConfig, RunConfig
from ddcl_core.data.scene import load_scene

TINY = RunConfig(
    data=DataConfig(num_documents=6, tokens_per_document=4, dim=4, clusters=2),
    encoder=EncoderConfig(layers=1, heads=2), num_prototypes=3, max_steps=3,
)  # fmt: skip
NAMES = (
    "METRIC_NAMES", "LIGHT", "config_of", "given", "load", "scout", "make", "frame_of", "extras", "still", "explain",
)  # fmt: skip


def test_a_configuration_finds_its_kind() -> None:
    assert kinds.kind_name(TINY) == "prototypes"
    kind = kinds.kind_of(TINY)
    assert kind.config_of(TINY.to_dict()) == TINY and kind.METRIC_NAMES[:2] == ("epsilon", "temperature")
    assert all(hasattr(kind, name) for name in NAMES)
    assert kinds.known_kind("prototypes") and not kinds.known_kind("os") and not kinds.known_kind(7)


def test_a_run_can_be_asked_by_name_within_the_program_only() -> None:
    live = LiveRun(TINY.to_dict(), load_scene(TINY.data, TINY.seed))
    live.advance(1000.0)
    assert live.still() is None
    assert live.ask("dashboard.engine.prototypes_kind:still") is None
    assert live.ask("dashboard.engine.prototypes_kind:extras", run=None) == {}
    with pytest.raises(ValueError, match="not a function of this program"):
        live.ask("os:getcwd")
