"""The live endpoint and its neighbours as Starlette routes of Streamlit's own server."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import mimetypes
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from dashboard.live import messages, wire
from dashboard.live.hub import Hub
from dashboard.live.session import LiveSession
from ddcl_core.errors import InputError

_LOG = logging.getLogger("ddcl.live")
ASSETS = Path(__file__).resolve().parents[2] / "assets" / "live"
_TYPES = {".js": "text/javascript", ".mjs": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
_OUTBOX = 1024  # messages; frames are bounded by acknowledgements, a replay of 4 panels has about 120
_RATE, _BURST = 100.0, 200.0  # messages a second; a dragged slider sends about 60
_MAX_ERRORS = 50
_OPEN_SECONDS = 10.0


def live_routes(hub: Hub, base_path: str = "") -> list[BaseRoute]:
    """The live socket, its assets and its downloads under `base_path` ('' or '/prefix')."""
    return [
        WebSocketRoute(f"{base_path}/ddcl/live", LiveEndpoint(hub)),
        Route(f"{base_path}/ddcl/assets/live/{{name:path}}", _asset, methods=["GET"]),
        Route(f"{base_path}/ddcl/recordings/{{name}}", _Downloads(hub), methods=["GET"]),
    ]


class LiveEndpoint:
    """One viewer's socket: JSON text in, binary bundles out. Nothing a client sends makes it raise."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        socket = WebSocket(scope, receive, send)
        if not origin_allowed(socket.headers.get("origin"), socket.headers.get("host")):
            await socket.close(code=1008)
            return
        await socket.accept()
        outbox: asyncio.Queue[bytes | None] = asyncio.Queue(_OUTBOX)
        writer = asyncio.create_task(_write(socket, outbox))
        session: LiveSession | None = None
        try:
            session = await self._open(socket, outbox)
            if session is not None:
                await _listen(socket, session, outbox, writer)
        except (WebSocketDisconnect, RuntimeError):
            pass  # RuntimeError: starlette's word for using a socket that has just closed
        finally:
            if session is not None:
                self._hub.park(session)
            with contextlib.suppress(asyncio.QueueFull):
                outbox.put_nowait(None)
            with contextlib.suppress(asyncio.TimeoutError, Exception):
                await asyncio.wait_for(writer, 1.0)
            with contextlib.suppress(Exception):
                await socket.close()

    async def _open(self, socket: WebSocket, outbox: asyncio.Queue[bytes | None]) -> LiveSession | None:
        def post(message: bytes) -> None:
            try:
                outbox.put_nowait(message)
            except asyncio.QueueFull:
                _LOG.debug("A live client does not read; its message is dropped")

        try:
            message = messages.parse(await asyncio.wait_for(_text(socket), _OPEN_SECONDS))
            if message["type"] != "open":
                raise InputError("The first message must be of type open.")
            return await self._hub.open(message["scene"], message["resume"], post)
        except InputError as error:
            post(_error(str(error)))
        except asyncio.TimeoutError:
            post(_error("No open message came within ten seconds."))
        return None


async def _listen(socket: WebSocket, session: LiveSession, outbox: asyncio.Queue[bytes | None], writer: Any) -> None:
    allowance, last, errors = _BURST, time.monotonic(), 0
    while errors < _MAX_ERRORS and not writer.done():
        text = await _text(socket)
        now = time.monotonic()
        allowance, last = min(_BURST, allowance + (now - last) * _RATE), now
        try:
            if allowance < 1.0:
                raise InputError("Too many messages a second; slow down.")
            allowance -= 1.0
            message = messages.parse(text)
            if message["type"] == "open":
                raise InputError("This socket is open already.")
            session.handle(message)
        except InputError as error:
            errors += 1
            if not outbox.full():
                outbox.put_nowait(_error(str(error)))


async def _text(socket: WebSocket) -> str:
    """The next text message; a binary one counts as an empty text, which no check lets pass."""
    event = await socket.receive()
    if event["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(event.get("code", 1000))
    return event.get("text") or ""


async def _write(socket: WebSocket, outbox: asyncio.Queue[bytes | None]) -> None:
    with contextlib.suppress(WebSocketDisconnect, RuntimeError):
        while (message := await outbox.get()) is not None:
            await socket.send_bytes(message)


def _error(text: str) -> bytes:
    return wire.pack({"type": "error", "text": text})


def origin_allowed(origin: str | None, host: str | None) -> bool:
    """Whether a page of this origin may open the socket: the rule that Streamlit applies to its own."""
    try:
        from streamlit.web.server.starlette.starlette_websocket import _is_origin_allowed
    except ImportError:  # a later Streamlit may have moved it: then only the same origin, or none at all
        return origin is None or urlparse(origin).netloc == host
    return _is_origin_allowed(origin, host)


async def _asset(request: Request) -> Response:
    """A file of assets/live; cached for good when its content's hash is in the address, else revalidated."""
    path = (ASSETS / request.path_params["name"]).resolve()
    if not path.is_relative_to(ASSETS.resolve()) or path.suffix not in _TYPES or not path.is_file():
        return PlainTextResponse("Not found", status_code=404)
    caching = "public, max-age=31536000, immutable" if request.query_params.get("v") else "no-cache"
    kind = _TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    headers = {"Cache-Control": caching, "X-Content-Type-Options": "nosniff"}
    return FileResponse(path, media_type=kind, headers=headers)


class _Downloads:
    """GET <session>.npz: the recording; <session>.csv: the metrics. A session's name is its key."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        response = await self._respond(Request(scope, receive))
        await response(scope, receive, send)

    async def _respond(self, request: Request) -> Response:
        name, _, suffix = request.path_params["name"].rpartition(".")
        session = self._hub.find(name)
        if session is None or suffix not in ("npz", "csv"):
            text = "This session is over; recordings can be downloaded while the page is open and a minute longer."
            return PlainTextResponse(text, status_code=404)
        try:
            recording = session.recording()
        except InputError as error:
            return PlainTextResponse(str(error), status_code=409)
        headers = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
        what = {"npz": "recording", "csv": "metrics"}[suffix]
        headers["Content-Disposition"] = f'attachment; filename="ddcl-{what}.{suffix}"'
        if suffix == "csv":
            return Response(recording.metrics_csv(), media_type="text/csv; charset=utf-8", headers=headers)
        content = await asyncio.get_running_loop().run_in_executor(None, recording.to_bytes)
        return Response(content, media_type="application/octet-stream", headers=headers)
