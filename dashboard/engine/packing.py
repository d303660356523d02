"""Frames of a run -> the arrays of the wire, placed on maps. Runs on the worker, once a frame, not once a viewer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dashboard.live import wire
from dashboard.live.frames import STATUSES, leading, metric_row, to_wire_positions
from ddcl_core.data.plane import Plane, weighted_places
from ddcl_core.frame import Frame

Place = Callable[[np.ndarray], np.ndarray]  # points (N, d) -> map positions (N, 2) in map radii

# A force is drawn as the displacement on the map of a step along it. The largest force of a frame steps this share of
# the tokens' spread at the start, the others in proportion: small enough to show a direction, and the same yardstick
# in a collapsed frame, where the arrows then look as long as they are.
FORCE_STEP = 0.1


@dataclass(frozen=True)
class StoredFrame:
    """What is needed to place a frame on a map that becomes ready later; tokens in half precision."""

    step: int
    tokens: np.ndarray  # (S, d) float16
    prototypes: np.ndarray  # (K, d)
    force_ols: np.ndarray | None  # (K, d)
    force_variance: np.ndarray | None  # (K, d)

    @classmethod
    def of(cls, frame: Frame) -> "StoredFrame":
        """The part of a frame that a map needs."""
        tokens = np.clip(frame.tokens, -6e4, 6e4).astype(np.float16)
        return cls(frame.step, tokens, frame.prototypes, frame.force_ols, frame.force_variance)


def describe(frames: Sequence[Frame], names: Sequence[str]) -> dict[str, np.ndarray]:
    """Everything of F frames that does not depend on a map; the metrics `names`, in this order."""
    leads = [leading(frame.assignments) for frame in frames]
    forces = {}
    if frames[0].force_ols is not None:
        forces["ols_norm"] = np.stack([_norms(frame.force_ols) for frame in frames])
        forces["var_norm"] = np.stack([_norms(frame.force_variance) for frame in frames])
    return {
        "step": np.array([frame.step for frame in frames], dtype=np.int32),
        "metrics": np.stack([metric_row(frame.metrics, names) for frame in frames]),
        "status": np.array([STATUSES.index(frame.status) for frame in frames], dtype=np.uint8),
        "status_step": np.array([-1 if f.status_step is None else f.status_step for f in frames], dtype=np.int32),
        "lead": np.stack([lead for lead, _ in leads]),
        "strength": np.stack([strength for _, strength in leads]),
        "usage": np.stack([frame.usage for frame in frames]).astype(np.float32),
        **forces,
    }


def batched(extras: Sequence[Mapping[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """The further arrays of F frames as `x_<name>` (F, ...)."""
    return {f"x_{name}": np.stack([extra[name] for extra in extras]) for name in extras[0]}


def place(
    frames: Sequence[Frame | StoredFrame], kind: str, place_points: Place, spread: float
) -> dict[str, np.ndarray]:
    """Tokens (F, S, 2), prototypes and forces (F, K, 2) of F frames on one map, in one call of `place_points`.

    spread: root mean square distance of the tokens from their mean at the start of the run, the yardstick of forces.
    """
    F, K, S = len(frames), len(frames[0].prototypes), len(frames[0].tokens)
    forced = frames[0].force_ols is not None
    tips = [_force_tips(frame, spread) for frame in frames] if forced else []
    points = [np.asarray(frame.tokens, dtype=np.float32) for frame in frames]
    points += [frame.prototypes for frame in frames]
    points += [ols for ols, _ in tips] + [variance for _, variance in tips]
    placed = np.asarray(place_points(np.concatenate(points).astype(np.float32, copy=False)), dtype=np.float32)
    tokens, placed = placed[: F * S].reshape(F, S, 2), placed[F * S :].reshape(-1, F, K, 2)
    result = {kind: to_wire_positions(tokens), f"proto_{kind}": placed[0]}
    if forced:
        result |= {f"ols_{kind}": placed[1] - placed[0], f"var_{kind}": placed[2] - placed[0]}
    return result


def sampled_planes(scene: Any, run: Any) -> list[Plane]:
    """The planes of a scene with the positions of the run's sampled tokens alone."""
    planes = getattr(scene, "planes", ())
    if not planes:
        return []
    chosen = run.sample_places()
    return [replace(plane, positions=plane.positions[chosen]) for plane in planes]


def plane_message(plane: Plane) -> bytes:
    """The "map" message of a plane: everything that does not move, sent once."""
    header = {
        "type": "map", "kind": plane.name, "available": True, "fitting": False, "title": plane.title,
        "note": plane.hint, "x": {"label": plane.x_label, "ticks": plane.x_ticks},
        "y": {"label": plane.y_label, "ticks": plane.y_ticks}, "landmarks": plane.landmarks,
    }  # fmt: skip
    return wire.pack(header, {"positions": to_wire_positions(plane.positions)})


def on_plane(frames: Sequence[Frame], plane: Plane) -> np.ndarray:
    """Prototypes (F, K, 2) of F frames on a plane: means of the sampled tokens' coordinates, weighted by assignment."""
    return np.stack([weighted_places(plane.positions, frame.assignments) for frame in frames])


def history_arrays(history: Mapping[str, np.ndarray], names: Sequence[str], since: int) -> dict[str, np.ndarray] | None:
    """The metrics of every step after `since` as {step (n,), metrics (n, M)}, or None when there is none.

    A metric that this run does not have becomes NaN, as in a frame.
    """
    steps = np.asarray(history["step"])
    first = int(np.searchsorted(steps, since, side="right"))
    if first >= len(steps):
        return None
    missing = np.full(len(steps) - first, np.nan, dtype=np.float32)
    columns = [np.asarray(history[name][first:], dtype=np.float32) if name in history else missing for name in names]
    return {"step": steps[first:].astype(np.int32), "metrics": np.stack(columns, axis=1)}


def _force_tips(frame: Frame | StoredFrame, spread: float) -> tuple[np.ndarray, np.ndarray]:
    ols, variance = np.nan_to_num(frame.force_ols), np.nan_to_num(frame.force_variance)
    largest = max(float(_norms(ols).max()), float(_norms(variance).max()), 1e-30)
    scale = FORCE_STEP * spread / largest
    return frame.prototypes + scale * ols, frame.prototypes + scale * variance


def _norms(force: np.ndarray) -> np.ndarray:
    return np.linalg.norm(np.nan_to_num(force), axis=1).astype(np.float32)
