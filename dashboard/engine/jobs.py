"""Computations of seconds to minutes that a page asks for without waiting: begun once for each key, on a worker, with progress."""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from threading import Lock
from typing import Any

from dashboard.engine.client import Engine, get_engine
from dashboard.engine.handles import EngineError
from dashboard.process_state import once
from ddcl_core.errors import InputError

KEPT = 32


@dataclass(frozen=True)
class JobState:
    """state: 'idle' (never begun), 'waiting', 'working', 'done' or 'error'; text and progress in words; the result."""

    state: str
    text: str = ""
    progress: float = 0.0
    result: Any = None


class Jobs:
    """Key -> Future. Thread-safe; the ones used longest ago are forgotten. A job that failed is begun anew when asked for."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._kept: OrderedDict[str, Future[Any]] = OrderedDict()
        self._lock = Lock()

    def begin(self, key: str, function: Callable[..., Any], *args: Any) -> JobState:
        """Begin `function(*args, topic)` on the worker that disturbs no run, unless it has begun; says how far it is.

        The topic is the key: what the function reports progress under, see `dashboard.engine.tasks.reporter`.
        """
        with self._lock:
            future = self._kept.get(key)
            if future is None:
                try:
                    future = self._engine.begin(function, *args, key)
                except EngineError as error:
                    return JobState("waiting", str(error))
                self._kept[key] = future
            self._kept.move_to_end(key)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)[1].cancel()
        return self.state(key)

    def state(self, key: str) -> JobState:
        """How far the job is, without beginning it."""
        with self._lock:
            future = self._kept.get(key)
            if future is None:
                return JobState("idle")
            if not future.done():
                progress, text = self._engine.progress(key) or (0.0, "Waiting for a worker")
                return JobState("working", text, progress)
            if future.cancelled():
                del self._kept[key]
                return JobState("idle")
            error = future.exception()
            if error is None:
                return JobState("done", progress=1.0, result=future.result())
            del self._kept[key]  # the next question tries again
            words = str(error) if isinstance(error, InputError) else "It could not be computed; ask again to try once more."
            return JobState("error", words)

    def cancel(self, key: str) -> None:
        """Give a job up; its worker stops as soon as the function next reports progress or ends."""
        with self._lock:
            future = self._kept.pop(key, None)
        if future is not None and not future.done():
            self._engine.cancel(key)


def job_key(name: str, *what: Any) -> str:
    """A key from a name and whatever plain values determine the result."""
    return f"{name}-{hashlib.sha256(json.dumps(what, sort_keys=True, default=str).encode()).hexdigest()[:16]}"


def jobs() -> Jobs:
    """The jobs of this server process."""
    return once("jobs", lambda: Jobs(get_engine()))
