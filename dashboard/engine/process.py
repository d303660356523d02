"""The program that each process of the embedded cluster runs: `python -m dashboard.engine.process scheduler|worker`.

It exits as soon as its standard input ends, which happens when the parent is gone in whatever way, `kill -9` included;
so no worker outlives the app.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
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
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
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
    from distributed import Scheduler

    async with Scheduler(host="127.0.0.1", port=options.port, dashboard=False) as scheduler:
        await scheduler.finished()


async def _worker(options: argparse.Namespace) -> None:
    from distributed import Worker

    # No memory limit: pausing or spilling would stall a live picture, and the number of runs is bounded by the app.
    worker = Worker(
        f"tcp://127.0.0.1:{options.port}",
        nthreads=1,
        name=options.name,
        resources=json.loads(options.resources),
        memory_limit=None,
        dashboard=False,
        host="127.0.0.1",
        death_timeout=60,
    )
    async with worker:
        await worker.finished()


if __name__ == "__main__":
    main()
