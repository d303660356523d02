"""The embedded cluster: a scheduler and workers as programs of their own, watched over and restarted.

Why not `LocalCluster`: Streamlit puts the page in `__main__`, and every spawned worker would run it again. Why not
`SubprocessCluster`: its workers outlive a parent killed hard, it refuses Windows, and it cannot give one worker
another job. Loopback only.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RUN, BACKGROUND = "RUN", "BACKGROUND"  # names of Dask resources

_ONE_THREAD = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS", "NUMBA_NUM_THREADS")
_RESTART_PAUSE = (0.0, 0.5, 2.0, 5.0, 15.0)  # seconds before the first, second, ... restart in a row
_HEALTHY_SECONDS = 60.0


@dataclass
class _Child:
    """One worker's place: its process comes and goes, the place stays."""

    role: str
    resource: str
    process: subprocess.Popen[bytes] | None = None
    generation: int = 0
    failures: int = 0
    started_at: float = 0.0

    @property
    def name(self) -> str:
        return f"{self.role}.{self.generation}"


@dataclass
class EmbeddedCluster:
    """Starts `runs` run workers and one background worker; restarts what dies until `close`.

    on_worker_gone(name, pid): called in the event loop a fifth of a second after a worker's process ended.
    """

    runs: int = field(default_factory=lambda: default_run_workers())
    on_worker_gone: Callable[[str, int], None] = lambda name, pid: None
    address: str = ""

    def __post_init__(self) -> None:
        self._port = _free_port()
        self.address = f"tcp://127.0.0.1:{self._port}"
        self._scheduler: subprocess.Popen[bytes] | None = None
        self._children = [_Child(f"run-{i}", RUN) for i in range(self.runs)] + [_Child("background", BACKGROUND)]
        self._watch: asyncio.Task[None] | None = None
        self._scratch = tempfile.TemporaryDirectory(prefix="ddcl-lab-", ignore_cleanup_errors=True)

    async def start(self) -> None:
        """Launch every process and return once the scheduler listens; the workers find it by themselves."""
        self._scheduler = self._launch(["scheduler", "--port", str(self._port)])
        for child in self._children:
            self._start_child(child)
        self._watch = asyncio.create_task(self._supervise(), name="ddcl-supervisor")
        while self.scheduler_alive and not await listens(self._port):
            await asyncio.sleep(0.05)

    @property
    def scheduler_alive(self) -> bool:
        """False once the scheduler's process has ended."""
        return self._scheduler is not None and self._scheduler.poll() is None

    def names(self) -> list[str]:
        """The workers' present names, as Dask knows them."""
        return [child.name for child in self._children]

    def pids(self) -> dict[str, int]:
        """Process number of each worker that is running."""
        return {c.name: c.process.pid for c in self._children if c.process is not None and c.process.poll() is None}

    async def close(self) -> None:
        """End every process and wait for it."""
        if self._watch is not None:
            self._watch.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._watch
        self.kill()  # not in an executor: at the interpreter's exit there is none any more

    def kill(self) -> None:
        """End every process at once; usable without an event loop, at the interpreter's exit."""
        processes = [p for p in (self._scheduler, *(child.process for child in self._children)) if p is not None]
        for process in processes:
            if process.stdin is not None:
                with contextlib.suppress(OSError):
                    process.stdin.close()  # they exit by themselves when this pipe ends
        for process in processes:
            try:
                process.wait(2.0)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._scratch.cleanup()

    def _start_child(self, child: _Child) -> None:
        child.generation += 1
        child.started_at = asyncio.get_running_loop().time()
        arguments = ["worker", "--port", str(self._port), "--name", child.name]
        child.process = self._launch([*arguments, "--resources", json.dumps({child.resource: 1})])

    async def _supervise(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(0.2)
            for child in self._children:
                if child.process is None or child.process.poll() is None:
                    continue
                gone, child.process = child.process, None
                if gone.stdin is not None:
                    gone.stdin.close()
                self.on_worker_gone(child.name, gone.pid)
                child.failures = 0 if loop.time() - child.started_at > _HEALTHY_SECONDS else child.failures + 1
                pause = _RESTART_PAUSE[min(max(child.failures - 1, 0), len(_RESTART_PAUSE) - 1)]
                loop.call_later(pause, self._restart, child)

    def _restart(self, child: _Child) -> None:
        if child.process is None and self._watch is not None and not self._watch.done():
            self._start_child(child)

    def _launch(self, arguments: list[str]) -> subprocess.Popen[bytes]:
        env = os.environ | {name: os.environ.get(f"DDCL_{name}", "1") for name in _ONE_THREAD}
        env["PYTHONPATH"] = os.pathsep.join(p for p in (str(ROOT), os.environ.get("PYTHONPATH", "")) if p)
        env["DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED"] = "False"  # it samples every 10 ms
        env["DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__INTERVAL"] = "5s"
        env["DASK_TEMPORARY_DIRECTORY"] = self._scratch.name
        env["DASK_LOGGING__DISTRIBUTED"] = "critical"
        env["PYTHONWARNINGS"] = "ignore"
        command = [sys.executable, "-m", "dashboard.engine.process", *arguments]
        # A session of its own keeps a terminal's Ctrl-C away; the pipe's end is what stops it.
        options = {} if os.name == "nt" else {"start_new_session": True}
        return subprocess.Popen(
            command, env=env, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, **options
        )


def default_run_workers() -> int:
    """DDCL_WORKERS if it is set, else one for each core this process may use."""
    asked = os.environ.get("DDCL_WORKERS", "").strip()
    if asked.isdigit() and int(asked) > 0:
        return int(asked)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, cores)


async def listens(port: int) -> bool:
    """Whether somebody answers on this loopback port. Dask's own waiting doubles its pauses up to seconds."""
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    return True


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
