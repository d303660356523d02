"""The app as a person starts it, on a port of its own, ended together with every process it made."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[2]


class AppServer:
    """`streamlit run app.py`. `cache` is an empty folder, so that nothing on the machine decides what a test sees."""

    def __init__(self, cache: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        self.log = cache / "app.log"
        command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
        options = ["--server.headless", "true", "--server.fileWatcherType", "none"]
        env = os.environ | {"DDCL_CACHE_DIR": str(cache), "PYTHONUNBUFFERED": "1"}
        with self.log.open("wb") as out:
            self.process = subprocess.Popen([*command, *options], cwd=ROOT, env=env, stdout=out, stderr=subprocess.STDOUT)

    def wait(self, timeout: float = 120.0) -> None:
        """Return once the app answers."""
        deadline = time.monotonic() + timeout
        while True:
            with contextlib.suppress(OSError), urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=5.0) as answer:
                if answer.status == 200:
                    return
            assert self.process.poll() is None, f"The app ended at once:\n{self.said()}"
            assert time.monotonic() < deadline, f"The app does not answer:\n{self.said()}"
            time.sleep(0.2)

    def said(self) -> str:
        """What the app wrote to its terminal."""
        return self.log.read_text(errors="replace")

    def run_workers(self) -> list[psutil.Process]:
        """The worker processes that train, as the system lists them."""
        workers = []
        for child in psutil.Process(self.process.pid).children(recursive=True):
            with contextlib.suppress(psutil.Error):
                if any(part.startswith("run-") for part in child.cmdline()):
                    workers.append(child)
        return workers

    def cpu_seconds(self) -> float:
        """CPU time that the training workers have used so far."""
        total = 0.0
        for worker in self.run_workers():
            with contextlib.suppress(psutil.Error):
                total += sum(worker.cpu_times()[:2])
        return total

    def stop(self) -> None:
        """End the app and every process below it."""
        children = []
        with contextlib.suppress(psutil.Error):
            children = psutil.Process(self.process.pid).children(recursive=True)
        self.process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(15.0)
        _, alive = psutil.wait_procs(children, timeout=5.0)
        for process in [*alive, self.process]:
            with contextlib.suppress(psutil.Error, OSError):
                process.kill()
        self.process.wait()
