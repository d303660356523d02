"""Which workers there are, which are ready, and on which of them the next run is made."""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from dataclasses import dataclass, field
from typing import Any

from dashboard.engine import kinds, tasks
from dashboard.engine.actor import LiveRun
from dashboard.engine.cluster import BACKGROUND, RUN
from dashboard.engine.handles import EngineError, RunHandle, WorkerLost, seen
from ddcl_core.config import RunConfig
from ddcl_core.errors import InputError

_CREATE_TIMEOUT = 120.0


@dataclass
class _Place:
    address: str
    name: str
    resources: dict[str, float]
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    runs: list[RunHandle] = field(default_factory=list)
    warming: asyncio.Task[None] | None = None
    device: str = ""  # set once PyTorch is loaded there


class Workers:
    """The cluster's workers, refreshed from the scheduler; every method belongs to the engine's loop.

    Runs go to workers with the RUN resource (the embedded cluster), else to those with a GPU resource, else to all.
    """

    def __init__(self, client: Any, *, embedded: bool, device: str | None) -> None:
        self._client = client
        self._embedded = embedded
        self._device = device
        self._places: dict[str, _Place] = {}
        self.problem: str | None = None

    @property
    def run_workers(self) -> list[_Place]:
        """Workers that may hold runs, ready or not."""
        places = [place for place in self._places.values() if not place.gone.is_set()]
        for resource in (RUN, "GPU"):
            some = [place for place in places if resource in place.resources]
            if some or (self._embedded and resource == RUN):
                return some
        return [place for place in places if BACKGROUND not in place.resources] or places

    @property
    def ready(self) -> bool:
        """Whether a run could be made now. At the start, every worker that has come up must be through."""
        places = self.run_workers
        return bool(places) and all(place.device for place in places)

    @property
    def background(self) -> str | None:
        """Address of the worker that fits maps and encodes documents."""
        places = [place for place in self._places.values() if not place.gone.is_set()]
        some = [place for place in places if BACKGROUND in place.resources]
        if not some and not self._embedded and len(places) > len(self.run_workers):
            some = [place for place in places if place not in self.run_workers]
        return some[0].address if some else None

    def least_loaded(self) -> _Place | None:
        """The ready worker with the fewest runs."""
        ready = [place for place in self.run_workers if place.device]
        return min(ready, key=lambda place: len(place.runs)) if ready else None

    def has_resource(self, name: str) -> bool:
        """Whether some worker carries this Dask resource."""
        return any(name in place.resources for place in self._places.values())

    def describe(self) -> str:
        """For example 'CPU · 2 workers'."""
        names = [place.device for place in self.run_workers if place.device]
        kinds = " + ".join(dict.fromkeys(names)) or "no device"
        return f"{kinds} · {len(names)} worker{'' if len(names) == 1 else 's'}"

    async def refresh(self) -> None:
        """Learn who has come and gone, and warm up who is new."""
        identity = await self._client.scheduler.identity()
        present = identity["workers"]
        for address in [a for a in self._places if a not in present]:
            self._places.pop(address).gone.set()
        for address, about in present.items():
            if address not in self._places:
                self._places[address] = _Place(address, str(about["name"]), dict(about.get("resources") or {}))
        for place in self.run_workers:
            if place.warming is None:
                place.warming = asyncio.create_task(self._warm(place))

    def forget(self, name: str) -> None:
        """A worker's process has ended: runs on it fail at once, instead of when the scheduler notices."""
        for place in self._places.values():
            if place.name == name:
                place.gone.set()

    async def create_run(
        self, config: RunConfig, tokens: Any, snapshot: bytes | None, maps: dict[str, bytes] | None
    ) -> RunHandle:
        """A LiveRun on the least loaded worker. Raises InputError for what it cannot run, WorkerLost, EngineError."""
        place = await self._wait_for_place()
        future = self._client.submit(
            LiveRun, config.to_dict(), tokens, snapshot, maps, kind=kinds.kind_name(config),
            actor=True, pure=False, key=f"live-run-{uuid.uuid4().hex}",
            workers=[place.address], allow_other_workers=False,  # else another worker may steal it
        )  # fmt: skip
        handle = _Reservation(place, future)
        try:
            actor = await asyncio.wait_for(_unless_gone(future.result(), place), _CREATE_TIMEOUT)
        except asyncio.TimeoutError as error:
            raise EngineError("A worker did not make the run within two minutes; press reset.") from error
        finally:
            handle.done()
        run = RunHandle(actor, future, place.address, place.gone, lambda: self._released(place, run))
        place.runs.append(run)
        self._share(place)
        return run

    def close(self) -> None:
        """Let go of every run."""
        for place in self._places.values():
            place.gone.set()
            if place.warming is not None:
                place.warming.cancel()

    def _released(self, place: _Place, run: RunHandle) -> None:
        with contextlib.suppress(ValueError):
            place.runs.remove(run)
        self._share(place)

    @staticmethod
    def _share(place: _Place) -> None:
        for run in place.runs:
            run.share = len(place.runs)

    async def _wait_for_place(self) -> _Place:
        for _ in range(600):  # a minute: a restarted worker needs a few seconds
            place = self.least_loaded()
            if place is not None:
                return place
            await asyncio.sleep(0.1)
        raise EngineError("No worker is free to train; wait a little and press reset.")

    async def _warm(self, place: _Place) -> None:
        try:
            future = self._client.submit(
                tasks.warm_run_worker, self._device, workers=[place.address], pure=False, allow_other_workers=False
            )
            about = await _unless_gone(future.result(), place)
            place.device = about["name"]
        except InputError as error:
            self.problem = str(error)
        except (WorkerLost, asyncio.CancelledError):
            pass
        except Exception as error:  # noqa: BLE001 - whatever a foreign worker lacks, the page must say it
            self.problem = f"A worker could not load what it needs: {error}."


class _Reservation:
    """Counts a run that is being made, so that several made at once do not all go to the same worker."""

    def __init__(self, place: _Place, future: Any) -> None:
        self._place = place
        self._mark = RunHandle(None, future, place.address, place.gone, lambda: None)
        place.runs.append(self._mark)

    def done(self) -> None:
        with contextlib.suppress(ValueError):
            self._place.runs.remove(self._mark)


async def _unless_gone(answer: Any, place: _Place) -> Any:
    """Await, but raise WorkerLost as soon as the worker's process has ended."""
    work, gone = asyncio.ensure_future(answer), asyncio.ensure_future(place.gone.wait())
    work.add_done_callback(seen)
    try:
        await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            raise WorkerLost(f"The worker {place.address} is gone.")
        return work.result()
    finally:
        work.cancel()
        gone.cancel()
