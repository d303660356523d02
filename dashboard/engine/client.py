"""The page process's side of the engine: one object that starts the cluster, knows its state and reaches its runs.

Dask's client lives in an event loop of its own, in a thread of its own. The coroutines offered here may be awaited
from any other loop. They ask the workers for slices; nothing is ever pushed.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, TypeVar

from dashboard.engine import tasks
from dashboard.engine.cluster import EmbeddedCluster
from dashboard.engine.handles import EngineError, RunHandle
from dashboard.engine.pool import Workers
from dashboard.engine.scenes import PreparedScene, Scenes
from dashboard.process_state import once
from ddcl_core.config import RunConfig
from ddcl_core.errors import InputError

T = TypeVar("T")
_LOG = logging.getLogger("ddcl.engine")
_START_TIMEOUT = 120.0


@dataclass(frozen=True)
class EngineStatus:
    """What a page says about the engine.

    state: 'stopped', 'starting', 'ready' or 'error'. text: plain words. progress: 0 to 1.
    device: for example 'CPU · 2 workers', or '' until it is known.
    """

    state: str
    text: str
    progress: float
    device: str = ""


class Engine:
    """Starts in the background, says how far it is, makes runs and prepares scenes. One for each server process.

    scheduler: address of a running Dask scheduler, or None for an embedded cluster.
    device: what DDCL_DEVICE says, handed to the embedded workers.
    runs: number of embedded run workers; None for one a core. connect_seconds: patience with a scheduler elsewhere.
    """

    def __init__(
        self,
        scheduler: str | None = None,
        device: str | None = None,
        runs: int | None = None,
        connect_seconds: float = 30.0,
    ) -> None:
        self._scheduler = scheduler
        self._device = device
        self._runs = runs
        self._connect_seconds = connect_seconds
        self._status = EngineStatus("stopped", "The engine has not been started", 0.0)
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._cluster: EmbeddedCluster | None = None
        self._prefetch: list[tuple[RunConfig, ...]] = []
        self.workers: Workers | None = None
        self.scenes: Scenes | None = None

    # ---- life ------------------------------------------------------------------------------------------------------

    def start(self, prefetch: Sequence[Sequence[RunConfig]] = ()) -> "Engine":
        """Begin starting, and return at once; `prefetch` names scenes to prepare before anyone asks for them."""
        if self._thread is None or not self._thread.is_alive():
            self._prefetch = [tuple(configs) for configs in prefetch]
            self._say("Starting workers", 0.02)
            self._thread = threading.Thread(target=self._run_thread, name="ddcl-engine", daemon=True)
            self._thread.start()
            atexit.register(self.stop)
        return self

    def stop(self, timeout: float = 10.0) -> None:
        """End every worker; returns when they are gone."""
        atexit.unregister(self.stop)
        thread, loop = self._thread, self._loop
        if thread is None or not thread.is_alive() or loop is None or self._stop is None:
            return
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(self._stop.set)
        thread.join(timeout)
        if self._cluster is not None:
            self._cluster.kill()

    def status(self) -> EngineStatus:
        """The present state; cheap, from any thread."""
        status = self._status
        if status.state == "ready" and self.workers is not None:
            return EngineStatus("ready", status.text, 1.0, self.workers.describe())
        return status

    async def wait_ready(self, report: Callable[[str, float], None] = lambda text, progress: None) -> None:
        """Return when runs can be made, telling the way there; raises EngineError when it cannot start."""
        while True:
            status = self.status()
            if status.state == "ready":
                return
            if status.state in ("error", "stopped"):
                raise EngineError(status.text)
            report(status.text, status.progress)
            await asyncio.sleep(0.1)

    # ---- runs and scenes -------------------------------------------------------------------------------------------

    async def prepare(self, configs: Sequence[RunConfig]) -> PreparedScene:
        """The tokens and maps that these runs share, loaded or being loaded; the same configurations share one."""
        return await self.call(self._scenes().get(tuple(configs)))

    async def create_run(
        self,
        config: RunConfig,
        scene: PreparedScene,
        snapshot: bytes | None = None,
        maps: dict[str, bytes] | None = None,
    ) -> RunHandle:
        """A run on the worker with the fewest runs; raises InputError for what cannot be run, EngineError otherwise."""
        return await self.call(self._workers().create_run(config, scene.tokens, snapshot, maps))

    async def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Await a coroutine of the engine's loop from another loop."""
        loop = self._loop
        if loop is None or loop.is_closed():
            work.close()
            raise EngineError("The engine is not running; start the app again.")
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, loop))

    def begin(self, function: Callable[..., Any], *args: Any) -> Future[Any]:
        """Begin a task of seconds on the worker that disturbs no run; from any thread.

        Raises EngineError while the engine is starting.
        """
        scenes, loop = self._scenes(), self._loop
        if loop is None or loop.is_closed():
            raise EngineError("The engine is not running; start the app again.")
        return asyncio.run_coroutine_threadsafe(scenes.beside(function, *args), loop)

    def progress(self, topic: str) -> tuple[float, str] | None:
        """How far a scene's preparation is: fraction and words, or None when nothing has been said."""
        return None if self.scenes is None else self.scenes.progress.get(topic)

    def cancel(self, topic: str) -> None:
        """Stop the work of a topic where it next says how far it is; from any thread. What has not begun never will."""
        scenes, loop = self.scenes, self._loop
        if scenes is not None and loop is not None and not loop.is_closed():
            asyncio.run_coroutine_threadsafe(scenes.cancel(topic), loop)

    def worker_pids(self) -> dict[str, int]:
        """Name -> process number of the embedded workers; empty with a cluster started elsewhere."""
        return {} if self._cluster is None else self._cluster.pids()

    # ---- inside the engine's thread --------------------------------------------------------------------------------

    def _workers(self) -> Workers:
        if self.workers is None:
            raise EngineError("The engine is still starting; try again in a moment.")
        return self.workers

    def _scenes(self) -> Scenes:
        if self.scenes is None:
            raise EngineError("The engine is still starting; try again in a moment.")
        return self.scenes

    def _say(self, text: str, progress: float, state: str = "starting") -> None:
        self._status = EngineStatus(state, text, progress)

    def _run_thread(self) -> None:
        try:
            asyncio.run(self._main())
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - a thread has nobody to raise to
            _LOG.debug("The engine stopped", exc_info=True)
            text = str(error) if isinstance(error, (InputError, EngineError)) else f"The engine stopped: {error!r}."
            self._status = EngineStatus("error", text, 0.0)
        finally:
            self._loop = None

    async def _main(self) -> None:
        from distributed import Client

        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        address = self._scheduler or await self._start_cluster()
        try:
            async with Client(
                address,
                asynchronous=True,
                set_as_default=True,  # actor proxies look the client up by this
                direct_to_workers=self._scheduler is None,
                timeout=self._connect_seconds,
            ) as client:
                await self._serve(client)
        except OSError as error:
            raise EngineError(f"The Dask scheduler {address} cannot be reached ({error}).") from error
        finally:
            if self._cluster is not None:
                await self._cluster.close()
            self._status = EngineStatus("stopped", "The engine has stopped", 0.0)

    async def _start_cluster(self) -> str:
        self._cluster = EmbeddedCluster(**({} if self._runs is None else {"runs": self._runs}))
        self._cluster.on_worker_gone = lambda name, pid: self.workers and self.workers.forget(name)
        await self._cluster.start()
        return self._cluster.address

    async def _serve(self, client: Any) -> None:
        assert self._stop is not None
        if self._scheduler is not None:
            await self._ship(client)
        workers = Workers(client, embedded=self._cluster is not None, device=self._device)
        scenes = Scenes(client, workers)
        client.subscribe_topic(tasks.PROGRESS_TOPIC, scenes.on_progress)
        expected = 1 if self._cluster is None else self._cluster.runs
        deadline = time.monotonic() + _START_TIMEOUT
        while not workers.ready:
            await workers.refresh()
            found = len(workers.run_workers)
            words = f"Loading PyTorch on {_workers_in_words(found)}" if found else "Starting workers"
            self._say(words, 0.1 + 0.3 * min(found / expected, 1.0) + (0.2 if found else 0.0))
            if workers.problem is not None:
                raise InputError(workers.problem)
            if time.monotonic() > deadline:
                raise EngineError("No worker was ready within two minutes; see the server's log.")
            await asyncio.sleep(0.1)
        self.workers, self.scenes = workers, scenes
        self._say("Ready", 1.0, "ready")
        side = asyncio.create_task(self._warm_the_rest(scenes))
        try:
            while not self._stop.is_set():
                if self._cluster is not None and not self._cluster.scheduler_alive:
                    raise EngineError("The scheduler process ended; restart the app.")
                await workers.refresh()
                with contextlib.suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(self._stop.wait(), 0.5)
        finally:
            side.cancel()
            workers.close()

    async def _warm_the_rest(self, scenes: Scenes) -> None:
        """Prepare the first scene, then load umap and transformers where maps are fitted."""
        for configs in self._prefetch:
            with contextlib.suppress(Exception):
                prepared = await scenes.get(configs)
                await asyncio.wait_for(prepared.map("pca"), 60.0)
        with contextlib.suppress(Exception):
            await scenes.warm()

    async def _ship(self, client: Any) -> None:
        from dashboard.engine import ship

        self._say("Sending the code to the cluster's workers", 0.05)
        await client.wait_for_workers(1, timeout=_START_TIMEOUT)
        await client.upload_file(str(ship.bundle()))
        missing = await client.run(ship.missing_modules)
        lacking = sorted({name for names in missing.values() for name in names})
        if lacking:
            raise InputError(f"The cluster's workers lack {', '.join(lacking)}; install that there and start again.")


def _workers_in_words(count: int) -> str:
    return "1 worker" if count == 1 else f"{count} workers"


def get_engine() -> Engine:
    """This process's engine, from DDCL_SCHEDULER and DDCL_DEVICE; it is started by the server, not by this call."""
    scheduler, device = (os.environ.get(name) or None for name in ("DDCL_SCHEDULER", "DDCL_DEVICE"))
    return once("engine", lambda: Engine(scheduler, device))


__all__ = ["Engine", "EngineError", "EngineStatus", "PreparedScene", "RunHandle", "get_engine"]
