"""How slow loading tells how far it is, and how it is stopped."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[float, str], None]  # fraction 0..1 and what is being done, in plain words
Cancelled = Callable[[], bool]


class LoadingCancelled(Exception):
    """The caller's `cancelled` answered True; nothing was loaded and nothing half-finished was stored."""


def checkpoint(progress: Progress | None, cancelled: Cancelled | None, fraction: float, text: str) -> None:
    """Report `fraction` and `text`, or raise LoadingCancelled when the caller wants no more."""
    if cancelled is not None and cancelled():
        raise LoadingCancelled(text)
    if progress is not None:
        progress(min(max(fraction, 0.0), 1.0), text)
