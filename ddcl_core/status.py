"""Has this run collapsed? The rule of DESIGN, section 2, kept apart from training. Needs neither torch nor numpy.

    collapsed   effective prototypes < 1.5, or weighted separation < 0.1 sqrt(2 tr C_0)
    unresolved  a run that starts inside that region, until it has left it (one prototype never leaves it)
    diverged    a value is not finite; final
    stable      otherwise, so far

sqrt(2 tr C_0) is the root mean square distance of two tokens at the start, with C_0 their covariance there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from ddcl_core.errors import InputError

STATUSES = ("stable", "collapsed", "diverged", "unresolved")
EFFECTIVE_LIMIT = 1.5
SEPARATION_LIMIT = 0.1
RECOVERY_MARGIN = 1.5

_WATCHED = (
    "L_q", "L_OLS", "V", "H", "F", "F_tilde", "separation_mean", "weighted_separation", "effective_prototypes",
    "lambda_max", "token_spread",
)  # fmt: skip


@dataclass
class StatusTracker:
    """Feed it the metrics of every step in order; read `status` and `step`.

    num_prototypes: K, which bounds the recovery margin. initial_spread: tr C_0; taken from the first update if None.
    status: one of `STATUSES`. step: when the present collapse or divergence happened, None while stable or unresolved.
    collapsed_step: the first collapse of the run, kept through everything that follows. recovered_step: the last time
    a collapsed run came back, which takes both conditions to be clear by a factor of 1.5 (for few prototypes: to lie
    half way from 1.5 to K), so that noise at the border does not flip the verdict.
    """

    num_prototypes: int
    initial_spread: float | None = None
    status: str = "unresolved"
    step: int | None = None
    collapsed_step: int | None = None
    recovered_step: int | None = None
    started: bool = False

    def update(self, step: int, metrics: Mapping[str, float], finite: bool = True) -> str:
        """Take the metrics of one step and return the status.

        metrics: at least the watched keys of `compute_metrics`; `critical_temperature` may be infinite. finite: False
        reports a non-finite value seen elsewhere, in a gradient or a weight.
        """
        if self.status == "diverged":
            return self.status
        if not finite or not all(math.isfinite(metrics[name]) for name in _WATCHED):
            self.status, self.step = "diverged", step
            return self.status
        if self.initial_spread is None:
            self.initial_spread = metrics["token_spread"]
        inside = self._inside(metrics, EFFECTIVE_LIMIT, SEPARATION_LIMIT)
        if not self.started:
            self.started = True
            self.status = "unresolved" if inside else "stable"
        elif self.status == "unresolved" and not inside:
            self.status = "stable"
        elif self.status == "stable" and inside:
            self.status, self.step = "collapsed", step
            self.collapsed_step = step if self.collapsed_step is None else self.collapsed_step
        elif self.status == "collapsed" and not self._inside(metrics, *self._recovery_limits()):
            self.status, self.step, self.recovered_step = "stable", None, step
        return self.status

    def _inside(self, metrics: Mapping[str, float], effective: float, separation: float) -> bool:
        reach = math.sqrt(2.0 * max(0.0, self.initial_spread or 0.0))
        if reach == 0.0:
            return True  # tokens that coincide from the start leave nothing to be apart from
        return metrics["effective_prototypes"] < effective or metrics["weighted_separation"] < separation * reach

    def _recovery_limits(self) -> tuple[float, float]:
        effective = min(RECOVERY_MARGIN * EFFECTIVE_LIMIT, (EFFECTIVE_LIMIT + self.num_prototypes) / 2)
        return effective, RECOVERY_MARGIN * SEPARATION_LIMIT

    def to_dict(self) -> dict[str, Any]:
        """Plain values; `from_dict` continues exactly here."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "StatusTracker":
        """Read what `to_dict` wrote. Raises InputError for anything else."""
        known = {f.name for f in fields(cls)}
        if set(values) != known or values["status"] not in STATUSES:
            raise InputError(f"This is not a saved status: {sorted(values)}; it must hold {', '.join(sorted(known))}.")
        return cls(**values)
