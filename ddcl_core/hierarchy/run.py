"""A hierarchy in training that is pulled slice by slice: a TrainingRun whose prototypes are quantized in their turn."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import nn

from ddcl_core.config import EPSILON_RANGE, TEMPERATURE_RANGE, _number
from ddcl_core.data.scene import TokenScene
from ddcl_core.errors import InputError
from ddcl_core.frame import Frame
from ddcl_core.hierarchy.config import HierarchyConfig
from ddcl_core.hierarchy.frame import LEVEL_METRICS, HierarchyFrame, level_names
from ddcl_core.hierarchy.layer import LevelOutput, upper_level
from ddcl_core.initialization import initialize
from ddcl_core.metrics import critical_temperature_from, effective_prototypes, lambda_max, usage, weighted_separation
from ddcl_core.model import Evaluation, RunModel
from ddcl_core.run import TrainingRun
from ddcl_core.snapshot import restore_run
from ddcl_core.status import StatusTracker

_FORMAT = 2
_VIOLATION = 1e-9  # relative; what is below zero by more than float noise is no noise


class HierarchyModel(RunModel):
    """A RunModel with levels above its prototypes: loss + sum_l weight_l L_q^l; see `DDCLHierarchy`."""

    def __init__(self, config: HierarchyConfig, scene: TokenScene) -> None:
        super().__init__(config.base, scene)
        generator = torch.Generator().manual_seed(config.base.seed + 5)
        points, levels = self.prototypes.detach(), []
        for level in config.upper:
            points = initialize(points, level.num_prototypes, "scaled", level.init_scale, generator)
            levels.append(nn.Parameter(points.clone()))
        self.upper = nn.ParameterList(levels)
        self.weights = [level.weight for level in config.upper]
        self.temperatures = [level.temperature for level in config.upper]
        self.epsilons = [level.epsilon for level in config.upper]
        self.outputs: list[LevelOutput] = []

    def prototype_parameters(self) -> list[nn.Parameter]:
        """The prototypes of all levels."""
        return [self.prototypes, *self.upper]

    def evaluate(self, temperature: float, documents: Any = None, *, train_encoder: bool = True) -> Evaluation:
        """As `RunModel.evaluate`; the levels above are kept in `outputs` and their losses added."""
        evaluation = super().evaluate(temperature, documents, train_encoder=train_encoder)
        self.outputs = self.levels(usage(evaluation.losses.assignments.detach()))
        loss = evaluation.loss
        for weight, output in zip(self.weights, self.outputs):
            loss = loss + self.config.objective_weight * weight * output.total
        return Evaluation(evaluation.z, evaluation.losses, loss, evaluation.anchor, evaluation.accuracy)

    def levels(self, share: torch.Tensor) -> list[LevelOutput]:
        """The levels above, from the usage (K_1,) of the first."""
        found, below = [], self.prototypes
        for level, own in enumerate(self.upper):
            found.append(upper_level(below, own, share, self.temperatures[level], self.epsilons[level]))
            below, share = own, found[-1].usage
        return found


class HierarchyRun(TrainingRun):
    """Trains all levels at once; see `TrainingRun` and `HierarchyConfig`.

    Controls besides those of `TrainingRun`: 'epsilon@l' and 'temperature@l' of the levels above, l = 1 for the second.
    violations (L,): how often V of a level was negative beyond float noise, over all steps trained,
    on the tokens of each step's mini-batch; it never should be.
    """

    def __init__(self, config: HierarchyConfig, scene: TokenScene | None = None) -> None:
        self.hierarchy = config
        self.violations = [0] * len(config.sizes)
        self._level_rows: list[np.ndarray] = []
        super().__init__(config.base, scene)
        spread = self.status_tracker.initial_spread
        self.level_status = [StatusTracker(k, spread) for k in config.sizes[1:]]

    def _build_model(self) -> HierarchyModel:
        return HierarchyModel(self.hierarchy, self.scene)

    @property
    def level_names(self) -> tuple[str, ...]:
        """Names of the further metrics."""
        return level_names(len(self.hierarchy.upper))

    @property
    def history(self) -> dict[str, np.ndarray]:
        """As of TrainingRun, with the metrics of the levels above."""
        rows = np.array(self._level_rows, dtype=np.float64).reshape(-1, len(self.level_names))
        return super().history | dict(zip(self.level_names, rows.T))

    def advance(self, budget_ms: float = 150.0, controls: Any = None, max_frames: int | None = None) -> list[Frame]:
        """As `TrainingRun.advance`, with controls of the levels above. Raises InputError for a level that is not there."""
        if isinstance(controls, dict):
            controls = dict(controls)
            for name in [name for name in controls if "@" in name]:
                self._set_level(name, controls.pop(name), controls)
        return super().advance(budget_ms, controls, max_frames)

    def _set_level(self, name: str, value: float, rest: dict[str, Any]) -> None:
        kind, _, level = name.partition("@")
        number = int(level) if level.isdigit() else -1
        if kind not in ("epsilon", "temperature") or not 0 <= number <= len(self.hierarchy.upper):
            raise InputError(f"There is no control called {name!r}; there are {len(self.hierarchy.upper)} levels above the first.")
        if number == 0:
            rest[kind] = value
            return
        _number(name, value, *(EPSILON_RANGE if kind == "epsilon" else TEMPERATURE_RANGE))
        values = self.model.epsilons if kind == "epsilon" else self.model.temperatures
        if values[number - 1] != float(value):
            values[number - 1] = float(value)
            self._pending = self._measured_at = None  # the present step is measured anew

    def _metrics(self, evaluation: Evaluation) -> dict[str, float]:
        metrics = super()._metrics(evaluation)
        below, share = self.model.prototypes.detach(), usage(evaluation.losses.assignments.detach())
        for level, (output, own) in enumerate(zip(self.model.outputs, self.model.upper), 1):
            values = torch.stack((output.total, output.ols, output.variance)).detach().tolist()
            points, weights, mine = _host(below), _host(share), _host(output.usage)
            centred = points - weights @ points
            covariance = (weights[:, None] * centred).T @ centred
            numbers = {
                "epsilon": self.model.epsilons[level - 1], "temperature": self.model.temperatures[level - 1],
                "L_q": values[0], "L_OLS": values[1], "V": values[2],
                "weighted_separation": weighted_separation(_host(own), mine),
                "effective_prototypes": effective_prototypes(mine),
                "critical_temperature": critical_temperature_from(lambda_max(covariance), "L_q"),
            }  # fmt: skip
            self._level_collapsed(level - 1, numbers)
            numbers["collapsed"] = float(self.level_status[level - 1].status == "collapsed")
            metrics |= {f"{name}@{level}": numbers[name] for name in LEVEL_METRICS}
            below, share = own.detach(), output.usage
        metrics["violations"] = float(sum(self.violations))
        return metrics

    def _level_collapsed(self, index: int, numbers: dict[str, float]) -> None:
        finite = all(math.isfinite(numbers[name]) for name in ("L_q", "weighted_separation", "effective_prototypes"))
        watched = {name: 0.0 for name in ("H", "F", "F_tilde", "separation_mean", "lambda_max", "token_spread")}
        self.level_status[index].update(self.step, watched | numbers, finite)

    def _update(self, who: str) -> None:
        losses = self._evaluate().losses
        levels = [(losses.total, losses.variance), *((output.total, output.variance) for output in self.model.outputs)]
        totals, variances = torch.stack([torch.stack(pair) for pair in levels]).detach().double().cpu().numpy().T
        self.violations = [n + int(bad) for n, bad in zip(self.violations, is_violation(variances, totals))]
        super()._update(who)

    def _record(self, metrics: dict[str, float]) -> None:
        row = np.array([metrics[name] for name in self.level_names])
        if self._row_steps and self._row_steps[-1] == self.step:
            self._level_rows[-1] = row
        else:
            self._level_rows.append(row)
        super()._record(metrics)

    def look(self) -> Frame:
        """As `TrainingRun.look`."""
        kept = [tracker.to_dict() for tracker in self.level_status]
        frame = super().look()
        self.level_status = [StatusTracker.from_dict(values) for values in kept]
        return frame

    def _capture(self, evaluation: Evaluation, metrics: dict[str, float]) -> Frame:
        frame = super()._capture(evaluation, metrics)
        outputs = self.model.outputs
        self.last_frame = HierarchyFrame(
            **frame.__dict__,
            upper=tuple(_host(own) for own in self.model.upper),
            upper_usage=tuple(_host(output.usage) for output in outputs),
            links=tuple(_host(output.assignments) for output in outputs),
        )
        return self.last_frame

    def _closing_frame(self, metrics: dict[str, float]) -> list[Frame]:
        if self.last_frame is None:
            return []
        said = {"step": self.step, "metrics": metrics, "status": self.status, "status_step": self.status_tracker.step}
        self.last_frame = HierarchyFrame(**{**self.last_frame.__dict__, **said})
        return [self.last_frame]

    # ---- snapshots -------------------------------------------------------------------------------------------------

    def save(self) -> bytes:
        """The whole state as safetensors bytes; `restore` continues from it exactly."""
        frame, self.last_frame = self.last_frame, _plain(self.last_frame)
        try:
            base = super().save()
        finally:
            self.last_frame = frame
        tensors = {
            "base": torch.frombuffer(bytearray(base), dtype=torch.uint8),
            "rows": torch.from_numpy(np.array(self._level_rows, dtype=np.float64).reshape(-1, len(self.level_names))),
        }
        if isinstance(frame, HierarchyFrame):
            for name in ("upper", "upper_usage", "links"):
                tensors |= {f"{name}.{i}": torch.from_numpy(array) for i, array in enumerate(getattr(frame, name))}
        meta = {
            "format": _FORMAT, "config": self.hierarchy.to_dict(), "temperatures": self.model.temperatures,
            "epsilons": self.model.epsilons, "violations": self.violations,
            "status": [tracker.to_dict() for tracker in self.level_status],
        }  # fmt: skip
        return save(tensors, {"hierarchy": json.dumps(meta)})

    @classmethod
    def restore(cls, data: bytes, scene: TokenScene | None = None) -> "HierarchyRun":
        """A run that goes on where `save` was called. Raises InputError for bytes that are no snapshot of a hierarchy."""
        try:
            tensors = load(data)
            length = int.from_bytes(data[:8], "little")
            meta = json.loads(json.loads(data[8 : 8 + length])["__metadata__"]["hierarchy"])
        except (SafetensorError, KeyError, ValueError) as error:
            raise InputError("This is not a snapshot of a hierarchy; choose a file that this program saved.") from error
        if meta.get("format") != _FORMAT:
            raise InputError(f"This snapshot has format {meta.get('format')!r}, and this version reads {_FORMAT}; save it anew.")
        config = HierarchyConfig.from_dict(meta["config"])
        run = restore_run(tensors["base"].numpy().tobytes(), scene, lambda _, scene: cls(config, scene))
        run.model.temperatures, run.model.epsilons = list(meta["temperatures"]), list(meta["epsilons"])
        run.violations = list(meta["violations"])
        run.level_status = [StatusTracker.from_dict(values) for values in meta["status"]]
        run._level_rows = list(tensors["rows"].numpy())
        if run.last_frame is not None:
            parts = {
                name: tuple(tensors[f"{name}.{i}"].numpy() for i in range(len(config.upper)))
                for name in ("upper", "upper_usage", "links")
            }
            run.last_frame = HierarchyFrame(**run.last_frame.__dict__, **parts)
        return run


def is_violation(variance: np.ndarray, total: np.ndarray) -> np.ndarray:
    """Whether V < 0 by more than the rounding of float32 sums of the size of L_q; elementwise, False for NaN."""
    return variance < -_VIOLATION * (1.0 + np.abs(total))


def _plain(frame: Frame | None) -> Frame | None:
    if not isinstance(frame, HierarchyFrame):
        return frame
    values = {name: value for name, value in frame.__dict__.items() if name not in ("upper", "upper_usage", "links")}
    values["metrics"] = dict(frame.metrics)
    return Frame(**values)


def _host(values: torch.Tensor) -> np.ndarray:
    return values.detach().float().cpu().numpy().copy()
