"""The real thing: processes, actors, a killed worker, the end of a socket. One cluster for the whole file."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Iterator

import numpy as np
import pytest

from dashboard.engine.client import Engine
from dashboard.engine.handles import WorkerLost
from dashboard.engine.jobs import Jobs
from dashboard.live import wire
from dashboard.live.hub import Hub
from dashboard.live.registry import Registry
from ddcl_core.config import DataConfig, EncoderConfig, RunConfig
from ddcl_core.errors import InputError
from tests.dashboard.fakes import Client

DATA = DataConfig(num_documents=6, tokens_per_document=8, dim=8, clusters=3)
CONFIG = RunConfig(
    data=DATA, encoder=EncoderConfig(layers=1, heads=2), num_prototypes=4, sample_tokens=32, max_steps=100_000,
    frame_every=5, device="cpu",
)  # fmt: skip
CONFIGS = [CONFIG.with_(epsilon=1.0), CONFIG]


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    os.environ["DDCL_CACHE_DIR"] = str(tmp_path_factory.mktemp("cache"))
    made = Engine(runs=2, device="cpu")
    made._warm_the_rest = lambda scenes: asyncio.sleep(0)  # type: ignore[assignment, method-assign] # no umap here
    made.start()
    asyncio.run(asyncio.wait_for(made.wait_ready(), 90.0))
    yield made
    made.stop()
    assert made.worker_pids() == {}
    os.environ.pop("DDCL_CACHE_DIR")


def test_status_names_the_device(engine: Engine) -> None:
    assert engine.status().device == "CPU · 2 workers"


def test_runs_spread_over_workers_and_slices_do_not_matter(engine: Engine) -> None:
    async def scenario() -> None:
        scene = await engine.prepare(CONFIGS)
        assert await engine.prepare(CONFIGS) is scene  # shared by panels and viewers
        await scene.ready()
        maps = {"pca": (await scene.map("pca"))["blob"]}
        runs = await asyncio.gather(*(engine.create_run(CONFIG, scene, None, maps) for _ in range(2)))
        assert runs[0].address != runs[1].address
        whole = await runs[0].call("advance", 60_000.0, {"until_step": 40})
        parts = [await runs[1].call("advance", 0.0, {"until_step": 40}) for _ in range(3)]
        while parts[-1]["step"] < 40:
            parts.append(await runs[1].call("advance", 5.0, {"until_step": 40}))
        assert len(parts) > 4
        once = wire.unpack(whole["frames"])[1]
        sliced = [wire.unpack(part["frames"])[1] for part in parts if part["frames"]]
        for name in ("step", "metrics", "pca", "proto_pca", "lead"):
            assert np.array_equal(once[name], np.concatenate([arrays[name] for arrays in sliced]), equal_nan=True), name
        snapshot = await runs[0].call("save")
        resumed = await engine.create_run(CONFIG, scene, snapshot, maps)
        on = [await run.call("advance", 60_000.0, {"until_step": 60}, since=40) for run in (runs[0], resumed)]
        assert np.array_equal(*(wire.unpack(result["history"])[1]["metrics"] for result in on), equal_nan=True)
        for run in (*runs, resumed):
            run.release()

    asyncio.run(asyncio.wait_for(scenario(), 60.0))


def test_bad_input_arrives_as_the_sentence_it_is(engine: Engine) -> None:
    async def scenario() -> None:
        scene = await engine.prepare([CONFIG.with_(data=DataConfig(model="no-such-model", kind="bbc"))])
        with pytest.raises(InputError, match="no-such-model"):
            await scene.map("pca")

    asyncio.run(asyncio.wait_for(scenario(), 60.0))


def slow_work(steps: int, topic: str) -> int:
    """Says how far it is, twenty times a second."""
    from dashboard.engine.tasks import reporter

    report = reporter(topic)
    for i in range(steps):
        report(i / steps, f"step {i}")
        time.sleep(0.05)
    return steps


def test_a_job_is_begun_once_tells_its_progress_and_can_be_cancelled(engine: Engine) -> None:
    jobs = Jobs(engine)
    assert jobs.state("a").state == "idle"

    def until(key: str, wanted: tuple[str, ...], seconds: float = 20.0):
        deadline = time.monotonic() + seconds
        while (state := jobs.state(key)).state not in wanted and time.monotonic() < deadline:
            time.sleep(0.05)
        return state

    assert jobs.begin("quick", slow_work, 10).state in ("working", "waiting")
    assert until("quick", ("done", "error")).result == 10
    jobs.begin("long", slow_work, 2000)
    deadline = time.monotonic() + 20.0
    while not jobs.state("long").text.startswith("step") and time.monotonic() < deadline:
        time.sleep(0.05)
    future = jobs._kept["long"]
    jobs.cancel("long")
    assert jobs.state("long").state == "idle"
    with pytest.raises(InputError, match="cancelled"):
        future.result(15.0)


def test_a_killed_worker_is_noticed_and_the_picture_goes_on(engine: Engine) -> None:
    async def scenario() -> None:
        scenes, client = Registry(), Client()
        hub = Hub(engine, scenes)
        client.session = session = await hub.open(scenes.register(CONFIGS, ["Left", "Right"], speed=50.0), None, client)
        await client.until(lambda: session.step > 20, 30.0)
        await client.until(lambda: session.panels[0].snapshot_step > 0, 10.0)
        address = session.panels[0].handle.address
        name = next(p.name for p in engine.workers.run_workers if p.address == address)  # type: ignore[union-attr]
        killed = time.monotonic()
        os.kill(engine.worker_pids()[name], signal.SIGKILL)
        await client.until(lambda: any(s["state"] == "worker_lost" for s in client.of("status")), 3.0)
        assert time.monotonic() - killed < 2.0
        reached = session.step
        await client.until(lambda: session.step > reached + 20, 15.0)
        assert session.panels[0].handle.address != address
        for panel in session.panels:  # nothing missing, nothing twice
            steps = panel.track.steps.tolist()
            assert steps == list(range(len(steps)))
        await hub.close()
        await client.until(lambda: len(engine.worker_pids()) == 3, 20.0)  # a new one has taken its place

    asyncio.run(asyncio.wait_for(scenario(), 90.0))


def test_the_end_of_the_socket_stops_the_training(engine: Engine) -> None:
    async def scenario() -> None:
        scenes, viewers = Registry(), [Client(), Client()]
        hub = Hub(engine, scenes, parked_seconds=4.0)
        token = scenes.register(CONFIGS, speed=0.0)
        for viewer in viewers:
            viewer.session = await hub.open(token, None, viewer)
        for viewer in viewers:
            await viewer.until(lambda viewer=viewer: viewer.session.step > 10, 30.0)
        first, second = (viewer.session for viewer in viewers)
        assert first is not second
        handles = [panel.handle for panel in first.panels]
        hub.park(first)
        await asyncio.sleep(2.5)  # the promise is three seconds; on a free machine it takes the rest of a slice
        at, other = [panel.step for panel in first.panels], second.step
        await viewers[1].until(lambda: second.step > other, 10.0)
        assert [panel.step for panel in first.panels] == at
        await viewers[1].until(lambda: hub.find(first.id) is None, 20.0)
        with pytest.raises(WorkerLost):
            await handles[0].call("describe")
        await hub.close()

    asyncio.run(asyncio.wait_for(scenario(), 60.0))
