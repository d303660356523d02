"""The session's logic, against an engine in this process."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Callable
from typing import Any

import numpy as np
import pytest

from dashboard.live.hub import Hub
from dashboard.live.pace import Pace
from dashboard.live.registry import Registry
from ddcl_core.config import RunConfig
from ddcl_core.errors import InputError
from ddcl_core.frame import frame_due
from tests.dashboard.fakes import Client, FakeEngine

CONFIGS = [RunConfig(epsilon=1.0, max_steps=100), RunConfig(epsilon=0.05, max_steps=100)]


def in_loop(test: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    @functools.wraps(test)
    def run(*args: Any, **kwargs: Any) -> None:
        asyncio.run(asyncio.wait_for(test(*args, **kwargs), 20.0))

    return run


async def opened(engine: FakeEngine, client: Client, speed: float = 0.0, **hub_options: Any) -> tuple[Hub, Any, str]:
    scenes = Registry()
    token = scenes.register(CONFIGS, ["Left", "Right"], speed=speed)
    hub = Hub(engine, scenes, **hub_options)
    client.session = await hub.open(token, None, client)
    return hub, client.session, token


@in_loop
async def test_both_panels_reach_the_end_in_step() -> None:
    engine, client = FakeEngine(), Client()
    hub, session, _ = await opened(engine, client)
    await client.until(lambda: any(s["state"] == "finished" for s in client.of("status")))
    expected = [step for step in range(101) if frame_due(step, 0)]
    assert client.steps(0) == expected and client.steps(1) == expected
    (hello,) = client.of("hello")
    assert [p["label"] for p in hello["panels"]] == ["Left", "Right"]
    assert hello["num_tokens"] == 12 and hello["device"] == "CPU · 2 workers" and not hello["resumed"]
    history = [a["step"] for h, a in client.received if h["type"] == "history" and h["panel"] == 1]
    assert np.concatenate(history).tolist() == list(range(101))
    assert [m["kind"] for m in client.of("map")][0] == "pca"
    assert client.of("why")
    await hub.close()
    assert all(handle.released for handle in engine.handles)


@in_loop
async def test_controls_act_in_the_next_slice_and_the_latest_wins() -> None:
    engine, client = FakeEngine(step_seconds=0.002), Client()
    hub, session, _ = await opened(engine, client, speed=20.0)
    await client.until(lambda: len(client.steps(0)) > 2)
    for value in (0.5, 0.6, 0.7):
        session.handle({"type": "control", "panel": 0, "epsilon": value})
    await client.until(lambda: client.of("control"))
    (control,) = client.of("control")
    assert control["epsilon"] == 0.7 and control["panel"] == 0 and session.panels[1].epsilon == 0.05
    await hub.close()


@in_loop
async def test_pace_is_kept() -> None:
    engine, client = FakeEngine(), Client()
    hub, session, _ = await opened(engine, client, speed=20.0)
    await client.until(lambda: client.steps(0))
    await asyncio.sleep(1.0)
    assert 12 <= session.step <= 32
    session.handle({"type": "play", "playing": False})
    await asyncio.sleep(0.5)
    at = session.step
    await asyncio.sleep(0.3)
    assert session.step == at and client.of("status")[-1]["state"] == "paused"
    await hub.close()


@in_loop
async def test_single_steps_pause_and_show_a_frame() -> None:
    engine, client = FakeEngine(), Client()
    hub, session, _ = await opened(engine, client, speed=8.0)
    await client.until(lambda: client.steps(0))
    session.handle({"type": "play", "playing": False})
    await asyncio.sleep(0.5)
    at = session.step
    session.handle({"type": "step", "who": "encoder", "count": 3})
    await client.until(lambda: session.step == at + 3)
    assert not session.playing
    whos = {call[1][1]["who"] for handle in engine.handles for call in handle.calls if call[0] == "advance"}
    assert "encoder" in whos
    await hub.close()


@in_loop
async def test_no_more_than_four_frames_messages_without_acknowledgement() -> None:
    engine, client = FakeEngine(), Client(acknowledge=False)
    hub, session, _ = await opened(engine, client)
    session.handle({"type": "ack", "n": 10})
    await asyncio.sleep(0.5)
    assert len(client.of("frames")) <= 4 + 2
    before = len(client.of("frames"))
    session.handle({"type": "ack", "n": client.of("frames")[-1]["n"]})
    await client.until(lambda: len(client.of("frames")) > before)
    await hub.close()


@in_loop
async def test_a_hidden_page_stops_training() -> None:
    engine, client = FakeEngine(step_seconds=0.002), Client()
    hub, session, _ = await opened(engine, client, speed=100.0)
    await client.until(lambda: client.steps(0))
    session.handle({"type": "visible", "visible": False})
    await asyncio.sleep(0.5)
    at = session.step
    await asyncio.sleep(0.3)
    assert session.step == at
    session.handle({"type": "visible", "visible": True})
    await client.until(lambda: session.step > at)
    await hub.close()


@in_loop
async def test_a_lost_worker_costs_only_what_followed_the_snapshot() -> None:
    engine, client = FakeEngine(step_seconds=0.001), Client()
    hub, session, _ = await opened(engine, client, speed=100.0)
    await client.until(lambda: session.step >= 10)
    session.handle({"type": "control", "panel": 0, "epsilon": 0.3})
    await client.until(lambda: client.of("control"))
    engine.handles[0].lose()
    await client.until(lambda: any(s["state"] == "worker_lost" for s in client.of("status")))
    await client.until(lambda: any(s["state"] == "finished" for s in client.of("status")))
    steps = [int(frame["step"]) for frame in session.panels[0].track.frames]
    assert steps == [step for step in range(101) if frame_due(step, 0)]
    assert session.panels[0].track.steps.tolist() == list(range(101))
    assert session.panels[0].epsilon == 0.3
    await hub.close()


@in_loop
async def test_reload_resumes_and_replays() -> None:
    engine, client = FakeEngine(), Client()
    hub, session, token = await opened(engine, client, speed=40.0)
    await client.until(lambda: session.step >= 20)
    hub.park(session)
    await asyncio.sleep(0.5)
    at = session.step
    await asyncio.sleep(0.3)
    assert session.step == at  # nobody watches: nothing is trained
    again = Client()
    again.session = await hub.open(token, session.id, again)
    assert again.session is session
    assert again.of("hello")[0]["resumed"] and again.of("hello")[0]["step"] == at
    assert again.steps(0)[: at + 1] == list(range(at + 1))
    await again.until(lambda: session.step > at)
    assert again.steps(0) == sorted(set(again.steps(0)))
    await hub.close()


@in_loop
async def test_parked_runs_are_released() -> None:
    engine, client = FakeEngine(), Client()
    hub, session, token = await opened(engine, client, parked_seconds=0.2)
    await client.until(lambda: client.steps(0))
    hub.park(session)
    await client.until(lambda: all(h.released for h in engine.handles))
    assert len(hub) == 0
    fresh = Client()
    fresh.session = await hub.open(token, session.id, fresh)
    assert fresh.session is not session
    await hub.close()


@in_loop
async def test_reset_keeps_the_sliders_and_takes_a_seed() -> None:
    engine, client = FakeEngine(), Client()
    hub, session, _ = await opened(engine, client, speed=50.0)
    await client.until(lambda: session.step >= 4)
    session.handle({"type": "control", "panel": 1, "epsilon": 0.4, "temperature": 3.0})
    session.handle({"type": "reset", "seed": 11})
    await client.until(lambda: len(client.of("hello")) == 2)
    panel = client.of("hello")[1]["panels"][1]
    assert panel["config"]["seed"] == 11 and panel["epsilon"] == 0.4 and panel["temperature"] == 3.0
    assert client.of("hello")[1]["step"] == 0
    await hub.close()


@in_loop
async def test_extend_goes_on_after_the_end() -> None:
    engine, client = FakeEngine(), Client()
    hub, session, _ = await opened(engine, client)
    await client.until(lambda: any(s["state"] == "finished" for s in client.of("status")))
    session.handle({"type": "extend", "steps": 20})
    await client.until(lambda: session.step == 120)
    await hub.close()


@in_loop
async def test_earlier_frames_are_placed_when_the_umap_is_ready() -> None:
    engine, client = FakeEngine(), Client()
    hub, session, _ = await opened(engine, client, speed=30.0)
    await client.until(lambda: session.step >= 12)
    engine.umap_ready.set()
    await client.until(lambda: client.of("placed"))
    await client.until(lambda: all("umap" in frame for p in session.panels for frame in p.track.frames))
    await client.until(lambda: any(h["type"] == "frames" and "umap" in a for h, a in client.received))
    await hub.close()


@in_loop
async def test_input_errors_become_a_status_and_reset_tries_again() -> None:
    engine, client = FakeEngine(), Client()
    engine.failure = InputError("There are no documents with text in them; add one.")
    hub, session, _ = await opened(engine, client)
    await client.until(lambda: any(s["state"] == "error" for s in client.of("status")))
    assert "no documents" in client.of("status")[-1]["text"]
    engine.failure = None
    session.handle({"type": "reset", "seed": None})
    await client.until(lambda: client.steps(0))
    await hub.close()


@in_loop
async def test_the_hub_is_bounded() -> None:
    engine, client = FakeEngine(), Client()
    hub, session, token = await opened(engine, client, limit=1)
    with pytest.raises(InputError, match="in use"):
        await hub.open(token, None, Client())
    hub.park(session)
    await hub.open(token, None, Client())  # a parked one makes room
    with pytest.raises(InputError, match="no longer known"):
        await hub.open("unknown", None, Client())
    await hub.close()


def test_pace_rounds_end_on_frames_and_controls_hurry_without_racing() -> None:
    now = [100.0]
    pace = Pace(8.0, clock=lambda: now[0])
    assert pace.wait() <= 0 and pace.begin(0, 0, 400) == 2
    assert pace.wait() == 0.0  # a quarter of a second is allowed to be caught up with
    assert pace.begin(100, 5, 400) == 105 and 0.3 < pace.wait() < 0.7
    pace.hurry()
    assert pace.wait() <= 0
    pace.begin(105, 5, 400)
    pace.hurry()
    assert pace.wait() > 0 and pace.begin(398, 0, 400) == 400
    pace.set(0.0)
    pace.learn(100, 0.1)
    assert pace.wait() == 0.0 and pace.begin(0, 1, 10_000) > 100
