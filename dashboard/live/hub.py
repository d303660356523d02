"""All live sessions of a server process: opening, parking after a lost client, resuming, letting go."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dashboard.live.registry import Registry, registry
from dashboard.live.returning import still_shows
from dashboard.live.session import LiveSession
from dashboard.process_state import once
from ddcl_core.errors import InputError

MAX_SESSIONS = 32
PARKED_SECONDS = 60.0
_TAKE_OVER_SECONDS = 1.5  # a reload may open its new socket before the old one's end has been noticed


@dataclass
class _Entry:
    session: LiveSession
    task: asyncio.Task[None]
    token: str = ""  # under which its client knows the scene
    parked_at: float | None = None


class Hub:
    """Sessions by name. Every method belongs to the server's event loop.

    limit: most sessions at a time, parked ones included; the longest parked one makes room for a new viewer.
    parked_seconds: how long the runs of a client that went away are kept.
    """

    def __init__(
        self,
        engine: Any,
        scenes: Registry | None = None,
        limit: int = MAX_SESSIONS,
        parked_seconds: float = PARKED_SECONDS,
    ) -> None:
        self._engine = engine
        self._scenes = scenes if scenes is not None else registry()
        self._limit = limit
        self._parked_seconds = parked_seconds
        self._entries: dict[str, _Entry] = {}
        self._sweeper: asyncio.Task[None] | None = None

    async def open(self, token: str, resume: str | None, send: Callable[[bytes], None]) -> LiveSession:
        """Attach a client to a new session, or to the one it comes back to; raises InputError with a sentence."""
        scene = self._scenes.get(token)
        entry = await self._returning(resume, scene)
        if entry is None:
            if scene is None:
                raise InputError("This picture's scene is no longer known to the server; reload the page.")
            self._make_room()
            session = LiveSession(scene, self._engine)
            entry = _Entry(session, asyncio.create_task(session.run(), name=f"live-{session.id[:6]}"))
            self._entries[session.id] = entry
        entry.parked_at, entry.token = None, token
        entry.session.attach(send)
        if self._sweeper is None or self._sweeper.done():
            self._sweeper = asyncio.create_task(self._sweep(), name="live-sweeper")
        return entry.session

    def park(self, session: LiveSession) -> None:
        """The client is gone: training stops at once, the runs are kept for a while."""
        session.detach()
        entry = self._entries.get(session.id)
        if entry is not None:
            entry.parked_at = time.monotonic()

    def find(self, session_id: str) -> LiveSession | None:
        """The session of this name, attached or parked."""
        entry = self._entries.get(session_id)
        return None if entry is None else entry.session

    def showing(self, token: str) -> LiveSession | None:
        """The session that shows the scene of this token, watched rather than parked; from any thread."""
        entries = [e for e in list(self._entries.values()) if e.token == token and not e.task.done()]
        return min(entries, key=lambda e: e.parked_at is not None).session if entries else None

    def __len__(self) -> int:
        return len(self._entries)

    async def close(self) -> None:
        """Let go of every session."""
        if self._sweeper is not None:
            self._sweeper.cancel()
        for session_id in list(self._entries):
            await self._drop(session_id)

    async def _returning(self, resume: str | None, scene: Any) -> _Entry | None:
        entry = self._entries.get(resume) if resume is not None else None
        if entry is None or entry.task.done():
            return None
        deadline = time.monotonic() + _TAKE_OVER_SECONDS
        while entry.session.attached and time.monotonic() < deadline:
            await asyncio.sleep(0.05)
        if entry.session.attached:
            return None  # a duplicated tab: it gets a session of its own
        session = entry.session
        if scene is None or scene is session.scene:
            return entry
        if not still_shows(session.panels, session.scene, scene):
            await self._drop(session.id)  # the page now shows something else
            return None
        session.scene = scene
        return entry

    def _make_room(self) -> None:
        if len(self._entries) < self._limit:
            return
        parked = [(e.parked_at, name) for name, e in self._entries.items() if e.parked_at is not None]
        if not parked:
            raise InputError(f"All {self._limit} live sessions of this server are in use; try again in a minute.")
        entry = self._entries.pop(min(parked)[1])
        entry.task.cancel()

    async def _sweep(self) -> None:
        while self._entries:
            await asyncio.sleep(min(1.0, self._parked_seconds / 4))
            horizon = time.monotonic() - self._parked_seconds
            for name, entry in list(self._entries.items()):
                if (entry.parked_at is not None and entry.parked_at < horizon) or entry.task.done():
                    await self._drop(name)

    async def _drop(self, session_id: str) -> None:
        entry = self._entries.pop(session_id, None)
        if entry is not None:
            entry.task.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await entry.task


def get_hub(engine: Any) -> Hub:
    """This process's hub."""
    return once("hub", lambda: Hub(engine))
