"""DDCL_SCHEDULER: a Dask cluster started elsewhere, whose workers do not know this checkout."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dashboard.engine.client import Engine, EngineError
from ddcl_core.config import DataConfig, EncoderConfig, RunConfig

CONFIG = RunConfig(
    data=DataConfig(num_documents=4, tokens_per_document=8, dim=8, clusters=2),
    encoder=EncoderConfig(layers=1, heads=2), num_prototypes=3, sample_tokens=16, device="cpu",
)  # fmt: skip


@pytest.fixture
def scheduler(tmp_path: Path):
    """A scheduler and one worker in a folder of their own, with nothing of ours on their path."""
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    env |= {"DASK_LOGGING__DISTRIBUTED": "critical", "OMP_NUM_THREADS": "1", "DDCL_CACHE_DIR": str(tmp_path)}
    file = tmp_path / "scheduler.json"
    quiet = {"cwd": tmp_path, "env": env, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0"]
    one = subprocess.Popen([*command, "--no-dashboard", "--scheduler-file", str(file)], **quiet)
    command = [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", str(file), "--nthreads", "1"]
    other = subprocess.Popen([*command, "--no-nanny", "--no-dashboard", "--host", "127.0.0.1"], **quiet)
    try:
        deadline = time.monotonic() + 30.0
        while not file.exists() or not file.read_text().strip().endswith("}"):
            assert time.monotonic() < deadline and one.poll() is None
            time.sleep(0.05)
        import json

        yield json.loads(file.read_text())["address"]
    finally:
        for process in (other, one):
            process.kill()
            process.wait()


def test_the_code_is_shipped_and_a_run_runs(scheduler: str) -> None:
    engine = Engine(scheduler)
    engine._warm_the_rest = lambda scenes: asyncio.sleep(0)  # type: ignore[assignment, method-assign] # no umap here

    async def scenario() -> None:
        await asyncio.wait_for(engine.start().wait_ready(), 60.0)
        assert engine.status().device.endswith("1 worker")
        scene = await engine.prepare([CONFIG])
        run = await engine.create_run(CONFIG, scene, None, {"pca": (await scene.map("pca"))["blob"]})
        result = await run.call("advance", 60_000.0, {"until_step": 5})
        assert result["step"] == 5 and result["count"] == 6
        run.release()

    try:
        asyncio.run(scenario())
    finally:
        engine.stop()


def test_a_scheduler_that_is_not_there_gets_a_sentence() -> None:
    engine = Engine("tcp://127.0.0.1:9", connect_seconds=1.0)
    try:
        with pytest.raises(EngineError, match="tcp://127.0.0.1:9 cannot be reached"):
            asyncio.run(asyncio.wait_for(engine.start().wait_ready(), 30.0))
    finally:
        engine.stop()
