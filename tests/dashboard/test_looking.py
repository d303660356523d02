"""When a page looks at its runs without being asked, and what it says about it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from dashboard.looking import Pulse, Watch, is_due, state_words

WATCH = Watch("x", "Look", ("the runs have", "they rest", "the tables"), 40, lambda token, last: last, lambda look: "3 things")


@pytest.mark.parametrize(
    ("now", "seen", "due"),
    [
        (Pulse("waiting"), None, False),
        (Pulse("training", 39), None, False),
        (Pulse("training", 40), None, True),
        (Pulse("training", 41), 40, False),
        (Pulse("training", 41), 12, False),  # asked for early: it stays, so that an opened list does not close
        (Pulse("training", 41), 300, True),  # started anew since
        (Pulse("training", 30), 300, False),
        (Pulse("resting", 12), None, True),
        (Pulse("resting", 12), 12, False),
        (Pulse("resting", 300), 40, True),
        (Pulse("resting", -1), None, False),
    ],
)
def test_it_looks_first_then_when_the_run_rests_or_was_started_anew(now: Pulse, seen: int | None, due: bool) -> None:
    assert is_due(now, seen, 40) is due


def test_the_line_says_what_is_seen_and_when_it_follows() -> None:
    look = SimpleNamespace(step=12)
    assert state_words(Pulse("waiting"), None, WATCH) == "The tables appear as soon as the runs have begun."
    assert state_words(Pulse("training", 3), None, WATCH) == "The tables appear at step 40, and again when they rest."
    assert state_words(Pulse("resting", 12), look, WATCH) == "Below: step 12, 3 things."
    assert state_words(Pulse("training", 50), look, WATCH) == (
        "Below: step 12, 3 things. Training is at step 50; the tables follow when they rest, or when you ask."
    )
