"""A run as the page process holds it: where it lives, and calls to it that notice when its worker is gone."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

CALL_TIMEOUT = 120.0


class EngineError(RuntimeError):
    """The engine cannot do what was asked; the message is a sentence for the page."""


class WorkerLost(EngineError):
    """The worker that held a run is gone, and the run's state since its last snapshot with it."""


class RunHandle:
    """One live run. `call` may be awaited from any loop; `release` lets the worker forget the run."""

    def __init__(
        self, actor: Any, future: Any, address: str, gone: asyncio.Event, on_release: Callable[[], None]
    ) -> None:
        self._actor = actor
        self._future = future
        self._gone = gone
        self._on_release = on_release
        self._loop = asyncio.get_running_loop()
        self.address = address
        self.share = 1  # number of runs on this worker, kept up to date by `Workers`

    async def call(self, method: str, *args: Any, timeout: float = CALL_TIMEOUT, **kwargs: Any) -> Any:
        """Call a method of the run; raises WorkerLost, or what the method raised."""
        work = asyncio.run_coroutine_threadsafe(self._call(method, args, kwargs, timeout), self._loop)
        return await asyncio.wrap_future(work)

    def release(self) -> None:
        """Forget the run; safe to call twice and from any thread."""
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._release)

    def _release(self) -> None:
        if self._actor is not None:
            self._on_release()
            self._actor = self._future = None  # the last references; the scheduler then frees the actor

    async def _call(self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any], timeout: float) -> Any:
        if self._actor is None or self._gone.is_set():
            raise WorkerLost(f"The worker {self.address} is gone.")
        gone = asyncio.ensure_future(self._gone.wait())
        try:
            call = asyncio.ensure_future(self._await(getattr(self._actor, method)(*args, **kwargs)))
            call.add_done_callback(seen)
            await asyncio.wait({call, gone}, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
            if call.done():
                return call.result()
            call.cancel()
            raise WorkerLost(f"The worker {self.address} does not answer.")
        except OSError as error:
            raise WorkerLost(f"The worker {self.address} is gone.") from error
        except RuntimeError as error:
            if isinstance(error, EngineError) or "holding Actor was lost" not in str(error):
                raise
            raise WorkerLost(f"The worker {self.address} is gone.") from error
        finally:
            gone.cancel()

    @staticmethod
    async def _await(answer: Any) -> Any:
        return await answer


def seen(task: asyncio.Future[Any]) -> None:
    """Keep asyncio from reporting the error of a call that nobody waits for any more."""
    if not task.cancelled():
        task.exception()
