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
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from dashboard.engine.handles import EngineError, WorkerLost
from dashboard.live import explain, wire
from dashboard.live.frames import MAP_KINDS
from dashboard.live.panel import Panel
from dashboard.live.recording import Recording, panel_recording, versions
from dashboard.live.registry import LiveScene
from ddcl_core.errors import InputError
from ddcl_core.frame import METRIC_NAMES, frame_due

_LOG = logging.getLogger("ddcl.live")
CREDITS = 4  # frames messages that may be under way to the client
_ROUND_SECONDS = 0.25
_WHY_SECONDS = 0.7
_MAX_RECOVERIES = 5

Send = Callable[[bytes], None]


class _Reset(Exception):
    """The present runs are no longer wanted."""


class LiveSession:
    """The runs of one viewer. `run` lives as long as the session; `attach` and `detach` bring and take the client.

    engine: an Engine, or for tests anything with wait_ready, prepare, create_run, progress and status.
    """

    def __init__(self, scene: LiveScene, engine: Any) -> None:
        self.id = secrets.token_urlsafe(18)
        self.scene = scene
        self._engine = engine
        self._configs = list(scene.configs)
        self.panels: list[Panel] = []
        self.playing, self.speed, self.visible = True, scene.speed, True
        self._send_now: Send | None = None
        self._wake = asyncio.Event()
        self._idle = asyncio.Event()
        self._unacknowledged: list[int] = []
        self._next_n = 0
        self._due = 0.0
        self._hurry = False
        self._requests: list[tuple[str, int]] = []
        self._reset_wanted = False
        self._said: tuple[str, str, float | None] | None = None
        self._hello: dict[str, Any] | None = None
        self._hello_arrays: dict[str, np.ndarray] = {}
        self._maps: dict[str, dict[str, Any]] = {}
        self._map_task: asyncio.Task[None] | None = None
        self._prepared: Any = None
        self._why: list[dict[str, Any]] = []
        self._why_at = 0.0
        self._rate = 40.0  # steps a second that the last rounds reached
        self.used_at = time.monotonic()

    # ---- the client ------------------------------------------------------------------------------------------------

    @property
    def attached(self) -> bool:
        """Whether somebody watches."""
        return self._send_now is not None

    def attach(self, send: Send) -> None:
        """A client watches: tell it everything so far, then go on. `send` must not block."""
        resumed = self._hello is not None
        self._send_now = send
        self._unacknowledged.clear()
        self.visible = True
        self._say_again()
        if resumed:
            self._replay()
        self._due = 0.0
        self._wake.set()

    def detach(self) -> None:
        """The client is gone: no further slice is asked for. The runs stay where they are."""
        self._send_now = None
        self._requests.clear()
        self.used_at = time.monotonic()
        self._wake.set()

    def handle(self, message: dict[str, Any]) -> None:
        """Take a message that `messages.parse` has checked."""
        kind = message["type"]
        if kind == "control":
            if message["panel"] < len(self.panels):
                values = {k: v for k, v in message.items() if k in ("epsilon", "temperature")}
                self.panels[message["panel"]].ask(values)
                self._hurry = True
        elif kind == "play":
            self.playing, self._due = message["playing"], 0.0
        elif kind == "speed":
            self.speed, self._due = message["steps_per_second"], 0.0
        elif kind == "step":
            self.playing = False
            if len(self._requests) < 32:
                self._requests.append((message["who"], message["count"]))
        elif kind == "visible":
            self.visible, self._due = message["visible"], 0.0
        elif kind == "ack":
            self._unacknowledged = [n for n in self._unacknowledged if n > message["n"]]
        elif kind == "extend":
            for panel in self.panels:
                panel.max_steps = min(panel.max_steps + message["steps"], 1_000_000)
            self._extended = True
        elif kind == "reset":
            self._reset(message["seed"])
        self._wake.set()

    def _reset(self, seed: int | None) -> None:
        for i, panel in enumerate(self.panels):
            self._configs[i] = self._configs[i].with_(**panel.hand)  # the sliders keep their place
        if seed is not None:
            self._configs = [config.with_(seed=seed) for config in self._configs]
        self._reset_wanted = True

    _extended = False

    # ---- the life of the session -----------------------------------------------------------------------------------

    async def run(self) -> None:
        """Prepare, train, start over on reset; ends when cancelled, and then lets go of the runs."""
        try:
            while True:
                self._reset_wanted = False
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
        self._say("error", text)
        while not self._reset_wanted:
            self._wake.clear()
            await self._wake.wait()

    def _forget_runs(self) -> None:
        if self._map_task is not None:
            self._map_task.cancel()
            self._map_task = None
        for panel in self.panels:
            panel.release()

    # ---- preparing -------------------------------------------------------------------------------------------------

    async def _prepare(self) -> None:
        self._hello, self._maps, self._why = None, {}, []
        self._unacknowledged.clear()
        self._requests.clear()
        self.panels = [Panel.of(i, self.scene.labels[i], config) for i, config in enumerate(self._configs)]
        await self._watched(self._engine.wait_ready(lambda text, progress: self._say("starting", text, progress)))
        self._say("preparing", "Preparing the tokens", 0.0)
        self._prepared = await self._engine.prepare(self._configs)
        await self._telling_progress(self._prepared.ready())
        await self._telling_progress(self._map("pca"))
        await asyncio.gather(*(self._watched(panel.make(self._create, self._blobs())) for panel in self.panels))
        about = await self.panels[0].handle.call("describe")
        self._make_hello(about)
        self._send_hello(resumed=False)
        self._send(self._maps["pca"]["message"])
        self._send(self._fitting_message(0.0))
        for panel in self.panels:
            await self._slice(panel, 0, "both", False)
        self._map_task = asyncio.create_task(self._follow_umap(self._prepared))
        self._due = 0.0

    async def _map(self, kind: str) -> None:
        self._maps[kind] = await self._prepared.map(kind)

    def _blobs(self) -> dict[str, bytes]:
        return {kind: made["blob"] for kind, made in self._maps.items() if made["available"]}

    async def _create(self, config: Any, snapshot: bytes | None, maps: dict[str, bytes]) -> Any:
        for attempt in range(_MAX_RECOVERIES):
            try:
                return await self._engine.create_run(config, self._prepared, snapshot, maps)
            except WorkerLost:
                await asyncio.sleep(0.2 * attempt)
        raise EngineError("The workers keep stopping while a run is being made; see the server's log, then press reset.")

    async def _telling_progress(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        try:
            while not task.done():
                said = self._engine.progress(self._prepared.topic)
                if said is not None:
                    self._say("preparing", said[1], said[0])
                await asyncio.wait({task}, timeout=0.15)
                if self._reset_wanted:
                    raise _Reset
            await task
        finally:
            task.cancel()

    async def _watched(self, work: Any) -> Any:
        """Await, but give up as soon as a reset makes it pointless."""
        task = asyncio.ensure_future(work)
        try:
            while not task.done():
                if self._reset_wanted:
                    raise _Reset
                await asyncio.wait({task}, timeout=0.2)
            return task.result()
        finally:
            task.cancel()

    async def _follow_umap(self, prepared: Any) -> None:
        """Wait for the UMAP while training goes on, then place what has been shown already."""
        made = asyncio.ensure_future(prepared.map("umap"))
        try:
            while not made.done():
                said = self._engine.progress(prepared.topic)
                self._send(self._fitting_message(0.0 if said is None else said[0]))
                await asyncio.wait({made}, timeout=1.0)
            result = made.result()
        except asyncio.CancelledError:
            made.cancel()
            raise
        except Exception as error:  # noqa: BLE001 - the PCA map stands; say why the other is missing
            text = str(error) if isinstance(error, InputError) else "The UMAP could not be fitted; the PCA map stays."
            self._send_header({**self._no_map(text), "fitting": False})
            return
        self._maps["umap"] = result
        self._send(result["message"])
        if result["available"]:
            for panel in self.panels:
                with contextlib.suppress(WorkerLost, EngineError):
                    await self._place_earlier(panel, result["blob"])

    async def _place_earlier(self, panel: Panel, blob: bytes) -> None:
        handle = panel.handle
        if handle is None or not await handle.call("add_map", "umap", blob):
            return
        unplaced = 1
        while unplaced and handle is panel.handle:
            result = await handle.call("placed", panel.budget_ms, panel.index)
            unplaced = result["unplaced"]
            for message in result["messages"]:
                panel.track.add_placed(wire.unpack(message)[1])
                self._send(message)

    @staticmethod
    def _no_map(note: str) -> dict[str, Any]:
        return {
            "type": "map", "kind": "umap", "available": False, "explained_variance": None, "placement_error": None,
            "note": note, "fitting": True, "progress": 0.0,
        }  # fmt: skip

    def _fitting_message(self, progress: float) -> bytes:
        return wire.pack({**self._no_map("The UMAP is being fitted."), "progress": progress})

    # ---- training --------------------------------------------------------------------------------------------------

    async def _train(self) -> None:
        while True:
            request = await self._turn()
            if self._extended:
                self._extended = False
                await asyncio.gather(*(p.handle.call("extend", p.max_steps) for p in self.panels if p.handle))
                for panel in self.panels:
                    panel.finished = panel.status == "diverged"
                continue
            began = time.monotonic()
            start = self.step
            if request is None:
                target = self._next_target()
                if self.speed > 0:
                    self._due = max(self._due, began - _ROUND_SECONDS) + (target - start) / self.speed
                who, by_hand = "both", False
            else:
                who, target, by_hand = request[0], start + request[1], True
            self._say("running", "Training")
            await asyncio.gather(*(self._slices(panel, target, who, by_hand) for panel in self.panels))
            seconds = time.monotonic() - began
            if self.step > start and seconds > 0:
                self._rate += 0.5 * ((self.step - start) / seconds - self._rate)
            self._explain()

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

    async def _turn(self) -> tuple[str, int] | None:
        """Wait until the next round may begin: None for a round of play, or a request for single steps."""
        while True:
            if self._reset_wanted:
                raise _Reset
            now, wait = time.monotonic(), None
            free = len(self._unacknowledged) + len(self.panels) <= max(CREDITS, len(self.panels))
            if self._extended:
                return None
            if self.attached and self.visible and free:
                if self._requests:
                    return self._requests.pop(0)
                if self.playing and not self.finished:
                    # A control that waits may bring the round forward, by one round and no more.
                    due = self._due - (_ROUND_SECONDS if self._hurry else 0.0)
                    if now >= due or self.speed == 0:
                        self._hurry = False
                        return None
                    wait = due - now
            self._say_why_not()
            self._wake.clear()
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._wake.wait(), wait)

    def _say_why_not(self) -> None:
        if self.finished:
            self._explain(now=True)
            self._say("finished", f"Finished at step {self.step}.")
        elif not self.playing or not self.visible:
            self._explain(now=True)
            self._say("paused", f"Paused at step {self.step}.")

    def _next_target(self) -> int:
        """The step that this round goes to: about a quarter of a second, on to the next step that has a frame."""
        pace = self.speed if self.speed > 0 else min(self._rate, 2000.0)
        target = self.step + max(1, round(pace * _ROUND_SECONDS))
        while not frame_due(target, self._configs[0].frame_every):
            target += 1
        return min(target, self.max_steps)

    async def _slices(self, panel: Panel, target: int, who: str, by_hand: bool) -> None:
        target = min(target, panel.max_steps)
        while panel.step < target and not panel.finished:
            await self._slice(panel, target, who, by_hand)
            if self._reset_wanted or not self.attached:
                return

    async def _slice(self, panel: Panel, target: int, who: str, by_hand: bool) -> None:
        n = self._next_n
        self._next_n += 1
        try:
            result = await panel.advance(target, n, who=who, look=by_hand)
        except WorkerLost:
            await self._recover(panel)
            return
        if self._reset_wanted:
            return
        if result["history"] is not None:
            self._send(result["history"])
        if result["frames"] is not None and self.attached:
            self._unacknowledged.append(n)
            self._send(result["frames"])
        if "applied" in result:
            said = {"panel": panel.index, "epsilon": panel.epsilon, "temperature": panel.temperature}
            self._send_header({"type": "control", **said, "step": result["applied"]})

    async def _recover(self, panel: Panel) -> None:
        panel.recoveries += 1
        if panel.recoveries > _MAX_RECOVERIES:
            raise EngineError("The workers keep stopping in this run; see the server's log, then press reset.")
        self._say("worker_lost", f"A worker stopped. {panel.label} goes on from step {panel.snapshot_step} on another.")
        await self._watched(panel.make(self._create, self._blobs()))
        self._said = None
        self._say("running", f"Training. {panel.label} went on from step {panel.step} after its worker stopped.")

    # ---- talking ---------------------------------------------------------------------------------------------------

    def _send(self, message: bytes) -> None:
        if self._send_now is not None:
            self._send_now(message)

    def _send_header(self, header: dict[str, Any]) -> None:
        if self._send_now is not None:
            self._send_now(wire.pack(header))

    def _say(self, state: str, text: str, progress: float | None = None) -> None:
        said = (state, text, None if progress is None else round(progress, 2))
        if said != self._said:
            self._said = said
            self._say_again()

    def _say_again(self) -> None:
        if self._said is not None:
            state, text, progress = self._said
            self._send_header({"type": "status", "state": state, "text": text, "progress": progress})

    def _make_hello(self, about: dict[str, Any]) -> None:
        documents = np.asarray(about["documents"])
        self._hello_arrays = {
            "token_labels": np.maximum(about["labels"], 0).astype(np.uint16),
            "token_documents": documents.astype(np.uint16 if documents.max(initial=0) < 65536 else np.int32),
        }
        names = ("words", "class_names", "source", "notes", "num_documents", "explained_variance")
        self._hello = {name: about[name] for name in names} | {"name": about.get("name", "")}

    def _send_hello(self, resumed: bool) -> None:
        assert self._hello is not None
        panels = [
            {"config": p.config.to_dict(), "epsilon": p.epsilon, "temperature": p.temperature, "label": p.label}
            for p in self.panels
        ]
        for entry in panels:  # a loaded document must not travel with every hello
            entry["config"]["data"] |= {"texts": [], "text_labels": []}
        header = {
            "type": "hello", "session": self.id, "panels": panels, "metric_names": list(METRIC_NAMES),
            "num_prototypes": self._configs[0].num_prototypes, "num_tokens": len(self._hello["words"]),
            "device": self._engine.status().device, "device_note": "", "playing": self.playing, "speed": self.speed,
            "step": self.step, "max_steps": self.max_steps, "map_kind": self.scene.map_kind, "resumed": resumed,
            **self._hello,
        }  # fmt: skip
        if self._send_now is not None:
            self._send_now(wire.pack(header, self._hello_arrays))

    def _replay(self) -> None:
        """What a client that comes back has missed: everything, from the recording."""
        self._send_hello(resumed=True)
        for kind in MAP_KINDS:
            if kind in self._maps:
                self._send(self._maps[kind]["message"])
        for panel in self.panels:
            if len(panel.track.steps):
                arrays = {"step": panel.track.steps, "metrics": panel.track.metrics}
                self._send(wire.pack({"type": "history", "panel": panel.index}, arrays))
            for arrays in panel.track.batches():
                header = {"type": "frames", "panel": panel.index, "n": self._next_n, "count": len(arrays["step"])}
                self._next_n += 1
                self._send(wire.pack(header, arrays))
        if self._why:
            self._send_header({"type": "why", "items": self._why})

    def _explain(self, now: bool = False) -> None:
        if not now and time.monotonic() - self._why_at < _WHY_SECONDS:
            return
        self._why_at = time.monotonic()
        items = explain.explain([(p.label, p.config, p.track.history(), p.controls) for p in self.panels])
        if items != self._why:
            self._why = items
            self._send_header({"type": "why", "items": items})

    def recording(self) -> Recording:
        """The session so far as a file to keep."""
        maps = {kind: wire.unpack(made["message"]) for kind, made in self._maps.items()}
        about = {**(self._hello or {}), "versions": versions(), "device": self._engine.status().device}
        about["maps"] = {kind: header for kind, (header, _) in maps.items()}
        panels = [panel_recording(p.label, replace(p.config), p.controls, p.track) for p in self.panels]
        arrays = {kind: dict(parts) for kind, (_, parts) in maps.items()}
        return Recording(panels, self._hello_arrays["token_labels"], self._hello_arrays["token_documents"], arrays, about)
