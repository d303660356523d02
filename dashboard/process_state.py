"""One place for what must exist once a server process.

Streamlit evicts edited modules from `sys.modules` and runs them anew, while the server's routes go on holding the old
ones. Singletons therefore live in a module without a file, which no watcher can evict.
"""

from __future__ import annotations

import sys
import threading
import types
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
_NAME = "_ddcl_lab_process_state"
_holder = sys.modules.setdefault(_NAME, types.ModuleType(_NAME))
_lock: threading.RLock = _holder.__dict__.setdefault("lock", threading.RLock())


def once(name: str, make: Callable[[], T]) -> T:
    """The object called `name`, made by `make` the first time it is asked for."""
    with _lock:
        if name not in _holder.__dict__:
            _holder.__dict__[name] = make()
        return _holder.__dict__[name]


def forget(name: str) -> None:
    """Drop the object called `name`, so that the next `once` makes a new one."""
    with _lock:
        _holder.__dict__.pop(name, None)
