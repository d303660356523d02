"""Tokens and maps that runs share: prepared once for each scene, on workers, for every panel and viewer."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from dashboard.engine import kinds, tasks
from dashboard.engine.cluster import BACKGROUND
from dashboard.engine.pool import Workers
from dashboard.live.frames import MAP_KINDS
from ddcl_core.config import RunConfig

KEPT_SCENES = 8


class PreparedScene:
    """One scene on the cluster. tokens: Dask future of the TokenScene. `map(kind)`: awaits a fitted map."""

    def __init__(self, digest: str, tokens: Any, maps: dict[str, asyncio.Task[dict[str, Any]]]) -> None:
        self.digest = digest
        self.topic = digest
        self.tokens = tokens
        self._maps = maps
        self._loop = asyncio.get_running_loop()

    async def map(self, kind: str) -> dict[str, Any]:
        """{"blob", "message", "available"} of a fitted map; from any loop. Raises what loading or fitting raised."""
        waiter = asyncio.run_coroutine_threadsafe(_shielded(self._maps[kind]), self._loop)
        return await asyncio.wrap_future(waiter)

    async def ready(self) -> None:
        """Return when the tokens are loaded; raises InputError when they cannot be."""
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(_result(self.tokens, fetch=False), self._loop))

    @property
    def failed(self) -> bool:
        """Whether it should be tried anew when it is asked for again."""
        return self.tokens.status in ("error", "lost", "cancelled")

    def release(self) -> None:
        """Let the workers forget it."""
        for task in self._maps.values():
            task.cancel()


class Scenes:
    """The last few prepared scenes. Every method belongs to the engine's loop."""

    def __init__(self, client: Any, workers: Workers) -> None:
        self._client = client
        self._workers = workers
        self._kept: OrderedDict[str, PreparedScene] = OrderedDict()
        self._fitting = 0
        self._background_warm = False
        self.progress: dict[str, tuple[float, str]] = {}

    async def get(self, configs: Sequence[RunConfig]) -> PreparedScene:
        """The scene of these runs, prepared or being prepared."""
        digest = hashlib.sha256("".join(sorted({c.scene_digest() for c in configs})).encode()).hexdigest()[:16]
        kept = self._kept.get(digest)
        if kept is None or kept.failed:
            kept = self._kept[digest] = self._begin(digest, configs)
        self._kept.move_to_end(digest)
        while len(self._kept) > KEPT_SCENES:
            old, scene = self._kept.popitem(last=False)
            scene.release()
            self.progress.pop(old, None)
        return kept

    def on_progress(self, event: tuple[float, Any]) -> None:
        """What workers say of their progress."""
        _, said = event
        with contextlib.suppress(KeyError, TypeError):
            self.progress[said["topic"]] = (said["progress"], said["text"])

    async def warm(self) -> None:
        """Load PyTorch, umap and transformers on the background worker, while the first page is being read."""
        if self._workers.background is None:
            return
        await self.background(tasks.warm_background_worker)
        self._background_warm = True
        for task in (tasks.warm_map_worker, tasks.warm_text_worker):
            await self.background(task)

    def _begin(self, digest: str, configs: Sequence[RunConfig]) -> PreparedScene:
        first = configs[0]
        distinct = {config.scene_digest(): config.to_dict() for config in configs}
        place = self._quick_worker()
        where = {"workers": [place], "allow_other_workers": True} if place else {}
        # A key of its own each time: a failed attempt must not answer for the next.
        kind, given = kinds.kind_name(first), kinds.kind_of(first).given(first)
        tokens = self._client.submit(tasks.load_tokens, kind, first.to_dict(), digest, given, pure=False, **where)
        pool = self._client.submit(tasks.scout, kind, list(distinct.values()), tokens, digest, pure=False, **where)
        maps = {kind: asyncio.create_task(self._fit(pool, kind, first.seed, digest, where)) for kind in MAP_KINDS}
        for task in maps.values():
            task.add_done_callback(lambda t: t.cancelled() or t.exception())  # seen, even if nobody asks
        return PreparedScene(digest, tokens, maps)

    async def _fit(self, pool: Any, kind: str, seed: int, topic: str, where: dict[str, Any]) -> dict[str, Any]:
        if kind == "umap":
            await _result(pool, fetch=False)
            return await self.background(tasks.fit_map, pool, kind, seed, topic)
        return await _result(self._client.submit(tasks.fit_map, pool, kind, seed, topic, pure=False, **where))

    async def cancel(self, topic: str) -> None:
        """Tell the workers that nobody wants the work of this topic; forget the scene, so that asking again begins anew."""
        from distributed import Event

        event = Event(tasks.cancel_name(topic), client=self._client)
        await event.set()
        self._kept.pop(topic, None)
        await asyncio.sleep(4 * tasks.CANCEL_SECONDS + 5.0)  # long enough for a batch under way to end
        await event.clear()

    async def beside(self, function: Any, *args: Any) -> Any:
        """Run a task where `background` does, but without waiting for its turn: a UMAP may be computed meanwhile."""
        place = self._workers.background
        where = {"workers": [place], "allow_other_workers": True} if place is not None else {}
        return await _result(self._client.submit(function, *args, pure=False, **where))

    async def background(self, function: Any, *args: Any) -> Any:
        """Run a long task where it disturbs no run; the worker has one thread, so one UMAP fit at a time."""
        self._fitting += 1
        try:
            where: dict[str, Any] = {}
            if self._workers.background is not None:
                where = {"workers": [self._workers.background], "allow_other_workers": True}
                if self._workers.has_resource(BACKGROUND):
                    where = {"resources": {BACKGROUND: 1}}  # waits for a restarted worker
            return await _result(self._client.submit(function, *args, pure=False, **where))
        finally:
            self._fitting -= 1

    def _quick_worker(self) -> str | None:
        """Where a scene is loaded: the background worker, or while that is busy or cold, a run worker."""
        if self._background_warm and self._fitting == 0 and self._workers.background is not None:
            return self._workers.background
        place = self._workers.least_loaded()
        return place.address if place is not None else None


async def _result(future: Any, fetch: bool = True) -> Any:
    """Await a Dask future; without `fetch` only until it is there, raising what its task raised."""
    if fetch:
        return await future.result()
    error = await future.exception()
    if error is not None:
        raise error
    return None


async def _shielded(task: asyncio.Task[dict[str, Any]]) -> dict[str, Any]:
    return await asyncio.shield(task)
