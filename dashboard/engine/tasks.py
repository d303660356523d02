"""What workers do besides training: warming up, loading scenes, scouting, fitting maps. Heavy imports stay inside."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dashboard.engine import kinds
from dashboard.live import wire
from dashboard.live.frames import to_wire_positions
from ddcl_core.errors import InputError

PROGRESS_TOPIC = "ddcl-progress"
CANCEL_SECONDS = 0.5  # between two questions whether anybody still wants the result


def warm_run_worker(device: str | None) -> dict[str, Any]:
    """Load PyTorch and the method, train two steps of a tiny run; says which device this worker computes on."""
    began = time.perf_counter()
    if device:
        os.environ["DDCL_DEVICE"] = device
    import torch

    torch.set_num_threads(1)
    from ddcl_core.config import DataConfig, EncoderConfig, RunConfig
    from ddcl_core.devices import describe_device, resolve_device
    from ddcl_core.run import TrainingRun

    chosen = resolve_device("auto")
    data = DataConfig(num_documents=4, tokens_per_document=4, dim=4, clusters=2)
    run = TrainingRun(RunConfig(data=data, encoder=EncoderConfig(layers=1, heads=2), num_prototypes=2, max_steps=2))
    run.advance(1000.0)
    return {"device": chosen.type, "name": describe_device(chosen), "seconds": time.perf_counter() - began}


def warm_background_worker() -> None:
    """Load PyTorch and what scenes are made with."""
    few_threads()
    from ddcl_core import atlas, run  # noqa: F401


def warm_map_worker() -> float:
    """Load umap and compile what a fit needs, on a few points; seconds it took."""
    began = time.perf_counter()
    few_threads()
    from ddcl_core import maps

    _step_aside()
    maps.warm_up()
    return time.perf_counter() - began


def warm_text_worker() -> float:
    """Load transformers, which encodes documents; seconds it took."""
    began = time.perf_counter()
    import transformers  # noqa: F401

    return time.perf_counter() - began


def load_tokens(kind: str, config: dict[str, Any], topic: str, given: Any = None) -> Any:
    """What the runs of a scene share, from one of their configurations; it stays on the worker.

    given: an upload that the configuration only refers to.
    """
    few_threads()
    module = kinds.kind_named(kind)
    return module.load(module.config_of(config), reporter(topic), given)


def scout(kind: str, configs: Sequence[dict[str, Any]], scene: Any, topic: str) -> dict[str, np.ndarray]:
    """Short trial runs that say where the real runs will go: the pool {points (R, d), labels (R,)}."""
    few_threads()
    module = kinds.kind_named(kind)
    return module.scout([module.config_of(config) for config in configs], scene, reporter(topic))


def compare_methods(
    points: np.ndarray, labels: np.ndarray, classes: int, clusters: int, seed: int, topic: str
) -> list[dict[str, Any]]:
    """The usual clusterings of points (N, d), each scored against labels (N,); see `ddcl_core.clustering`."""
    few_threads()
    from dashboard.orbits.methods import cluster_all

    return cluster_all(points, labels, classes, clusters, seed, reporter(topic))


def fit_map(pool: dict[str, np.ndarray], kind: str, seed: int, topic: str) -> dict[str, Any]:
    """A fitted map as bytes for the runs, and the "map" message for the view."""
    few_threads()
    from ddcl_core import atlas

    report = reporter(topic)
    report(0.0, "Fitting the map")
    if kind == "umap":
        _step_aside()
    reference = atlas.fit_map(pool["points"], kind, seed)
    about = atlas.map_facts(reference)
    header = {"type": "map", "kind": kind, "available": about["kind"] == kind, "fitting": False, "progress": 1.0}
    header |= {name: about[name] for name in ("explained_variance", "placement_error", "note")}
    labels = np.maximum(pool["labels"], 0).astype(np.uint16)
    message = wire.pack(header, {"reference": to_wire_positions(reference.layout), "reference_labels": labels})
    return {"blob": atlas.map_to_bytes(reference), "message": message, "available": header["available"]}


def few_threads() -> None:
    """One thread for PyTorch: the machine's cores belong to the workers."""
    import torch

    torch.set_num_threads(1)


def _step_aside() -> None:
    """Give the worker's only thread slot back: on a worker that also trains, a run must not wait for a UMAP."""
    from distributed import secede

    with contextlib.suppress(ValueError):  # called outside a worker, as tests do
        secede()


def cancel_name(topic: str) -> str:
    """Name of the Dask event that stops the work of a topic."""
    return f"ddcl-cancel-{topic}"


def reporter(topic: str) -> Callable[[float, str], None]:
    """A function (fraction, words) that tells the page process how far the work of this topic is.

    It raises InputError when that work has been cancelled, which ends it where it stands.
    """
    last, asked = [0.0, ""], [time.monotonic()]

    def report(fraction: float, text: str) -> None:
        now = time.monotonic()
        if now - last[0] < 0.2 and fraction < 1.0 and text == last[1]:
            return
        last[:] = [now, text]
        from distributed import Event, get_worker

        try:
            worker = get_worker()
        except ValueError:
            return  # called outside a worker, as tests do
        worker.log_event(PROGRESS_TOPIC, {"topic": topic, "progress": float(fraction), "text": text})
        if now - asked[0] > CANCEL_SECONDS:
            asked[0] = now
            if Event(cancel_name(topic)).is_set():
                raise InputError("It was cancelled; ask again, or press reset, to begin anew.")

    return report
