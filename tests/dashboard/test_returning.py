"""A page opened anew finds its runs again, and only its own."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from dashboard.live.hub import Hub
from dashboard.live.panel import Panel
from dashboard.live.registry import LiveScene, Registry
from dashboard.live.returning import still_shows
from ddcl_core.config import RunConfig, ScheduleConfig
from tests.dashboard.fakes import Client, FakeEngine

CONFIGS = (RunConfig(epsilon=1.0, max_steps=100), RunConfig(epsilon=0.05, max_steps=100))
LABELS = ("Left", "Right")
SCENE = LiveScene(CONFIGS, LABELS)


def _panels(scene: LiveScene = SCENE) -> list[Panel]:
    return [Panel.of(i, label, config) for i, (label, config) in enumerate(zip(scene.labels, scene.configs))]


def _scene(left: dict, right: dict) -> LiveScene:
    return LiveScene((CONFIGS[0].with_(**left), CONFIGS[1].with_(**right)), LABELS)


def test_the_link_of_a_moved_slider_means_the_same_runs() -> None:
    panels = _panels()
    panels[0].ask({"epsilon": 0.3456789})
    panels[1].ask({"temperature": 1.25})
    assert still_shows(panels, SCENE, _scene({"epsilon": float(f"{0.3456789:g}")}, {"temperature": 1.25}))
    assert not still_shows(panels, SCENE, SCENE)  # a link with the old values asks for the old values
    assert not still_shows(panels, SCENE, _scene({"epsilon": 0.3456789}, {}))


@pytest.mark.parametrize("change", [{"epsilon": 0.9}, {"temperature": 3.0}, {"seed": 5}, {"num_prototypes": 5}])
def test_another_link_means_other_runs(change: dict) -> None:
    both = change if "seed" in change else {}
    assert not still_shows(_panels(), SCENE, _scene(change, both))
    assert still_shows(_panels(), SCENE, LiveScene(CONFIGS, LABELS, map_kind="pca", speed=32.0))
    assert not still_shows(_panels(), SCENE, LiveScene(CONFIGS, ("Left", "Other")))


def test_a_seed_taken_by_a_reset_is_the_present_one() -> None:
    seeded = _scene({"seed": 8}, {"seed": 8})
    assert still_shows(_panels(seeded), SCENE, seeded) and not still_shows(_panels(seeded), SCENE, SCENE)


def test_before_there_are_runs_the_scene_itself_counts() -> None:
    assert still_shows([], SCENE, replace(SCENE)) and not still_shows([], SCENE, _scene({"epsilon": 0.5}, {}))


def test_a_temperature_against_a_schedule_is_in_no_link() -> None:
    cooled = RunConfig(schedule=ScheduleConfig("exponential", start=6.0, end=0.5, steps=100))
    scene = LiveScene((cooled,), ("One",))
    panels = _panels(scene)
    panels[0].ask({"temperature": 2.0})
    assert still_shows(panels, scene, replace(scene))


def test_a_reloaded_page_resumes_and_may_lose_its_connection_later() -> None:
    async def play() -> None:
        scenes, client = Registry(), Client()
        hub = Hub(FakeEngine(), scenes)
        first = scenes.register(CONFIGS, LABELS, speed=0.0)
        session = client.session = await hub.open(first, None, client)
        await client.until(lambda: client.steps(0))
        session.handle({"type": "control", "panel": 0, "epsilon": 0.3})
        hub.park(session)
        link = scenes.register(_scene({"epsilon": 0.3}, {}).configs, LABELS, speed=0.0)
        assert await hub.open(link, session.id, client) is session
        session.handle({"type": "control", "panel": 1, "epsilon": 0.2})  # not yet in the link when the socket breaks
        hub.park(session)
        assert await hub.open(link, session.id, client) is session
        hub.park(session)
        assert await hub.open(first, session.id, client) is not session and hub.find(session.id) is None
        await hub.close()

    asyncio.run(asyncio.wait_for(play(), 20.0))
