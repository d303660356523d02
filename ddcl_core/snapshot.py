"""Snapshots of a run: every tensor as safetensors, everything else as JSON beside it. Never pickle."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load, save

from ddcl_core.config import RunConfig
from ddcl_core.data.scene import TokenScene
from ddcl_core.errors import InputError
from ddcl_core.frame import METRIC_NAMES, Frame
from ddcl_core.optim import set_learning_rates
from ddcl_core.status import StatusTracker

if TYPE_CHECKING:
    from ddcl_core.run import TrainingRun

_FORMAT = 1
_FRAME_ARRAYS = ("prototypes", "tokens", "assignments", "usage", "force_ols", "force_variance")


def save_run(run: "TrainingRun") -> bytes:
    """Pack `run` into safetensors bytes whose metadata holds one JSON text under 'run'."""
    tensors = {f"model.{name}": value for name, value in run.model.state_dict().items()}
    optimizer = run.optimizer.state_dict()
    for index, state in optimizer["state"].items():
        tensors |= {f"optimizer.{index}.{name}": torch.as_tensor(value) for name, value in state.items() if value is not None}
    tensors["batches"] = run._batches.get_state()
    if run._batch is not None:
        tensors["batch"] = run._batch
    tensors["history"] = torch.from_numpy(np.array(run._rows, dtype=np.float64).reshape(-1, len(METRIC_NAMES)))
    tensors["history_steps"] = torch.tensor(run._row_steps, dtype=torch.int64)
    meta: dict[str, Any] = {
        "format": _FORMAT,
        "config": run.config.to_dict(),
        "step": run.step,
        "epsilon": run.epsilon,
        "hand_temperature": run.hand_temperature,
        "max_steps": run.max_steps,
        "f_tilde_increases": run.f_tilde_increases,
        "measured_at": run._measured_at,
        "status": run.status_tracker.to_dict(),
    }
    if run.last_frame is not None:
        frame = asdict(run.last_frame)
        tensors |= {f"frame.{name}": torch.from_numpy(frame.pop(name)) for name in _FRAME_ARRAYS}
        meta["frame"] = frame
    return save({name: value.detach().cpu().contiguous() for name, value in tensors.items()}, {"run": json.dumps(meta)})


def restore_run(data: bytes, scene: TokenScene | None = None, make: Any = None) -> "TrainingRun":
    """Rebuild the run that `save_run` packed; `make(config, scene)` makes it when it is of a subclass.

    Raises InputError for anything else.
    """
    from ddcl_core.run import TrainingRun

    try:
        tensors, meta = load(data), _metadata(data)
    except (SafetensorError, KeyError, ValueError) as error:
        raise InputError("This is not a snapshot of a DDCL run; choose a file that this program saved.") from error
    if meta.get("format") != _FORMAT:
        raise InputError(f"This snapshot has format {meta.get('format')!r}, and this version reads {_FORMAT}; save it anew.")
    run = (make or TrainingRun)(RunConfig.from_dict(meta["config"]), scene)
    state = {name.removeprefix("model."): value for name, value in tensors.items() if name.startswith("model.")}
    run.model.load_state_dict(state)
    _restore_optimizer(run, tensors)
    run.step, run.epsilon, run.hand_temperature = meta["step"], meta["epsilon"], meta["hand_temperature"]
    run.max_steps, run.f_tilde_increases = meta["max_steps"], meta["f_tilde_increases"]
    set_learning_rates(run.optimizer, run.config.lr_prototypes, run.epsilon)
    run._measured_at = None if meta["measured_at"] is None else tuple(meta["measured_at"])
    run._rows, run._row_steps = list(tensors["history"].numpy()), tensors["history_steps"].tolist()
    run._batches.set_state(tensors["batches"])
    run._batch = tensors["batch"].to(run.device) if "batch" in tensors else None
    run.status_tracker = StatusTracker.from_dict(meta["status"])
    if "frame" in meta:
        run.last_frame = Frame(**meta["frame"], **{name: tensors[f"frame.{name}"].numpy() for name in _FRAME_ARRAYS})
    return run


def _restore_optimizer(run: "TrainingRun", tensors: dict[str, torch.Tensor]) -> None:
    state: dict[int, dict[str, torch.Tensor]] = {}
    for name, value in tensors.items():
        if name.startswith("optimizer."):
            _, index, key = name.split(".", 2)
            state.setdefault(int(index), {})[key] = value
    run.optimizer.load_state_dict(run.optimizer.state_dict() | {"state": state})


def _metadata(data: bytes) -> dict[str, Any]:
    # The header is plain JSON behind its own length; the library reads metadata from files only.
    length = int.from_bytes(data[:8], "little")
    return json.loads(json.loads(data[8 : 8 + length])["__metadata__"]["run"])
