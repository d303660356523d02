"""Frozen, validated description of a codebook run. Importing this module needs neither torch nor numpy."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, ClassVar

from ddcl_core.config import EPSILON_RANGE, OBJECTIVES, ScheduleConfig, _choice, _number, _text
from ddcl_core.errors import InputError

IMAGE_KINDS = ("patches", "digits", "cifar10", "own")
CODEBOOKS = ("soft", "hard", "ema")
LATENT_NORMS = ("none", "layer", "batch")
INITIALIZATIONS = ("scaled", "kmeans++", "random", "uniform")
CELL = 4
"""Pixels a side that one code stands for: the encoder halves the image twice."""


@dataclass(frozen=True)
class ImageConfig:
    """Which images a run sees.

    kind: 'patches' of scikit-learn's two photographs (always there), 'digits' of scikit-learn, 'cifar10', or a
    person's 'own' images, which are handed to the run as an `ImageSet`.
    num_images: images to train on, at most (drawn by the seed). eval_images: images kept apart for every figure shown.
    reference: 'own' only; a name for the pictures that were handed in, so that others make another configuration.
    """

    kind: str = "patches"
    num_images: int = 1024
    eval_images: int = 32
    reference: str = ""

    def __post_init__(self) -> None:
        _choice("images.kind", self.kind, IMAGE_KINDS)
        _number("images.num_images", self.num_images, 1, 100_000, whole=True)
        _number("images.eval_images", self.eval_images, 1, 1_000, whole=True)
        _text("images.reference", self.reference)


@dataclass(frozen=True)
class CodebookConfig:
    """Everything that determines the training of one VQ-VAE.

    loss = reconstruction / data variance + codebook part, where the codebook part is

        soft    loss_weight * objective                               objective: 'L_q', 'F', 'L_OLS' or 'V'
        hard    loss_weight * |sg(z) - p|^2 + commitment * |z - sg(p)|^2        (straight-through estimator)
        ema     commitment * |z - sg(p)|^2, codes follow a moving average of the outputs they are chosen for

    num_codes: K. dim: d, numbers in a code. hidden: channels inside encoder and decoder. latent_norm: how the encoder
    ends, so that T keeps its meaning while it trains: 'layer' fixes |z|^2 = d for every output, 'batch' gives every
    coordinate mean 0 and variance 1 over the batch (tr C = d, so the outputs cannot shrink), 'none' leaves them free.
    epsilon: eta_encoder / eta_codes; lr_codes: eta_codes; lr_decoder: the decoder's own rate. Adam throughout.
    initialization: from the untrained encoder's outputs ('scaled' with a = init_scale, or 'kmeans++'), or blind to
    them ('random' standard normal, 'uniform' in +-1/K as in the first VQ-VAE).
    ema_decay: of the moving averages a batch. revive_below: 'ema' only; a code whose moving count of outputs a batch
    falls below this is moved onto a random output of the batch (0: never).
    schedule: temperature T by step; only the soft codebook has one.
    frame_every: as in `RunConfig`. sample_outputs: encoder outputs S in a frame. shown_images: reconstructions in it.
    chunk_limit: most assignments (numbers, N*K) held at a time; the result does not depend on it.
    """

    run_kind: ClassVar[str] = "codebook"

    images: ImageConfig = field(default_factory=ImageConfig)
    schedule: ScheduleConfig = field(default_factory=lambda: ScheduleConfig(start=1.0, end=1.0))
    codebook: str = "soft"
    num_codes: int = 64
    dim: int = 16
    hidden: int = 32
    latent_norm: str = "none"
    epsilon: float = 1.0
    lr_codes: float = 2e-3
    lr_decoder: float = 2e-3
    objective: str = "L_q"
    loss_weight: float = 1.0
    commitment: float = 0.25
    ema_decay: float = 0.99
    revive_below: float = 0.0
    initialization: str = "kmeans++"
    init_scale: float = 1.0
    batch_images: int = 32
    seed: int = 7
    frame_every: int = 0
    sample_outputs: int = 1000
    shown_images: int = 8
    max_steps: int = 640
    chunk_limit: int = 2**24
    device: str = "auto"

    def __post_init__(self) -> None:
        _choice("codebook", self.codebook, CODEBOOKS)
        _number("num_codes", self.num_codes, 1, 16_384, whole=True)
        _number("dim", self.dim, 1, 512, whole=True)
        _number("hidden", self.hidden, 1, 512, whole=True)
        _choice("latent_norm", self.latent_norm, LATENT_NORMS)
        _number("epsilon", self.epsilon, *EPSILON_RANGE)
        for name in ("lr_codes", "lr_decoder"):
            _number(name, getattr(self, name), 0.0, 1e3)
        _choice("objective", self.objective, OBJECTIVES)
        for name in ("loss_weight", "commitment"):
            _number(name, getattr(self, name), 0.0, 1e6)
        _number("ema_decay", self.ema_decay, 0.0, 1.0)
        _number("revive_below", self.revive_below, 0.0, 1e6)
        if self.revive_below and self.codebook != "ema":
            raise InputError("revive_below needs the codebook 'ema', which keeps the counts; set it to 0 or use 'ema'.")
        _choice("initialization", self.initialization, INITIALIZATIONS)
        _number("init_scale (a)", self.init_scale, 0.0, 100.0)
        _number("batch_images", self.batch_images, 1, 100_000, whole=True)
        _number("seed", self.seed, 0, 2**32 - 1, whole=True)
        _number("frame_every", self.frame_every, 0, 100_000, whole=True)
        _number("sample_outputs", self.sample_outputs, 1, 20_000, whole=True)
        _number("shown_images", self.shown_images, 1, 64, whole=True)
        _number("max_steps", self.max_steps, 1, 10_000_000, whole=True)
        _number("chunk_limit", self.chunk_limit, 1, 2**40, whole=True)
        if not (self.device in ("auto", "cpu", "mps", "cuda") or self.device.startswith("cuda:")):
            raise InputError(f"device is {self.device!r}; choose auto, cpu, cuda or mps.")

    @property
    def temperature(self) -> float:
        """T at step 0."""
        return self.schedule.start

    @property
    def num_prototypes(self) -> int:
        """K; a code is a prototype among the encoder's outputs."""
        return self.num_codes

    @property
    def data(self) -> ImageConfig:
        """The images, which runs that are compared share."""
        return self.images

    def with_(self, **changes: Any) -> "CodebookConfig":
        """A copy with some fields changed; `temperature=` makes T constant at that value."""
        if "temperature" in changes:
            value = changes.pop("temperature")
            changes["schedule"] = ScheduleConfig("constant", value, value, self.schedule.steps)
        return replace(self, **changes)

    def to_dict(self) -> dict[str, Any]:
        """Plain dictionaries, numbers and strings; `from_dict` reads them back."""
        return json.loads(json.dumps(asdict(self)))

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "CodebookConfig":
        """Read what `to_dict` wrote; raises InputError for an unknown name or a value that does not fit."""
        nested = {"images": ImageConfig, "schedule": ScheduleConfig}
        if not isinstance(values, dict):
            raise InputError(f"The configuration must be a mapping of names to values, not {type(values).__name__}.")
        built = {name: _read(nested[name], value, name) if name in nested else value for name, value in values.items()}
        return _read(cls, built, "configuration")

    def digest(self) -> str:
        """Short hash of the whole configuration."""
        return _digest(self.to_dict())

    def scene_digest(self) -> str:
        """Short hash of what determines images and map; controls that act while it runs leave it as it is."""
        d = self.to_dict()
        return _digest({k: v for k, v in d.items() if k not in ("epsilon", "schedule", "max_steps", "device")})


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


def _read(cls: type, values: Any, what: str) -> Any:
    known = {f.name for f in fields(cls)}
    if not isinstance(values, dict):
        raise InputError(f"{what} must be a mapping of names to values, not {type(values).__name__}.")
    unknown = sorted(set(values) - known)
    if unknown:
        raise InputError(f"The {what} has no setting called {unknown[0]!r}; it knows {', '.join(sorted(known))}.")
    try:
        return cls(**values)
    except TypeError as error:
        raise InputError(f"The {what} holds a value of the wrong type: {error}.") from error
