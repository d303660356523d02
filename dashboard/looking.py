"""When a page looks closely at its runs: what stands below a live view and is read out of one moment of them."""

from __future__ import annotations

import html
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import streamlit as st

from dashboard.engine.client import get_engine
from dashboard.live.hub import get_hub
from ddcl_core.errors import InputError

AGAIN = 5.0  # seconds before an attempt that failed is repeated


@dataclass(frozen=True)
class Pulse:
    """How far the live runs are: 'waiting' (nothing to see yet), 'training' or 'resting', and the step."""

    state: str
    step: int = -1


class Look(Protocol):
    """One moment of the runs; `step` is that of the one that is behind."""

    @property
    def step(self) -> int: ...


@dataclass(frozen=True)
class Watch:
    """What a page looks at. take: a look from the last one, raises InputError; what: of a look, in a few words."""

    key: str  # of the session, and of the button
    button: str
    runs: tuple[str, str, str]  # "the run has", "rests", and what follows it: for the sentences
    first: int  # step of the first look that nobody asked for
    take: Callable[[str, Any], Look]
    what: Callable[[Any], str]


def pulse(token: str) -> Pulse:
    """The state of the runs that show this scene; costs nothing, asks no worker."""
    session = get_hub(get_engine()).showing(token)
    if session is None or not session.panels or any(panel.handle is None for panel in session.panels):
        return Pulse("waiting")
    going = session.attached and session.visible and session.playing and not session.finished
    return Pulse("training" if going else "resting", session.step)


def is_due(now: Pulse, seen: int | None, first: int) -> bool:
    """Whether to look without being asked: at step `first`, when the run rests, and when it has been started anew.

    seen: the run's step at the last look. While it trains a look is not replaced, also not an early one that was asked
    for: the lists that a person has just opened would close.
    """
    if now.state == "resting":
        return now.step >= 0 and now.step != seen
    return now.state == "training" and now.step >= first and (seen is None or seen > now.step)


def kept_look(key: str, token: str) -> Any:
    """The last look at the runs of this scene, or None."""
    held = st.session_state.get(f"{key}_look")
    return held[1] if held is not None and held[0] == token else None


def keep_watch(token: str, watch: Watch) -> None:
    """The line with the button; looks when it is due. Call it in a fragment that runs every few seconds."""
    now, look, failure = pulse(token), kept_look(watch.key, token), f"{watch.key}_look_failed"
    seen = st.session_state[f"{watch.key}_look"][2] if look is not None else None
    words, press = st.columns([4, 1.4], vertical_alignment="center")
    with press:
        asked = st.button(watch.button, key=f"{watch.key}-look", width="stretch", disabled=now.state == "waiting")
    failed = st.session_state.get(failure)
    if asked or (is_due(now, seen, watch.first) and (failed is None or time.monotonic() - failed[0] > AGAIN)):
        try:
            with words, st.spinner("Looking closely …"):
                st.session_state[f"{watch.key}_look"] = (token, watch.take(token, look), now.step)
            st.session_state[failure] = failed = None
        except InputError as error:
            st.session_state[failure] = failed = (time.monotonic(), str(error))
        else:
            st.rerun()
    with words:
        said = failed[1] if failed is not None else state_words(now, look, watch)
        st.html(f'<p class="ddcl-note" role="status">{html.escape(said)}</p>')


def state_words(now: Pulse, look: Any, watch: Watch) -> str:
    """What can be seen below, and when it will be looked at again."""
    begun, rest, follow = watch.runs
    if look is None:
        later = f"as soon as {begun} begun" if now.state == "waiting" else f"at step {watch.first}, and again when {rest}"
        return f"{follow[0].upper()}{follow[1:]} appear {later}."
    what = f"Below: step {look.step}, {watch.what(look)}."
    if now.state == "training" and now.step > look.step:
        return f"{what} Training is at step {now.step}; {follow} follow when {rest}, or when you ask."
    return what
