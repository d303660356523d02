"""The program that each process of the embedded cluster runs: `python -m dashboard.engine.process scheduler|worker`.

It exits as soon as its standard input ends, which happens when the parent is gone in whatever way, `kill -9` included;
so no worker outlives the app.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import threading


def main(arguments: list[str] | None = None) -> None:
    """Run one scheduler or one worker until the parent goes away or the scheduler closes."""
    parser = argparse.ArgumentParser(prog="dashboard.engine.process")
    parser.add_argument("role", choices=("scheduler", "worker"))
    parser.add_argument("--port", type=int, required=True, help="the scheduler's port on 127.0.0.1")
    parser.add_argument("--name", default=None)
    parser.add_argument("--resources", default="{}", help="a JSON object of Dask resources")
    options = parser.parse_args(arguments)
    if "BACKGROUND" in options.resources and hasattr(os, "nice"):
        os.nice(5)  # fitting a map can wait; a live picture cannot
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    try:
        asyncio.run(_scheduler(options) if options.role == "scheduler" else _worker(options))
    except KeyboardInterrupt:
        pass  # Ctrl-C reaches the whole process group; the parent does the tidying up


def _exit_with_parent() -> None:
    try:
        while os.read(sys.stdin.fileno(), 4096):
            pass
    finally:
        os._exit(0)


async def _scheduler(options: argparse.Namespace) -> None:
    _no_web_pages()
    from distributed import Scheduler

    scheduler = Scheduler(host="127.0.0.1", port=options.port, dashboard=False, dashboard_address="127.0.0.1:0")
    async with scheduler:
        await scheduler.finished()


async def _worker(options: argparse.Namespace) -> None:
    _no_web_pages()
    from distributed import Worker

    from dashboard.engine.cluster import listens

    while not await listens(options.port):
        await asyncio.sleep(0.05)
    # No memory limit: pausing or spilling would stall a live picture, and the number of runs is bounded by the app.
    worker = Worker(
        f"tcp://127.0.0.1:{options.port}",
        nthreads=1,
        name=options.name,
        resources=json.loads(options.resources),
        memory_limit=None,
        dashboard=False,
        dashboard_address="127.0.0.1:0",
        host="127.0.0.1",
        death_timeout=60,
    )
    async with worker:
        await worker.finished()


def _no_web_pages() -> None:
    import dask

    dask.config.set({"distributed.scheduler.http.routes": [], "distributed.worker.http.routes": []})


if __name__ == "__main__":
    main()
