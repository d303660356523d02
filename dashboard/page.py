"""What every page with a live picture does alike: its state in this tab and in the address, its example, its scene."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Generic, TypeVar

import streamlit as st

from dashboard.live.registry import register_scene
from dashboard.presets import Panel, Preset
from dashboard.theme import plain, subscripts
from ddcl_core.errors import InputError

State = TypeVar("State")
SETTLED = 3.0  # seconds after which a browser has surely taken up the address it was told
VISITED = 50


class Page(Generic[State]):
    """The state of one page in this tab, a frozen dataclass.

    key: prefix of what is kept in the session. read: from a link, with a sentence for each thing it got wrong. write: to
    a link. looked: names of the fields that only say what is looked at; they begin no new run. moved: called with the
    state when the browser's Back or Forward has led to it.
    """

    def __init__(
        self, key: str, read: Callable[[Mapping[str, str]], tuple[State, list[str]]], write: Callable[[State], dict[str, str]],
        looked: Sequence[str] = (), moved: Callable[[State], None] = lambda state: None,
    ) -> None:  # fmt: skip
        self._key, self._read, self._write, self._looked, self._moved = key, read, write, tuple(looked), moved

    # ---- the state ---------------------------------------------------------------------------------------------------

    def state(self) -> State:
        """What runs: from the link when the page opens or the browser goes back, else from the page itself. Once a run."""
        query = st.query_params.to_dict()
        self._set("arrived", st.session_state.get("page") != self._key)
        st.session_state["page"] = self._key
        if self._get("state") is None:
            self._set("state", self._linked(query))
            self._set("shown", self._get("state"))
        elif not self._arrived and self._went_elsewhere(query):
            self._go(self._get("visited", {}).get(_name(query)) or self._linked(query))
        for problem in self._get("problems", []):
            st.warning(plain(problem))
        return self._get("state")

    @property
    def _arrived(self) -> bool:
        return self._get("arrived", True)

    @property
    def shown(self) -> State:
        """What runs, with what was set in the live view since."""
        return self._get("shown")

    @property
    def version(self) -> int:
        """Grows whenever something else begins to run; for the keys of widgets that must forget then."""
        return self._get("version", 0)

    def begin(self, state: State) -> None:
        """Let this run from now on."""
        self._set("state", state)
        self._set("shown", state)
        self._set("problems", [])
        self._set("version", self.version + 1)

    def show(self, state: State) -> None:
        """Remember what is shown, and say it in the address."""
        query, now = self._write(state), time.monotonic()
        self._set("shown", state)
        address, (last, at, seen) = st.query_params.to_dict(), self._get("written", (None, 0.0, True))
        under_way = last == query and not seen and now - at < SETTLED
        bare = last == query and seen and not address and not self._arrived  # Back led to where the page had said nothing
        if address == query:
            self._set("written", (query, at, True))
        elif not under_way and not bare:  # each writing is a step of the browser's history
            st.query_params.from_dict(query)
            self._set("written", (query, now, False))
        visited = self._get("visited", {})
        visited.pop(_name(query), None)
        visited[_name(query)] = state
        while len(visited) > VISITED:
            visited.pop(next(iter(visited)))
        self._set("visited", visited)

    def look_at(self, **looked: Any) -> None:
        """Something else is looked at; what runs goes on."""
        if any(getattr(self._get("state"), name) != value for name, value in looked.items()):
            self._set("state", replace(self._get("state"), **looked))
            self.show(replace(self.shown, **looked))

    def _linked(self, query: Mapping[str, str]) -> State:
        state, problems = self._read(query)
        self._set("problems", problems)
        return state

    def _go(self, state: State) -> None:
        same = replace(self.shown, **{name: getattr(state, name) for name in self._looked})
        if same == state:
            self._set("state", replace(self._get("state"), **{name: getattr(state, name) for name in self._looked}))
            self._set("shown", state)
        else:
            problems = self._get("problems", [])
            self.begin(state)
            self._set("problems", problems)
            self._set("token", None)  # what was set by hand since is not part of it: it starts anew
        self._moved(state)

    def _went_elsewhere(self, query: Mapping[str, str]) -> bool:
        """Whether the browser shows an address that this page has not written last.

        A click that overtakes the address on its way to the browser comes with the old one, too; so the new one must have
        been seen once, or be some seconds old.
        """
        written, at, seen = self._get("written")
        if dict(query) == written:
            self._set("written", (written, at, True))
            return False
        if not query:  # where the page was opened without a word: it may stay as it is
            return False
        return seen or time.monotonic() - at > SETTLED

    def _get(self, name: str, otherwise: Any = None) -> Any:
        return st.session_state.get(f"{self._key}_{name}", otherwise)

    def _set(self, name: str, value: Any) -> None:
        st.session_state[f"{self._key}_{name}"] = value

    # ---- what stands on the page -------------------------------------------------------------------------------------

    def example(self, presets: Sequence[Preset], example: str, words: str, own: str = "") -> str | None:
        """The list of examples with the words beside it; returns another one when it has been chosen.

        own: what runs in the example's place, named in the list; then the example itself can be chosen too. The list is
        made anew when the state changes elsewhere, so that it shows what runs.
        """
        titles = ({"": own} if own else {}) | {p.key: p.title for p in presets}
        now = "" if own else example
        pick, beside = st.columns([1, 2.6], gap="medium", vertical_alignment="top")
        with pick:
            chosen = st.selectbox(
                "Example", list(titles), list(titles).index(now), format_func=titles.get,
                key=f"{self._key}-example-{own}-{example}-{self.version}",
            )  # fmt: skip
        with beside:
            st.html(f'<p class="ddcl-watch">{subscripts(words)}</p>')
        return chosen if chosen != now else None

    def pair(self, preset: Preset, pair: int) -> int | None:
        """The comparisons of an example, where it has several; returns another one when it has been chosen."""
        if len(preset.pairs) < 2:
            return None
        names = [pair.title for pair in preset.pairs]
        which = st.segmented_control(
            "Compare", range(len(names)), default=pair, format_func=names.__getitem__, required=True,
            label_visibility="collapsed", key=f"{self._key}-pair-{preset.key}-{pair}",
        )  # fmt: skip
        return which if which != pair else None

    def scene(self, state: Any, panels: Sequence[Panel]) -> str:
        """The name under which the live view finds these runs; the same as before while they are the same."""
        token = register_scene(
            [p.config for p in panels],
            [p.label for p in panels],
            map_kind=state.map or state.preset.map,
            speed=state.preset.steps_per_second,
            reuse=self._get("token"),
        )
        self._set("token", token)
        return token


def panels_or_example(panels_of: Callable[[State], Any], state: State, example: State) -> Any:
    """`panels_of(state)`; with a sentence on the page those of `example` when they cannot be made."""
    try:
        return panels_of(state)
    except InputError as error:
        st.error(plain(f"{error} The example's own settings are shown."))
        return panels_of(example)


def refused(check: Callable[[State], Any], state: State) -> bool:
    """Whether `state` cannot run, said in a sentence on the page."""
    try:
        check(state)
    except InputError as error:
        st.error(plain(f"{error} What runs goes on unchanged."))
        return True
    return False


def sliders(panels: Sequence[Panel]) -> list[dict[str, Any]]:
    """What the live view must know of each panel's sliders."""
    return [{"label": p.label, "epsilon": p.config.epsilon, "temperature": p.config.temperature} for p in panels]


def report_on(view: Mapping[str, Any] | None, token: str) -> Mapping[str, Any] | None:
    """What the live view says of this scene; None while it still speaks of the last one."""
    return view if view and view.get("scene") == token else None


def _name(query: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(query.items()))
