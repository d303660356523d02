"""A live session: pulls the runs of a scene slice by slice and tells a client about it. Knows no transport.

Training is pulled: a slice is asked for only while somebody watches. Detach, hide or pause the client and the next
slice is simply not asked for.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
import time
from typing import Any

from dashboard.engine.handles import EngineError, WorkerLost
from dashboard.engine.kinds import kind_of
from dashboard.live import greeting
from dashboard.live.late_map import follow_umap
from dashboard.live.outlet import Outlet, Send
from dashboard.live.pace import Pace
from dashboard.live.panel import Panel
from dashboard.live.recording import Recording
from dashboard.live.registry import LiveScene
from ddcl_core.errors import InputError

_LOG = logging.getLogger("ddcl.live")
_WHY_SECONDS = 0.7
_MAX_RECOVERIES = 5
_MAX_REQUESTS = 32


class _Reset(Exception):
    """The present runs are no longer wanted."""


class LiveSession:
    """The runs of one viewer. `run` lives as long as the session; `attach` and `detach` bring and take the client.

    engine: an Engine, or for tests anything with wait_ready, prepare, create_run, progress and status.
    """

    def __init__(self, scene: LiveScene, engine: Any) -> None:
        self.id = secrets.token_urlsafe(18)
        self.scene = scene
        self.panels: list[Panel] = []
        self.playing, self.visible = True, True
        self.pace = Pace(scene.speed)
        self._engine = engine
        self._configs = list(scene.configs)
        self._outlet = Outlet()
        self._wake = asyncio.Event()
        self._requests: list[tuple[str, int]] = []
        self._reset_wanted = self._extended = False
        self._introduction: dict[str, Any] | None = None
        self._token_arrays: greeting.Arrays = {}
        self._maps: dict[str, dict[str, Any]] = {}
        self._stills: list[bytes] = []
        self._map_task: asyncio.Task[None] | None = None
        self._prepared: Any = None
        self._why: list[dict[str, Any]] = []
        self._why_at = 0.0

    # ---- the client ------------------------------------------------------------------------------------------------

    @property
    def attached(self) -> bool:
        """Whether somebody watches."""
        return self._outlet.attached

    def attach(self, send: Send) -> None:
        """A client watches: tell it everything so far, then go on. `send` must not block."""
        self._outlet.attach(send)
        self.visible = True
        if self._introduction is not None:
            self._greet(resumed=True)
            for message in greeting.replay(self.panels, self._maps, self._stills, self._outlet.number):
                self._outlet.send(message)
            if self._why:
                self._outlet.tell({"type": "why", "items": self._why})
        self._outlet.repeat()
        self.pace.restart()
        self._wake.set()

    def detach(self) -> None:
        """The client is gone: no further slice is asked for. The runs stay where they are."""
        self._outlet.detach()
        self._requests.clear()
        self._wake.set()

    def handle(self, message: dict[str, Any]) -> None:
        """Take a message that `messages.parse` has checked."""
        kind = message["type"]
        if kind == "control" and message["panel"] < len(self.panels):
            values = {name: v for name, v in message.items() if name.partition("@")[0] in ("epsilon", "temperature")}
            self.panels[message["panel"]].ask(values)
            self.pace.hurry()
        elif kind == "play":
            self.playing = message["playing"]
            self.pace.restart()
        elif kind == "speed":
            self.pace.set(message["steps_per_second"])
        elif kind == "step" and len(self._requests) < _MAX_REQUESTS:
            self.playing = False
            self._requests.append((message["who"], message["count"]))
        elif kind == "visible":
            self.visible = message["visible"]
            self.pace.restart()
        elif kind == "ack":
            self._outlet.acknowledge(message["n"])
        elif kind == "extend":
            for panel in self.panels:
                panel.max_steps = min(panel.max_steps + message["steps"], 1_000_000)
            self._extended = True
        elif kind == "cancel" and self._introduction is None and self._prepared is not None:
            self._engine.cancel(self._prepared.topic)
        elif kind == "reset":
            self._ask_for_reset(message["seed"])
        self._wake.set()

    def _ask_for_reset(self, seed: int | None) -> None:
        for i, panel in enumerate(self.panels):
            self._configs[i] = self._configs[i].with_(**panel.hand)  # the sliders keep their place
        if seed is not None:
            self._configs = [config.with_(seed=seed) for config in self._configs]
        self._reset_wanted = True

    def recording(self) -> Recording:
        """The session so far as a file to keep; raises InputError before there is anything."""
        device = self._engine.status().device
        return greeting.recording(self._introduction, self._token_arrays, self.panels, self._maps, device)

    # ---- the life of the session -----------------------------------------------------------------------------------

    async def run(self) -> None:
        """Prepare, train, start over on reset; ends when cancelled, and then lets go of the runs."""
        try:
            while True:
                self._reset_wanted = self._extended = False
                try:
                    await self._prepare()
                    await self._train()
                except _Reset:
                    pass
                except (InputError, EngineError) as error:
                    await self._wait_for_reset(str(error))
                except Exception:
                    _LOG.exception("A live session failed")
                    await self._wait_for_reset("Something went wrong on the server; press reset to start again.")
                self._forget_runs()
        finally:
            self._forget_runs()

    async def _wait_for_reset(self, text: str) -> None:
        self._outlet.say("error", text)
        while not self._reset_wanted:
            self._wake.clear()
            await self._wake.wait()

    def _forget_runs(self) -> None:
        if self._map_task is not None:
            self._map_task.cancel()
            self._map_task = None
        for panel in self.panels:
            panel.release()

    async def _prepare(self) -> None:
        say = self._outlet.say
        self._introduction, self._maps, self._stills, self._why = None, {}, [], []
        self._outlet.forgive()
        self._requests.clear()
        self.panels = [Panel.of(i, self.scene.labels[i], config) for i, config in enumerate(self._configs)]
        await self._unless_reset(self._engine.wait_ready(lambda text, progress: say("starting", text, progress)))
        say("preparing", "Preparing the tokens", 0.0)
        self._prepared = await self._unless_reset(self._engine.prepare(self._configs))
        await self._unless_reset(self._prepared.ready(), telling=True)
        self._maps["pca"] = await self._unless_reset(self._prepared.map("pca"), telling=True)
        await asyncio.gather(*(self._unless_reset(panel.make(self._create, self._blobs())) for panel in self.panels))
        about = await self.panels[0].handle.call("describe")
        self._maps |= greeting.planes(about)
        self._introduction, self._token_arrays = greeting.introduce(about)
        stills = [await panel.handle.call("still", panel.index) for panel in self.panels]
        self._stills = [message for message in stills if message is not None]
        self._greet(resumed=False)
        for message in self._stills:
            self._outlet.send(message)
        for made in self._maps.values():
            self._outlet.send(made["message"])
        for panel in self.panels:
            await self._slice(panel, 0, "both", False)  # the picture before the first step
        self._map_task = asyncio.create_task(
            follow_umap(self._prepared, self._engine, self._maps, self.panels, self._outlet), name="late-map"
        )
        self.pace.restart()

    def _greet(self, resumed: bool) -> None:
        assert self._introduction is not None
        state = {"session": self.id, "device": self._engine.status().device, "playing": self.playing}
        state |= {"speed": self.pace.speed, "step": self.step, "max_steps": self.max_steps, "resumed": resumed}
        header = greeting.hello(self._introduction, self.panels, map_kind=self.scene.map_kind, **state)
        self._outlet.tell(header, self._token_arrays)

    def _blobs(self) -> dict[str, bytes]:
        return {kind: made["blob"] for kind, made in self._maps.items() if made["available"]}

    async def _create(self, config: Any, snapshot: bytes | None, maps: dict[str, bytes]) -> Any:
        for attempt in range(_MAX_RECOVERIES):
            try:
                return await self._engine.create_run(config, self._prepared, snapshot, maps)
            except WorkerLost:
                await asyncio.sleep(0.2 * attempt)
        raise EngineError("The workers keep stopping while a run is made; see the server's log, then press reset.")

    async def _unless_reset(self, work: Any, telling: bool = False) -> Any:
        """Await, but give up as soon as a reset makes it pointless; `telling` passes the scene's progress on."""
        task = asyncio.ensure_future(work)
        try:
            while not task.done():
                if self._reset_wanted:
                    raise _Reset
                said = self._engine.progress(self._prepared.topic) if telling else None
                if said is not None:
                    self._outlet.say("preparing", said[1], said[0])
                await asyncio.wait({task}, timeout=0.15)
            return task.result()
        finally:
            task.cancel()

    # ---- training --------------------------------------------------------------------------------------------------

    @property
    def step(self) -> int:
        """The step that every panel still in training has reached."""
        going = [panel.step for panel in self.panels if not panel.finished]
        return min(going) if going else max((panel.step for panel in self.panels), default=0)

    @property
    def max_steps(self) -> int:
        """Where the session stops by itself."""
        return max((panel.max_steps for panel in self.panels), default=0)

    @property
    def finished(self) -> bool:
        """Whether every panel has diverged or come to its last step."""
        return all(panel.finished or panel.step >= panel.max_steps for panel in self.panels)

    async def _train(self) -> None:
        while True:
            request = await self._turn()
            if self._extended:
                await self._extend()
                continue
            began, start = time.monotonic(), self.step
            if request is None:
                who, target = "both", self.pace.begin(start, self._configs[0].frame_every, self.max_steps)
            else:
                who, target = request[0], start + request[1]
            self._outlet.say("running", "Training")
            by_hand = request is not None
            await asyncio.gather(*(self._slices(panel, target, who, by_hand) for panel in self.panels))
            self.pace.learn(self.step - start, time.monotonic() - began)
            self._explain()

    async def _turn(self) -> tuple[str, int] | None:
        """Wait until the next round may begin: None for a round of play, or a request for single steps."""
        while True:
            if self._reset_wanted:
                raise _Reset
            if self._extended:
                return None
            wait = None
            if self.attached and self.visible and self._outlet.may_send(len(self.panels)):
                if self._requests:
                    return self._requests.pop(0)
                if self.playing and not self.finished:
                    wait = self.pace.wait()
                    if wait <= 0:
                        return None
            self._say_why_not()
            self._wake.clear()
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._wake.wait(), wait)

    def _say_why_not(self) -> None:
        if self.finished or not self.playing or not self.visible:
            self._explain(now=True)
            state, word = ("finished", "Finished") if self.finished else ("paused", "Paused")
            self._outlet.say(state, f"{word} at step {self.step}.")

    async def _extend(self) -> None:
        self._extended = False
        for panel in self.panels:
            try:
                await panel.handle.call("extend", panel.max_steps)
            except WorkerLost:
                await self._recover(panel)

    async def _slices(self, panel: Panel, target: int, who: str, by_hand: bool) -> None:
        target = min(target, panel.max_steps)
        while panel.step < target and not panel.finished:
            await self._slice(panel, target, who, by_hand)
            if self._reset_wanted or not (self.attached and self.visible):
                return  # the panels may be out of step now; the next round brings them together

    async def _slice(self, panel: Panel, target: int, who: str, by_hand: bool) -> None:
        n = self._outlet.number()
        try:
            result = await panel.advance(target, n, who=who, look=by_hand)
        except WorkerLost:
            await self._recover(panel)
            return
        if self._reset_wanted:
            return
        if result["history"] is not None:
            self._outlet.send(result["history"])
        if result["frames"] is not None:
            self._outlet.frames(n, result["frames"])
        if "applied" in result:
            values = {"epsilon": panel.epsilon, "temperature": panel.temperature, "step": result["applied"]}
            self._outlet.tell({"type": "control", "panel": panel.index, **values})

    async def _recover(self, panel: Panel) -> None:
        panel.recoveries += 1
        if panel.recoveries > _MAX_RECOVERIES:
            raise EngineError("The workers keep stopping in this run; see the server's log, then press reset.")
        text = f"A worker stopped; {panel.label} goes on from step {panel.snapshot_step} on another."
        self._outlet.say("worker_lost", text)
        await self._unless_reset(panel.make(self._create, self._blobs()))

    def _explain(self, now: bool = False) -> None:
        if not now and time.monotonic() - self._why_at < _WHY_SECONDS:
            return
        self._why_at = time.monotonic()
        known = [(p.label, p.config, p.track.history(), p.controls) for p in self.panels]
        items = kind_of(self._configs[0]).explain(known)
        if items != self._why:
            self._why = items
            self._outlet.tell({"type": "why", "items": items})
