"""A training run that is pulled slice by slice, and repeats itself exactly."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ddcl_core.config import RunConfig
from ddcl_core.data.scene import TokenScene, load_scene
from ddcl_core.devices import resolve_device
from ddcl_core.errors import InputError
from ddcl_core.prototype_forces import forces
from ddcl_core.frame import METRIC_NAMES, Controls, Frame, frame_due
from ddcl_core.losses import quantization_losses
from ddcl_core.metrics import compute_metrics, token_covariance, token_spread, usage
from ddcl_core.model import Evaluation, RunModel
from ddcl_core.optim import parameter_groups, set_learning_rates
from ddcl_core.schedules import temperature_at
from ddcl_core.status import StatusTracker

_HEATING_TOLERANCE = 1e-6  # float32 noise of a mean over a few thousand tokens, relative to |F~| + 1


class TrainingRun:
    """One DDCL model in training, advanced slice by slice.

    Gradient descent on the objective with two speeds, eta_encoder = epsilon * eta_prototypes (arXiv 2604.03850,
    section on timescales). `advance` trains for a while and returns the frames captured meanwhile. The frames depend
    on the configuration and on the step at which each control acted, never on how the training was sliced.

    Parameters: `config`; `scene`, the tokens (loaded from `config.data` when None).
    Raises InputError for data, settings or a device that cannot be used.
    """

    def __init__(self, config: RunConfig, scene: TokenScene | None = None) -> None:
        self.config = config
        self.scene = load_scene(config.data, config.seed) if scene is None else scene
        self.device = resolve_device(config.device)
        self.model = self._build_model().to(self.device)
        head = [] if self.model.head is None else list(self.model.head.parameters())
        prototypes = self.model.prototype_parameters()
        self._readout = [*prototypes, *head]
        groups = parameter_groups(self.model.encoder, prototypes, config.lr_prototypes, config.epsilon, head)
        for group in groups[2:]:
            group["lr"] = self.model.head_rate
        self.optimizer = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}[config.optimizer](groups)

        self.step = 0
        self.epsilon = float(config.epsilon)
        self.hand_temperature: float | None = None
        self.max_steps = config.max_steps
        self.f_tilde_increases = 0
        self._rows: list[np.ndarray] = []
        self._row_steps: list[int] = []
        self._batches = torch.Generator().manual_seed(config.seed + 1)
        self._batch: Tensor | None = self._draw_batch()
        self._measured = self._draw_measured()
        self._pending: Evaluation | None = None
        self._measured_at: tuple[int, float] | None = None  # step and temperature of the last measurement
        self.last_frame: Frame | None = None
        with torch.no_grad():
            start = self.model.encode(self._measured)
        self.status_tracker = StatusTracker(config.num_prototypes, token_spread(token_covariance(start)))
        self._sample = self._draw_sample(len(start))

    def _build_model(self) -> RunModel:
        return RunModel(self.config, self.scene)

    # ---- what is known about the run -------------------------------------------------------------------------------

    @property
    def temperature(self) -> float:
        """T in force at the present step."""
        return temperature_at(self.config.schedule, self.step) if self.hand_temperature is None else self.hand_temperature

    @property
    def status(self) -> str:
        """'stable' (so far), 'collapsed', 'unresolved' or 'diverged'."""
        return self.status_tracker.status

    @property
    def finished(self) -> bool:
        """Diverged, or at `max_steps`; raising `max_steps` lets a run go on."""
        return self.status == "diverged" or self.step >= self.max_steps

    @property
    def history(self) -> dict[str, np.ndarray]:
        """Every metric at every measured step: 'step' (n,) int64 and each of METRIC_NAMES (n,) float64."""
        rows = np.array(self._rows, dtype=np.float64).reshape(-1, len(METRIC_NAMES))
        return {"step": np.array(self._row_steps, dtype=np.int64)} | dict(zip(METRIC_NAMES, rows.T))

    def sample_places(self) -> np.ndarray:
        """(S,) places of the sampled tokens among all N real tokens, in reading order."""
        if self._measured is None:
            return self._sample.cpu().numpy()
        mask, chosen = self.scene.mask, self._measured.cpu().numpy()
        place = np.cumsum(mask).reshape(mask.shape) - 1  # of each real token among all
        return place[chosen][mask[chosen]][self._sample.cpu().numpy()]

    @property
    def notes(self) -> list[str]:
        """What a reader of the metrics should know."""
        if self._measured is None:
            return []
        return [
            f"Curves and pictures are of {len(self._measured):,} of the {len(self.scene.mask):,} documents, drawn at random once; "
            "training draws from all."
        ]

    def sample_info(self) -> dict[str, Any]:
        """Who the sampled tokens are: labels, documents (S,), words (S), class_names."""
        mask = self.scene.mask
        document, position = (index[self.sample_places()] for index in np.nonzero(mask))
        return {
            "labels": self.scene.token_labels[document, position],
            "documents": document,
            "words": [self.scene.words[b][t] for b, t in zip(document, position)],
            "class_names": list(self.scene.class_names),
        }

    # ---- training --------------------------------------------------------------------------------------------------

    def advance(
        self, budget_ms: float = 150.0, controls: Controls | dict[str, Any] | None = None, max_frames: int | None = None
    ) -> list[Frame]:
        """Train until the budget (milliseconds), `controls.until_step` or `max_frames` is used up; at least one step.

        Returns the frames captured, oldest first; a step measured again after a control changed T is sent again.
        Raises InputError for controls that do not fit.
        """
        controls = Controls.of(controls)
        self._apply(controls)
        until = self.max_steps if controls.until_step is None else min(controls.until_step, self.max_steps)
        deadline = time.perf_counter() + budget_ms / 1000.0
        frames: list[Frame] = []
        moved = False
        while True:
            frames += self._measure()
            enough = max_frames is not None and len(frames) >= max_frames
            if self.finished or self.step >= until or enough or (moved and time.perf_counter() >= deadline):
                return frames
            self._update(controls.who)
            moved = True

    def look(self) -> Frame:
        """A frame of the present step, due or not; changes nothing. Raises InputError once the run has diverged early."""
        if self.status == "diverged":
            if self.last_frame is None:
                raise InputError("The run diverged before its first frame; start it again with a smaller learning rate.")
            return self.last_frame
        kept = self.last_frame
        with torch.no_grad():
            evaluation = self.model.evaluate(self.temperature, self._measured)
        known = self._rows[-1] if self._row_steps and self._row_steps[-1] == self.step else None
        metrics = self._metrics(evaluation) if known is None else dict(zip(METRIC_NAMES, known.tolist(), strict=True))
        frame, self.last_frame = self._capture(evaluation, metrics), kept
        return frame

    def assign(self) -> dict[str, Any]:
        """Where every token stands now, not only the sample; changes nothing.

        lead (N,) int32: argmax_k q_nk. strength (N,) float32: q of it. nearest (N,) int32 and distance (N,) float32:
        the nearest prototype in use, one that holds at least 1 / (10 K) of the tokens, and how far it is, in the unit
        of the encoded tokens. usage (K,) float32. prototypes (K, d) float32. step, temperature and status of this
        moment.
        """
        from ddcl_core.clustering import nearest_prototypes

        with torch.no_grad():
            z = self.model.encode()
            weights = torch.nan_to_num(quantization_losses(z, self.model.prototypes, self.temperature).assignments)
            strength, lead = weights.max(dim=1)
            share = _host(usage(weights))
            tokens, prototypes = (np.nan_to_num(_host(values)) for values in (z, self.model.prototypes.detach()))
        nearest, distance = nearest_prototypes(tokens, prototypes, share)
        return {
            "lead": lead.cpu().numpy().astype(np.int32),
            "strength": _host(strength),
            "nearest": nearest.astype(np.int32),
            "distance": distance.astype(np.float32),
            "usage": share,
            "prototypes": prototypes,
            "step": self.step,
            "temperature": self.temperature,
            "status": self.status,
        }

    def _apply(self, controls: Controls) -> None:
        if controls.epsilon is not None and controls.epsilon != self.epsilon:
            self.epsilon = float(controls.epsilon)
            set_learning_rates(self.optimizer, self.config.lr_prototypes, self.epsilon)
            self._pending = None  # its graph may lack the encoder
        if controls.temperature is not None and controls.temperature != self.temperature:
            self.hand_temperature = float(controls.temperature)
            self._pending = None

    def _evaluate(self) -> Evaluation:
        if self._pending is None:
            self._pending = self.model.evaluate(self.temperature, self._batch, train_encoder=self.epsilon > 0)
        return self._pending

    def _measure(self) -> list[Frame]:
        """Record the metrics of the present step, and a frame when one is due. Each step is recorded once."""
        now = (self.step, self.temperature)
        if self._measured_at == now or self.status == "diverged":
            return []
        due = frame_due(self.step, self.config.frame_every) or self.step >= self.max_steps
        if self._batch is not None and not due:
            return []  # a mini-batch says little of all tokens; they, or a fixed sample, are looked at when a frame is due
        if self._batch is None:
            evaluation = self._evaluate()
        else:
            with torch.no_grad():
                evaluation = self.model.evaluate(self.temperature, self._measured)
        metrics = self._metrics(evaluation)
        self.f_tilde_increases = int(metrics["F_tilde_increases"])
        self._measured_at = now
        self._record(metrics)
        self.status_tracker.update(self.step, metrics)
        if self.status == "diverged":
            return self._closing_frame(metrics)
        return [self._capture(evaluation, metrics)] if due else []

    def _metrics(self, evaluation: Evaluation) -> dict[str, float]:
        metrics = compute_metrics(
            evaluation.z, self.model.prototypes, evaluation.losses, self.config.objective
        )
        task = torch.stack((evaluation.anchor, evaluation.accuracy, evaluation.loss)).tolist()
        metrics |= dict(zip(("anchor", "accuracy", "objective"), task, strict=True))
        increases = self.f_tilde_increases
        previous = self._rows[-1] if self._rows else None
        if previous is not None and self._row_steps[-1] < self.step:
            before, heated = previous[METRIC_NAMES.index("F_tilde")], self.temperature > previous[1]
            rise = metrics["F_tilde"] - before
            if not heated and rise > _HEATING_TOLERANCE * (1 + abs(before)):
                increases += 1
        metrics |= {"epsilon": self.epsilon, "temperature": self.temperature}
        metrics["F_tilde_increases"] = float(increases)
        return metrics

    def _record(self, metrics: dict[str, float]) -> None:
        row = np.array([metrics[name] for name in METRIC_NAMES])
        if self._row_steps and self._row_steps[-1] == self.step:
            self._rows[-1] = row
        else:
            self._rows.append(row)
            self._row_steps.append(self.step)

    def _capture(self, evaluation: Evaluation, metrics: dict[str, float]) -> Frame:
        z, prototypes = evaluation.z.detach(), self.model.prototypes.detach()
        pushes = forces(z, prototypes, self.temperature, distances=evaluation.losses.distances)
        assignments = evaluation.losses.assignments.detach()
        self.last_frame = Frame(
            step=self.step,
            epsilon=self.epsilon,
            temperature=self.temperature,
            prototypes=_host(prototypes),
            tokens=_host(z[self._sample]),
            assignments=_host(assignments[self._sample]),
            usage=_host(usage(assignments)),
            force_ols=_host(pushes.ols),
            force_variance=_host(pushes.variance),
            metrics=metrics,
            status=self.status,
            status_step=self.status_tracker.step,
        )
        return self.last_frame

    def _closing_frame(self, metrics: dict[str, float]) -> list[Frame]:
        if self.last_frame is None:
            return []
        said = {"step": self.step, "metrics": metrics, "status": self.status, "status_step": self.status_tracker.step}
        self.last_frame = Frame(**{**self.last_frame.__dict__, **said})
        return [self.last_frame]

    def _update(self, who: str) -> None:
        evaluation = self._evaluate()
        self.optimizer.zero_grad(set_to_none=True)
        evaluation.loss.backward()
        self._pending = None
        # A player who stands still keeps no gradient: a zero learning rate would still move Adam's averages.
        resting = {"both": (), "encoder": self._readout, "prototypes": self.model.encoder.parameters()}[who]
        for parameter in resting:
            parameter.grad = None
        self.optimizer.step()
        self.step += 1
        self._batch = self._draw_batch()

    # ---- fixed choices ---------------------------------------------------------------------------------------------

    def _draw_batch(self) -> Tensor | None:
        size, documents = self.config.batch_documents, len(self.scene.mask)
        if size is None or size >= documents:
            return None
        return torch.randperm(documents, generator=self._batches)[:size].to(self.device)

    def _draw_measured(self) -> Tensor | None:
        size, documents = self.config.measured_documents, len(self.scene.mask)
        if size is None or size >= documents or self._batch is None:
            return None
        generator = torch.Generator().manual_seed(self.config.seed + 3)
        return torch.randperm(documents, generator=generator)[:size].sort().values.to(self.device)

    def _draw_sample(self, tokens: int) -> Tensor:
        generator = torch.Generator().manual_seed(self.config.seed + 2)
        chosen = torch.randperm(tokens, generator=generator)[: self.config.sample_tokens]
        return chosen.sort().values.to(self.device)

    # ---- snapshots -------------------------------------------------------------------------------------------------

    def save(self) -> bytes:
        """The whole state as safetensors bytes; `restore` continues from it exactly."""
        from ddcl_core.snapshot import save_run

        return save_run(self)

    @classmethod
    def restore(cls, data: bytes, scene: TokenScene | None = None) -> "TrainingRun":
        """A run that goes on where `save` was called. Raises InputError for bytes that are no snapshot."""
        from ddcl_core.snapshot import restore_run

        return restore_run(data, scene)


def _host(values: Tensor) -> np.ndarray:
    return values.float().cpu().numpy().copy()
