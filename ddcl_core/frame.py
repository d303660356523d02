"""What a run shows of one step, and what a person may change between two steps. Needs numpy, not torch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ddcl_core.config import EPSILON_RANGE, TEMPERATURE_RANGE, _choice, _number
from ddcl_core.errors import InputError

PLAYERS = ("both", "encoder", "prototypes")

LOSS_METRICS = (
    "L_q", "L_OLS", "V", "H", "F", "F_tilde",
    "separation_min", "separation_mean", "weighted_separation", "effective_prototypes", "dead_prototypes",
    "critical_temperature", "lambda_max", "token_spread",
)  # fmt: skip
"""The keys of `ddcl_core.metrics.compute_metrics`, in order."""

METRIC_NAMES = ("epsilon", "temperature", *LOSS_METRICS, "anchor", "accuracy", "objective", "F_tilde_increases")


@dataclass(frozen=True)
class Controls:
    """Changes that take effect before the next step.

    epsilon, temperature: new values, or None to keep the present ones; a temperature set by hand ends the schedule.
    until_step: train no further than this step. who: the players that move, 'both', 'encoder' or 'prototypes'.
    """

    epsilon: float | None = None
    temperature: float | None = None
    until_step: int | None = None
    who: str = "both"

    def __post_init__(self) -> None:
        if self.epsilon is not None:
            _number("epsilon", self.epsilon, *EPSILON_RANGE)
        if self.temperature is not None:
            _number("temperature", self.temperature, *TEMPERATURE_RANGE)
        if self.until_step is not None:
            _number("until_step", self.until_step, 0, 10_000_000, whole=True)
        _choice("who", self.who, PLAYERS)

    @classmethod
    def of(cls, value: "Controls | dict[str, Any] | None") -> "Controls":
        """Read controls from a mapping; raises InputError for unknown names and values that do not fit."""
        if value is None:
            return cls()
        if isinstance(value, Controls):
            return value
        unknown = set(value) - set(cls.__dataclass_fields__)
        if unknown:
            known = ", ".join(cls.__dataclass_fields__)
            raise InputError(f"There is no control called {sorted(unknown)[0]!r}; the controls are {known}.")
        return cls(**value)


@dataclass(frozen=True)
class Frame:
    """One captured step; every array is a copy, so that a frame never changes.

    step: number of updates made so far. epsilon, temperature: the values in force at this step.
    prototypes (K, d); tokens (S, d): encoded tokens of the fixed sample; assignments (S, K): their q.
    usage (K,): mean of q over all tokens. force_ols, force_variance (K, d): -dL_OLS/dp_k and -dV/dp_k.
    metrics: the values of METRIC_NAMES. status: 'stable', 'collapsed', 'unresolved' or 'diverged'; status_step: the
    step at which it became so. A diverged frame keeps the positions of the last finite one.
    """

    step: int
    epsilon: float
    temperature: float
    prototypes: np.ndarray
    tokens: np.ndarray
    assignments: np.ndarray
    usage: np.ndarray
    force_ols: np.ndarray
    force_variance: np.ndarray
    metrics: dict[str, float] = field(default_factory=dict)
    status: str = "stable"
    status_step: int | None = None


def frame_due(step: int, every: int) -> bool:
    """Whether a frame is captured at `step`; every = 0 thins out: each step to 40, then each second.

    Steps decide, never the clock, so that a run's frames do not depend on the machine's speed.
    """
    if every > 0:
        return step % every == 0
    return step <= 40 or step % 2 == 0
