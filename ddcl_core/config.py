"""Frozen, validated descriptions of a run. Importing this module needs neither torch nor numpy.

A `RunConfig` together with a seed determines a run completely: same config, same machine, same frames.
Symbols follow Cirrincione and Kumar, arXiv 2604.03850 (2026).
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from ddcl_core.errors import InputError

DATA_KINDS = ("synthetic", "bbc", "reviews", "newsgroups", "sst2", "imdb", "custom", "orbits")
ENCODERS = ("transformer", "residual", "mlp", "none")
OBJECTIVES = ("L_q", "F", "L_OLS", "V")
ANCHORS = ("none", "classification", "reconstruction")
SCHEDULES = ("constant", "linear", "exponential", "cosine", "by_hand")
OPTIMIZERS = ("sgd", "adam")
INITIALIZATIONS = ("scaled", "random", "kmeans++")

TEMPERATURE_RANGE = (1e-4, 1e6)
EPSILON_RANGE = (0.0, 1e3)


def _choice(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise InputError(f"{name} is {value!r}; choose one of {', '.join(allowed)}.")


def _text(name: str, value: Any) -> None:
    if not isinstance(value, str):
        raise InputError(f"{name} is {value!r}; it must be a text.")


def _number(name: str, value: Any, low: float, high: float, *, whole: bool = False) -> None:
    kind = "a whole number" if whole else "a number"
    types = int if whole else (int, float)
    ok = isinstance(value, types) and not isinstance(value, bool) and math.isfinite(value)
    if not ok or not low <= value <= high:
        raise InputError(f"{name} is {value!r}; it must be {kind} from {low:g} to {high:g}.")


@dataclass(frozen=True)
class DataConfig:
    """Which tokens a run sees.

    kind: 'synthetic' topic tokens, 'bbc', 'reviews', 'newsgroups', 'sst2' or 'imdb' documents
        through a frozen encoder, 'custom' documents, or
        'orbits': each object is a document of one token.
    num_documents, tokens_per_document: size of the scene; B and T in (B, T, dim). Orbits: how many objects at most.
    dim: token dimension d after PCA (documents), or of the synthetic tokens. Orbits: the first so many of six features.
    clusters, noise: synthetic only; number of topics and standard deviation of a token around its topic centre.
    model: name or folder of the frozen Hugging Face encoder; 'minilm' is the packaged all-MiniLM-L6-v2.
    texts, text_labels: 'custom' only; the documents themselves and, optionally, one label for each. Orbits: `texts`
        holds the content of a catalogue file; without it the population is synthetic.
    imbalance: synthetic orbits only; the most frequent regime over the rarest. There, `noise` smears the elements.
    """

    kind: str = "synthetic"
    num_documents: int = 64
    tokens_per_document: int = 24
    dim: int = 32
    clusters: int = 6
    noise: float = 0.35
    model: str = "minilm"
    texts: tuple[str, ...] = ()
    text_labels: tuple[str, ...] = ()
    imbalance: float = 50.0

    def __post_init__(self) -> None:
        _choice("data.kind", self.kind, DATA_KINDS)
        _number("data.num_documents", self.num_documents, 1, 100_000, whole=True)
        _number("data.tokens_per_document", self.tokens_per_document, 1, 4096, whole=True)
        _number("data.dim", self.dim, 1, 1024, whole=True)
        _number("data.clusters", self.clusters, 1, 64, whole=True)
        _number("data.noise", self.noise, 0.0, 100.0)
        _number("data.imbalance", self.imbalance, 1.0, 10_000.0)
        _text("data.model", self.model)
        for name in ("texts", "text_labels"):
            values = getattr(self, name)
            if not isinstance(values, (list, tuple)) or not all(isinstance(v, str) for v in values):
                raise InputError(f"data.{name} must be a list of texts; this is {type(values).__name__}.")
            object.__setattr__(self, name, tuple(values))
        if self.kind == "custom" and not any(t.strip() for t in self.texts):
            raise InputError("There are no documents with text in them; add at least one that is not empty.")
        if self.text_labels and len(self.text_labels) != len(self.texts):
            raise InputError(
                f"There are {len(self.texts)} documents but {len(self.text_labels)} labels; give one label a document."
            )


@dataclass(frozen=True)
class EncoderConfig:
    """The trainable encoder on top of the tokens.

    kind: 'transformer' from scratch, 'residual' starting as the identity, 'mlp' likewise but each token by itself, or
        'none' (frozen tokens).
    layers, heads: depth and attention heads. final_norm: end with a LayerNorm; without it SGD at epsilon = 1 diverges.
    """

    kind: str = "transformer"
    layers: int = 2
    heads: int = 4
    final_norm: bool = True

    def __post_init__(self) -> None:
        _choice("encoder.kind", self.kind, ENCODERS)
        _number("encoder.layers", self.layers, 1, 12, whole=True)
        _number("encoder.heads", self.heads, 1, 32, whole=True)
        if not isinstance(self.final_norm, bool):
            raise InputError(f"encoder.final_norm is {self.final_norm!r}; it must be true or false.")


@dataclass(frozen=True)
class ScheduleConfig:
    """Temperature T as a function of the step: from `start` at step 0 to `end` at step `steps`, constant after that.

    'constant' and 'by_hand' stay at `start` until a control sets another value.
    """

    kind: str = "constant"
    start: float = 2.0
    end: float = 2.0
    steps: int = 200

    def __post_init__(self) -> None:
        _choice("schedule.kind", self.kind, SCHEDULES)
        for name in ("start", "end"):
            _number(f"schedule.{name} (the temperature T)", getattr(self, name), *TEMPERATURE_RANGE)
        _number("schedule.steps", self.steps, 1, 10_000_000, whole=True)


@dataclass(frozen=True)
class RunConfig:
    """Everything that determines a training run.

    epsilon: ratio eta_encoder / eta_prototypes (0 freezes the encoder). lr_prototypes: eta_prototypes.
    objective: what the encoder and the prototypes descend, times `objective_weight`; `anchor` adds a task:
        'classification' (cross-entropy of a linear head on the pooled readout) or 'reconstruction' (of the input
        tokens from the soft centroids), times `anchor_weight`.
    initialization, init_scale: 'scaled' puts p_k = mean + a (token_k - mean) with a = init_scale.
    batch_documents: documents a step; None takes all of them (full-batch gradient descent, as F~ needs).
    measured_documents: with batches, metrics and frames are of a fixed, random sample of so many documents; None takes all.
    frame_every: capture a frame every so many steps; 0 captures every step to 40, then every second.
    sample_tokens: size of the fixed token sample in a frame. max_steps: the run is finished there.
    device: 'auto', 'cpu', 'cuda' or 'mps'.
    """

    data: DataConfig = field(default_factory=DataConfig)
    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    schedule: ScheduleConfig = field(default_factory=ScheduleConfig)
    num_prototypes: int = 8
    epsilon: float = 0.05
    lr_prototypes: float = 0.1
    optimizer: str = "sgd"
    objective: str = "L_q"
    objective_weight: float = 1.0
    anchor: str = "none"
    anchor_weight: float = 1.0
    initialization: str = "scaled"
    init_scale: float = 0.6
    seed: int = 7
    batch_documents: int | None = None
    measured_documents: int | None = None
    frame_every: int = 0
    sample_tokens: int = 1500
    max_steps: int = 400
    device: str = "auto"

    def __post_init__(self) -> None:
        _number("num_prototypes", self.num_prototypes, 1, 512, whole=True)
        _number("epsilon", self.epsilon, *EPSILON_RANGE)
        _number("lr_prototypes", self.lr_prototypes, 0.0, 1e3)
        _choice("optimizer", self.optimizer, OPTIMIZERS)
        _choice("objective", self.objective, OBJECTIVES)
        _number("objective_weight", self.objective_weight, 0.0, 1e6)
        _choice("anchor", self.anchor, ANCHORS)
        _number("anchor_weight", self.anchor_weight, 0.0, 1e6)
        _choice("initialization", self.initialization, INITIALIZATIONS)
        _number("init_scale (a)", self.init_scale, 0.0, 100.0)
        _number("seed", self.seed, 0, 2**32 - 1, whole=True)
        if self.batch_documents is not None:
            _number("batch_documents", self.batch_documents, 1, 100_000, whole=True)
        if self.measured_documents is not None:
            _number("measured_documents", self.measured_documents, 1, 100_000, whole=True)
            if self.batch_documents is None:
                raise InputError(
                    "measured_documents needs batch_documents: a run that trains on all documents at each step measures all of them."
                )
        _number("frame_every", self.frame_every, 0, 100_000, whole=True)
        _number("sample_tokens", self.sample_tokens, 1, 20_000, whole=True)
        _number("max_steps", self.max_steps, 1, 10_000_000, whole=True)
        heads, dim = self.encoder.heads, self.data.dim
        if self.encoder.kind in ("transformer", "residual") and dim % heads:
            fits = ", ".join(str(h) for h in range(1, dim + 1) if dim % h == 0)
            raise InputError(f"encoder.heads is {heads}, which does not divide data.dim = {dim}; choose one of {fits}.")
        _text("device", self.device)
        if not (self.device in ("auto", "cpu", "mps", "cuda") or self.device.startswith("cuda:")):
            raise InputError(f"device is {self.device!r}; choose auto, cpu, cuda or mps.")

    @property
    def temperature(self) -> float:
        """T at step 0."""
        return self.schedule.start

    def with_(self, **changes: Any) -> "RunConfig":
        """A copy with some fields changed; `temperature=` sets the start of the schedule."""
        if "temperature" in changes:
            changes["schedule"] = replace(self.schedule, start=changes.pop("temperature"))
        return replace(self, **changes)

    def to_dict(self) -> dict[str, Any]:
        """Plain dictionaries, lists, numbers and strings; `from_dict` reads them back."""
        return json.loads(json.dumps(asdict(self)))

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "RunConfig":
        """Read what `to_dict` wrote; raises InputError for an unknown name or a value that does not fit."""
        return _build(cls, values, "configuration")

    def scene_digest(self) -> str:
        """Short hash of everything that determines the tokens and the map: two runs that share it share one map."""
        d = self.to_dict()
        keys = ("data", "encoder", "num_prototypes", "initialization", "init_scale", "seed", "sample_tokens", "measured_documents")
        return _digest({k: d[k] for k in keys})

    def digest(self) -> str:
        """Short hash of the whole configuration."""
        return _digest(self.to_dict())


_NESTED = {"data": DataConfig, "encoder": EncoderConfig, "schedule": ScheduleConfig}


def _build(cls: type, values: Any, what: str) -> Any:
    if not isinstance(values, dict):
        raise InputError(f"The {what} must be a mapping of names to values, not {type(values).__name__}.")
    known = {f.name for f in fields(cls)}
    unknown = sorted(set(values) - known)
    if unknown:
        raise InputError(f"The {what} has no setting called {unknown[0]!r}; it knows {', '.join(sorted(known))}.")
    built = {k: _build(_NESTED[k], v, k) if k in _NESTED and cls is RunConfig else v for k, v in values.items()}
    try:
        return cls(**built)
    except TypeError as error:
        raise InputError(f"The {what} holds a value of the wrong type: {error}.") from error


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]
