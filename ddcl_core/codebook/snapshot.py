"""Snapshots of a codebook run: every tensor as safetensors, everything else as JSON beside it. Never pickle."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load, save

from ddcl_core.codebook.config import CodebookConfig
from ddcl_core.codebook.frame import CODEBOOK_METRICS, CodebookFrame
from ddcl_core.codebook.health import Health
from ddcl_core.codebook.images import ImageSet
from ddcl_core.errors import InputError
from ddcl_core.optim import set_learning_rates
from ddcl_core.snapshot import _metadata, _restore_optimizer

if TYPE_CHECKING:
    from ddcl_core.codebook.run import CodebookRun

_FORMAT = "codebook-1"
_FRAME_ARRAYS = (
    "codes", "outputs", "output_codes", "usage_epoch", "usage_last", "usage", "weight",
    "reconstructions", "reconstructions_hardened", "tiles", "index_maps",
)  # fmt: skip


def save_run(run: "CodebookRun") -> bytes:
    """Pack `run` into safetensors bytes whose metadata holds one JSON text under 'run'."""
    tensors = {f"model.{name}": value for name, value in run.model.state_dict().items()}
    for index, state in run.optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{index}.{name}": torch.as_tensor(value) for name, value in state.items()}
    tensors |= {"shuffles": run._shuffles.get_state(), "order": run._order, "epoch.state": run.epochs.state}
    tensors["epoch.rows"] = torch.tensor(run.epochs.rows, dtype=torch.float64).reshape(-1, 3)
    tensors["history"] = torch.from_numpy(np.array(run._rows, dtype=np.float64).reshape(-1, len(CODEBOOK_METRICS)))
    tensors["history_steps"] = torch.tensor(run._row_steps, dtype=torch.int64)
    meta: dict[str, Any] = {
        "format": _FORMAT, "config": run.config.to_dict(), "images": _fingerprint(run.images), "step": run.step,
        "epsilon": run.epsilon, "hand_temperature": run.hand_temperature, "max_steps": run.max_steps,
        "status": run.status, "status_step": run.status_step, "train_error": run.train_error,
        "measured_at": run._measured_at, "batches": run.epochs.batches,
    }  # fmt: skip
    if run.last_frame is not None:
        frame = asdict(run.last_frame)
        tensors |= {f"frame.{name}": torch.from_numpy(frame.pop(name)) for name in _FRAME_ARRAYS}
        meta["frame"] = frame
    return save({name: value.detach().cpu().contiguous() for name, value in tensors.items()}, {"run": json.dumps(meta)})


def restore_run(data: bytes, images: ImageSet | None = None) -> "CodebookRun":
    """Rebuild the run that `save_run` packed. Raises InputError for anything else, or for other images."""
    from ddcl_core.codebook.run import CodebookRun

    try:
        tensors, meta = load(data), _metadata(data)
    except (SafetensorError, KeyError, ValueError) as error:
        raise InputError("This is not a snapshot of a codebook run; choose a file that this program saved.") from error
    if meta.get("format") != _FORMAT:
        raise InputError(
            f"This snapshot has format {meta.get('format')!r}, not {_FORMAT}; choose a codebook run's file."
        )
    run = CodebookRun(CodebookConfig.from_dict(meta["config"]), images)
    if _fingerprint(run.images) != meta["images"]:
        raise InputError("This snapshot was trained on other images; hand over the same ones to go on with it.")
    run.model.load_state_dict({n.removeprefix("model."): v for n, v in tensors.items() if n.startswith("model.")})
    _restore_optimizer(run, tensors)
    for name in ("step", "epsilon", "hand_temperature", "max_steps", "status", "status_step", "train_error"):
        setattr(run, name, meta[name])
    set_learning_rates(run.optimizer, run.config.lr_codes, run.epsilon)
    run._measured_at = None if meta["measured_at"] is None else tuple(meta["measured_at"])
    run._rows, run._row_steps = list(tensors["history"].numpy()), tensors["history_steps"].tolist()
    run._shuffles.set_state(tensors["shuffles"])
    run._order = tensors["order"]
    run.epochs.state.copy_(tensors["epoch.state"])
    run.epochs.rows = [tuple(row) for row in tensors["epoch.rows"].tolist()]
    run.epochs.batches = meta["batches"]
    if "frame" in meta:
        health = meta["frame"].pop("health")
        arrays = {name: tensors[f"frame.{name}"].numpy() for name in _FRAME_ARRAYS}
        run.last_frame = CodebookFrame(**meta["frame"], **arrays, health=Health(**health) if health else None)
    return run


def _fingerprint(images: ImageSet) -> list[Any]:
    """Enough to notice other images: their shapes, and sums that depend on the order."""
    parts = (images.train, images.held_out)
    weights = [np.arange(1, len(part) + 1, dtype=np.int64) for part in parts]
    return [[*part.shape, int(part.sum((1, 2, 3), dtype=np.int64) @ w)] for part, w in zip(parts, weights)]
