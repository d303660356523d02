"""A codebook in training that is pulled slice by slice, and repeats itself exactly."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ddcl_core.codebook.base import Codebook
from ddcl_core.codebook.config import CELL, CodebookConfig
from ddcl_core.codebook.epoch import EpochMeter
from ddcl_core.codebook.frame import CODEBOOK_METRICS, CodebookFrame
from ddcl_core.codebook.hard import HardCodebook
from ddcl_core.codebook.health import Health, codebook_health
from ddcl_core.codebook.images import ImageSet, load_images
from ddcl_core.codebook.measure import capture
from ddcl_core.codebook.soft import SoftCodebook
from ddcl_core.codebook.vqvae import VQVAE
from ddcl_core.devices import resolve_device
from ddcl_core.frame import Controls, frame_due
from ddcl_core.metrics import token_covariance, token_spread
from ddcl_core.optim import parameter_groups, set_learning_rates
from ddcl_core.schedules import temperature_at

_START_OUTPUTS = 8192  # outputs of the untrained encoder that codes are placed on


class CodebookRun:
    """One VQ-VAE in training, soft or hard, with the interface of `ddcl_core.run.TrainingRun`.

    loss = |x - x'|^2 / data variance + codebook loss (see `CodebookConfig`), with Adam at epsilon * eta_codes for the
    encoder, eta_codes for the codes and lr_decoder for the decoder. Two runs of one seed see the same images in the
    same order and start from the same encoder and decoder. Frames depend on the configuration and on the step at which
    each control acted, never on how the training was sliced.

    Parameters: `config`; `images` (loaded from `config.images` when None, and needed for own images).
    Raises InputError for images, settings or a device that cannot be used.
    """

    def __init__(self, config: CodebookConfig, images: ImageSet | None = None) -> None:
        self.config = config
        self.images = load_images(config.images, config.seed) if images is None else images
        self.device = resolve_device(config.device)
        self.model = VQVAE(
            make_codebook(config), self.images.train.shape[3], config.hidden, config.latent_norm, config.seed
        ).to(self.device)
        self.train = _pixels(self.images.train).to(self.device)  # N, C, H, W
        self.held_out = _pixels(self.images.held_out).to(self.device)  # E, C, H, W
        mean = self.train.mean(0)
        self.data_variance = max(1e-6, float((self.train - mean).square().mean()))
        self.blank_error = max(1e-6, float((self.held_out - mean).square().mean()))

        groups = parameter_groups(
            self.model.encoder, [self.model.codebook.codes], config.lr_codes, config.epsilon, self.model.decoder
        )
        groups[2]["lr"] = config.lr_decoder
        self.optimizer = torch.optim.Adam(groups)
        self.step = 0
        self.epsilon = float(config.epsilon)
        self.hand_temperature: float | None = None
        self.max_steps = config.max_steps
        self.status = "training"
        self.status_step: int | None = None
        self.train_error = math.nan
        self.last_frame: CodebookFrame | None = None
        self.epochs = EpochMeter(config.num_codes, self.device)
        self._rows: list[np.ndarray] = []
        self._row_steps: list[int] = []
        self._measured_at: tuple[int, float] | None = None
        self._shuffles = torch.Generator().manual_seed(config.seed + 1)
        self._order = torch.randperm(len(self.train), generator=self._shuffles)
        self._place_codes()

    # ---- what is known about the run -------------------------------------------------------------------------------

    @property
    def temperature(self) -> float:
        """T in force at the present step; a hard codebook has one too, which changes nothing."""
        return (
            temperature_at(self.config.schedule, self.step) if self.hand_temperature is None else self.hand_temperature
        )

    @property
    def steps_per_epoch(self) -> int:
        """Batches that show every training image once; the last may be smaller."""
        return -(-len(self.train) // self.config.batch_images)

    @property
    def finished(self) -> bool:
        """Diverged, or at `max_steps`; raising `max_steps` lets a run go on."""
        return self.status == "diverged" or self.step >= self.max_steps

    @property
    def health(self) -> Health:
        """The verdict at the last frame; 'diverged' without one."""
        return codebook_health(*[math.nan] * 3) if self.last_frame is None else self.last_frame.health

    @property
    def history(self) -> dict[str, np.ndarray]:
        """The metrics of every frame: 'step' (n,) int64 and each of CODEBOOK_METRICS (n,) float64."""
        rows = np.array(self._rows, dtype=np.float64).reshape(-1, len(CODEBOOK_METRICS))
        return {"step": np.array(self._row_steps, dtype=np.int64)} | dict(zip(CODEBOOK_METRICS, rows.T))

    @property
    def epoch_history(self) -> dict[str, np.ndarray]:
        """Usage of every whole epoch: 'epoch' (n,) from 1, 'used' (share of codes), 'perplexity' and 'dead' (n,)."""
        rows = np.array(self.epochs.rows, dtype=np.float64).reshape(-1, 3)
        return {"epoch": np.arange(1, len(rows) + 1)} | dict(zip(("used", "perplexity", "dead"), rows.T))

    def _sample_places(self) -> list[tuple[int, int]]:
        cells = self._grid[0] * self._grid[1]
        return [(int(place) // cells, int(place) % cells) for place in self._sample.cpu()]

    def _sample_labels(self) -> np.ndarray:
        labels = self.images.held_out_labels
        images = np.array([image for image, _ in self._sample_places()])
        return np.zeros(len(images), dtype=np.int64) if labels is None else labels[images]

    def sample_info(self) -> dict[str, Any]:
        """What never changes in a run's pictures.

        originals (E, H, W, C) uint8: all images kept apart; the first n of them are those reconstructed in a frame.
        image_labels (E,) or None, class_names. labels (S,): class of the image of each sampled output, 0 without
        classes; documents (S,): its image; words: where it lies. cell: pixels a side of a code's cell. output_images,
        output_cells (S,): which image, and which of its h * w cells, each sampled encoder output belongs to. name,
        source, notes.
        """
        images, (h, w) = self.images, self._grid
        return {
            "originals": images.held_out,
            "labels": self._sample_labels(),
            "documents": self._sample.cpu().numpy() // (h * w),
            "words": [f"image {i + 1}, cell {c + 1}" for i, c in self._sample_places()],
            "image_labels": images.held_out_labels,
            "class_names": list(images.class_names),
            "cell": CELL,
            "output_images": self._sample.cpu().numpy() // (h * w),
            "output_cells": self._sample.cpu().numpy() % (h * w),
            "grid": (int(h), int(w)),
            "name": images.name,
            "source": images.source,
            "notes": list(images.notes),
            "train_images": len(self.train),
            "steps_per_epoch": self.steps_per_epoch,
        }

    # ---- training --------------------------------------------------------------------------------------------------

    def advance(
        self, budget_ms: float = 150.0, controls: Controls | dict[str, Any] | None = None, max_frames: int | None = None
    ) -> list[CodebookFrame]:
        """Train until the budget (milliseconds), `controls.until_step` or `max_frames` is used up; at least one step.

        Returns the frames captured, oldest first; a step measured again after a control changed T is sent again.
        Raises InputError for controls that do not fit.
        """
        controls = Controls.of(controls)
        self._apply(controls)
        until = self.max_steps if controls.until_step is None else min(controls.until_step, self.max_steps)
        deadline = time.perf_counter() + budget_ms / 1000.0
        frames: list[CodebookFrame] = []
        moved = False
        while True:
            frames += self._measure()
            enough = max_frames is not None and len(frames) >= max_frames
            if self.finished or self.step >= until or enough or (moved and time.perf_counter() >= deadline):
                return frames
            frames += self._update(controls.who)
            moved = True

    def look(self) -> CodebookFrame | None:
        """A frame of the present step, whether one was due or not; None when the run diverged at once."""
        if self.status == "diverged":
            return self.last_frame
        self._set_temperature()
        return capture(self)

    def _apply(self, controls: Controls) -> None:
        if controls.epsilon is not None and controls.epsilon != self.epsilon:
            self.epsilon = float(controls.epsilon)
            set_learning_rates(self.optimizer, self.config.lr_codes, self.epsilon)
        if controls.temperature is not None and controls.temperature != self.temperature:
            self.hand_temperature = float(controls.temperature)
        self._set_temperature()

    def _set_temperature(self) -> None:
        if isinstance(self.model.codebook, SoftCodebook):
            self.model.codebook.set_temperature(self.temperature)

    def _measure(self) -> list[CodebookFrame]:
        """Capture a frame when one is due. Each step is captured once, and again when T was changed by hand there."""
        now = (self.step, self.temperature)
        due = frame_due(self.step, self.config.frame_every) or self.step >= self.max_steps
        if self.status == "diverged" or self._measured_at == now or not due:
            return []
        self._set_temperature()
        frame = capture(self)
        if not all(math.isfinite(frame.metrics[name]) for name in ("error", "error_hardened", "L_q", "token_spread")):
            return self._diverge()
        self._measured_at = now
        row = np.array([frame.metrics[name] for name in CODEBOOK_METRICS])
        if self._row_steps and self._row_steps[-1] == self.step:
            self._rows[-1] = row
        else:
            self._rows.append(row)
            self._row_steps.append(self.step)
        self.last_frame = frame
        return [frame]

    def _update(self, who: str) -> list[CodebookFrame]:
        """One step; returns nothing but the closing frame of a run that diverges in it."""
        self._set_temperature()
        x = self.train[self._batch()]  # B, C, H, W
        self.model.train()
        reconstruction, coded = self.model(x)
        error = (reconstruction - x).square().mean()
        loss = error / self.data_variance + coded.loss
        self.train_error, value = torch.stack((error.detach(), loss.detach())).tolist()
        if not math.isfinite(value):
            self.step += 1
            return self._diverge()
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        # A player who stands still keeps no gradient: a zero learning rate would still move Adam's averages.
        readout = (self.model.codebook.codes, *self.model.decoder.parameters())
        for parameter in {"both": (), "encoder": readout, "prototypes": self.model.encoder.parameters()}[who]:
            parameter.grad = None
        self.optimizer.step()
        self.epochs.add(coded.counts, coded.weights)
        self.step += 1
        if self.epochs.batches == self.steps_per_epoch:
            self.epochs.close()
            self._order = torch.randperm(len(self.train), generator=self._shuffles)
        return []

    def _diverge(self) -> list[CodebookFrame]:
        self.status, self.status_step = "diverged", self.step
        return self._closing_frames()

    def _closing_frames(self) -> list[CodebookFrame]:
        if self.last_frame is None:
            return []
        nan = codebook_health(*[math.nan] * 3)
        said = {"step": self.step, "health": nan, "status": self.status, "status_step": self.status_step}
        self.last_frame = CodebookFrame(**{**self.last_frame.__dict__, **said})
        return [self.last_frame]

    # ---- fixed choices ---------------------------------------------------------------------------------------------

    def _batch(self) -> Tensor:
        start = self.epochs.batches * self.config.batch_images
        return self._order[start : start + self.config.batch_images].to(self.device)

    @torch.no_grad()
    def _place_codes(self) -> None:
        """Start the codes, fix the sample, and keep the spread of the untrained encoder's outputs."""
        generator = torch.Generator().manual_seed(self.config.seed + 3)
        chosen = torch.randperm(len(self.train), generator=generator)[:128]
        self.model.train()
        z = self.model.encode(self.train[chosen.to(self.device)])  # B, h, w, d
        if isinstance(self.model.norm, nn.BatchNorm1d):  # evaluation mode starts from these outputs' own statistics
            raw = self.model.encoder(self.train[chosen.to(self.device)] - 0.5)  # B, d, h, w
            self.model.norm.running_mean.copy_(raw.mean((0, 2, 3)))
            self.model.norm.running_var.copy_(raw.var((0, 2, 3)))
        self._grid = z.shape[1:3]
        flat = z.reshape(-1, self.config.dim).cpu()
        flat = flat[torch.randperm(len(flat), generator=generator)[:_START_OUTPUTS]]
        self.model.codebook.initialize_from(
            flat.to(self.device), self.config.initialization, self.config.init_scale, generator
        )
        self.initial_spread = token_spread(token_covariance(flat))
        places = len(self.held_out) * self._grid[0] * self._grid[1]
        sample = torch.Generator().manual_seed(self.config.seed + 2)
        self._sample = (
            torch.randperm(places, generator=sample)[: self.config.sample_outputs].sort().values.to(self.device)
        )

    # ---- snapshots -------------------------------------------------------------------------------------------------

    def save(self) -> bytes:
        """The whole state as safetensors bytes; `restore` continues from it exactly."""
        from ddcl_core.codebook.snapshot import save_run

        return save_run(self)

    @classmethod
    def restore(cls, data: bytes, images: ImageSet | None = None) -> "CodebookRun":
        """A run that goes on where `save` was called, on the same images. Raises InputError for other bytes."""
        from ddcl_core.codebook.snapshot import restore_run

        return restore_run(data, images)


def make_codebook(config: CodebookConfig) -> Codebook:
    """The codebook that `config` describes."""
    c = config
    if c.codebook == "soft":
        return SoftCodebook(c.num_codes, c.dim, c.temperature, c.objective, c.loss_weight, c.chunk_limit, c.seed)
    decay = c.ema_decay if c.codebook == "ema" else None
    return HardCodebook(c.num_codes, c.dim, c.commitment, c.loss_weight, decay, c.revive_below, c.chunk_limit, c.seed)


def _pixels(images: np.ndarray) -> Tensor:
    """uint8 (N, H, W, C) -> float32 (N, C, H, W) in [0, 1]."""
    return torch.from_numpy(np.ascontiguousarray(images)).permute(0, 3, 1, 2).float().div_(255.0).contiguous()
