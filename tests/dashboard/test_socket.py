"""The endpoint: origins, garbage, assets and downloads, through Starlette's test client."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Iterator

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from dashboard.live import socket as live_socket
from dashboard.live import wire
from dashboard.live.hub import Hub
from dashboard.live.recording import Recording
from dashboard.live.registry import Registry
from ddcl_core.config import RunConfig
from tests.dashboard.fakes import FakeEngine


class Server:
    """An app with a fake engine behind the live routes, and one registered scene."""

    def __init__(self, base: str = "/lab") -> None:
        self.scenes = Registry()
        self.token = self.scenes.register([RunConfig(max_steps=30), RunConfig(epsilon=1.0, max_steps=30)], speed=0)
        self.hub = Hub(FakeEngine(), self.scenes)
        self.client = TestClient(Starlette(routes=live_socket.live_routes(self.hub, base)))

    def connect(self, **headers: str) -> object:
        return self.client.websocket_connect("/lab/ddcl/live", headers=headers)


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    with made.client:
        yield made
        made.client.portal.call(made.hub.close)  # type: ignore[union-attr]


def open_message(server: Server, resume: str | None = None) -> str:
    return json.dumps({"type": "open", "scene": server.token, "resume": resume})


def read_until(socket: object, kind: str, state: str | None = None) -> dict[str, object]:
    for _ in range(500):
        header, _ = wire.unpack(socket.receive_bytes())  # type: ignore[attr-defined]
        if header["type"] == "frames":
            socket.send_text(json.dumps({"type": "ack", "n": header["n"]}))  # type: ignore[attr-defined]
        if header["type"] == kind and (state is None or header["state"] == state):
            return header
    raise AssertionError(f"no {kind} among 500 messages")


def test_a_viewer_gets_its_picture_and_can_download_it(server: Server) -> None:
    with server.connect() as socket:
        socket.send_text(open_message(server))
        session = read_until(socket, "hello")["session"]
        read_until(socket, "status", "finished")
        table = server.client.get(f"/lab/ddcl/recordings/{session}.csv")
        assert table.status_code == 200 and table.text.count("\n") == 1 + 2 * 31
        file = server.client.get(f"/lab/ddcl/recordings/{session}.npz")
        assert len(Recording.load(io.BytesIO(file.content)).panels) == 2
    assert server.client.get("/lab/ddcl/recordings/nobody.npz").status_code == 404
    assert server.client.get(f"/lab/ddcl/recordings/{session}.exe").status_code == 404


def test_the_end_of_the_socket_parks_and_a_reload_resumes(server: Server) -> None:
    with server.connect() as socket:
        socket.send_text(open_message(server))
        session = read_until(socket, "hello")["session"]
    deadline = time.monotonic() + 3.0
    while server.hub.find(session).attached and time.monotonic() < deadline:  # type: ignore[arg-type, union-attr]
        time.sleep(0.01)
    with server.connect() as socket:
        socket.send_text(open_message(server, resume=session))  # type: ignore[arg-type]
        hello = read_until(socket, "hello")
        assert hello["session"] == session and hello["resumed"]


_OPENINGS = ["", "nonsense", '{"type": "play", "playing": true}', '{"type": "open", "scene": "x"}']


@pytest.mark.parametrize("first", _OPENINGS)
def test_a_bad_opening_gets_a_sentence_and_the_end(server: Server, first: str) -> None:
    with server.connect() as socket:
        socket.send_text(first)
        header, _ = wire.unpack(socket.receive_bytes())
        assert header["type"] == "error" and header["text"].endswith(".")
        with pytest.raises(WebSocketDisconnect):
            socket.receive_bytes()


def test_garbage_in_an_open_socket_gets_errors_and_training_goes_on(server: Server) -> None:
    with server.connect() as socket:
        socket.send_text(open_message(server))
        read_until(socket, "hello")
        for garbage in ("", "[]", "x" * 10_000, '{"type": "control"}', open_message(server)):
            socket.send_text(garbage)
        socket.send_bytes(b"\x00\xff")
        for _ in range(6):
            read_until(socket, "error")
        read_until(socket, "status", "finished")


def test_a_flood_is_cut_off(server: Server) -> None:
    with server.connect() as socket:
        socket.send_text(open_message(server))
        read_until(socket, "hello")
        for _ in range(600):
            socket.send_text('{"type": "visible", "visible": true}')
        with pytest.raises(WebSocketDisconnect):
            while True:
                socket.receive_bytes()


def test_foreign_origins_are_refused(server: Server) -> None:
    with pytest.raises(WebSocketDisconnect), server.connect(origin="https://evil.example"):
        pass
    with server.connect(origin="http://testserver") as socket:
        socket.send_text(open_message(server))
        read_until(socket, "hello")


def test_assets(server: Server, tmp_path, monkeypatch) -> None:
    (tmp_path / "live").mkdir()
    (tmp_path / "live" / "main.js").write_text("export {}")
    (tmp_path / "live" / "note.txt").write_text("no")
    (tmp_path / "secret.js").write_text("secret")
    monkeypatch.setattr(live_socket, "ASSETS", tmp_path / "live")
    get = server.client.get
    found = get("/lab/ddcl/assets/live/main.js?v=abc")
    assert found.status_code == 200 and found.headers["content-type"].startswith("text/javascript")
    assert "immutable" in found.headers["cache-control"]
    assert get("/lab/ddcl/assets/live/main.js").headers["cache-control"] == "no-cache"
    for bad in ("note.txt", "..%2Fsecret.js", "../secret.js", "", "missing.js", "%2Fetc%2Fpasswd"):
        assert get(f"/lab/ddcl/assets/live/{bad}").status_code == 404
