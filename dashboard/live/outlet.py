"""Where a session's messages go: to the client that is attached, or nowhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dashboard.live import wire

CREDITS = 4  # frames messages that may be under way to the client

Send = Callable[[bytes], None]


class Outlet:
    """Sends to the attached client, counts what it has not acknowledged, and remembers the last status.

    Nothing here blocks, and nothing is kept for a client that is not there: the tracks of the panels remember.
    """

    def __init__(self) -> None:
        self._send: Send | None = None
        self._unacknowledged: list[int] = []
        self._next = 0
        self._said: tuple[str, str, float | None] | None = None

    @property
    def attached(self) -> bool:
        """Whether somebody listens."""
        return self._send is not None

    def attach(self, send: Send) -> None:
        """A client listens; tell it the state with `repeat` once it knows what the state is about."""
        self._send = send
        self._unacknowledged.clear()

    def detach(self) -> None:
        """The client is gone."""
        self._send = None

    def send(self, message: bytes) -> None:
        """Send a packed message."""
        if self._send is not None:
            self._send(message)

    def tell(self, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray] | None = None) -> None:
        """Pack and send a message."""
        if self._send is not None:
            self._send(wire.pack(header, arrays))

    def say(self, state: str, text: str, progress: float | None = None) -> None:
        """Send a status unless it says what the last one said."""
        said = (state, text, None if progress is None else round(progress, 2))
        if said != self._said:
            self._said = said
            self.repeat()

    def number(self) -> int:
        """The next number of a frames message."""
        self._next += 1
        return self._next - 1

    def frames(self, n: int, message: bytes) -> None:
        """Send frames message `n`, which wants an acknowledgement."""
        if self._send is not None:
            self._unacknowledged.append(n)
            self._send(message)

    def acknowledge(self, n: int) -> None:
        """The client has message `n` and all before it."""
        self._unacknowledged = [other for other in self._unacknowledged if other > n]

    def forgive(self) -> None:
        """Wait for no acknowledgement of what has been sent so far."""
        self._unacknowledged.clear()

    def may_send(self, count: int) -> bool:
        """Whether `count` more frames messages fit under the limit."""
        return len(self._unacknowledged) + count <= max(CREDITS, count)

    def repeat(self) -> None:
        """Send the last status again."""
        if self._said is not None:
            state, text, progress = self._said
            self.tell({"type": "status", "state": state, "text": text, "progress": progress})
