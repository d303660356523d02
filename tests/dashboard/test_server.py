"""The page process: what it imports, and how the app starts and ends."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import psutil
import pytest

ROOT = Path(__file__).resolve().parents[2]
HEAVY = ("torch", "umap", "numba", "transformers", "sklearn")


def test_the_page_process_imports_nothing_heavy() -> None:
    code = (
        "import sys, dashboard.server, dashboard.shell, dashboard.live.socket, dashboard.engine.client, distributed\n"
        "import dashboard.engine.actor, dashboard.engine.tasks, dashboard.live.explain, ddcl_core\n"
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "[]", done.stdout + done.stderr


def test_streamlit_finds_the_app_in_the_script() -> None:
    from streamlit.web.server.app_discovery import discover_asgi_app

    assert discover_asgi_app(ROOT / "app.py").import_string == "app:app"


def test_the_config_switches_the_collection_after_each_run_off() -> None:
    import tomllib

    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())
    assert config["runner"]["postScriptGC"] is False


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGKILL])
def test_no_worker_outlives_the_app(ending: signal.Signals, tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    options = ["--server.headless", "true", "--server.baseUrlPath", "lab", "--server.fileWatcherType", "none"]
    env = os.environ | {"DDCL_WORKERS": "1", "DDCL_CACHE_DIR": str(tmp_path)}
    with subprocess.Popen([*command, *options], cwd=ROOT, env=env, stdout=subprocess.DEVNULL) as server:
        try:
            _wait(lambda: _answers(f"http://127.0.0.1:{port}/lab/_stcore/health"))
            assert b"mount" in _get(f"http://127.0.0.1:{port}/lab/ddcl/assets/live/main.js")
            _wait(lambda: len(psutil.Process(server.pid).children()) == 3)  # scheduler, one run worker, background
            children = psutil.Process(server.pid).children(recursive=True)
            maps = Path(f"/proc/{server.pid}/maps")
            if maps.exists():
                loaded = maps.read_text()
                assert not any(f"site-packages/{name}/" in loaded for name in HEAVY)
            server.send_signal(ending)
            server.wait(15.0)
            _, alive = psutil.wait_procs(children, timeout=10.0)
            assert [p for p in alive if p.status() != psutil.STATUS_ZOMBIE] == []
        finally:
            server.kill()


def _wait(condition, timeout: float = 60.0) -> None:
    deadline = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def _answers(address: str) -> bool:
    try:
        return bool(_get(address))
    except OSError:
        return False


def _get(address: str) -> bytes:
    with urllib.request.urlopen(address, timeout=5.0) as answer:
        return answer.read()


def test_the_first_page_runs_without_a_server() -> None:
    from streamlit.testing.v1 import AppTest

    page = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60.0).run()
    assert not page.exception
