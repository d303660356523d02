"""What a client may say, checked field by field: a message from outside is data, never trusted."""

from __future__ import annotations

import json
import math
from typing import Any

from ddcl_core.config import EPSILON_RANGE, TEMPERATURE_RANGE
from ddcl_core.errors import InputError
from ddcl_core.frame import PLAYERS

MAX_MESSAGE = 4096  # characters; the longest honest message has about 120
MAX_STEPS = 10_000_000
_MAX_TOKEN = 64


def parse(text: str) -> dict[str, Any]:
    """A checked message {"type", ...}; raises InputError with a sentence for anything else."""
    if len(text) > MAX_MESSAGE:
        raise InputError(f"A message of {len(text)} characters is too long; the limit is {MAX_MESSAGE}.")
    try:
        message = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError("The message is not JSON; send one JSON object a message.") from error
    kind = message.get("type") if isinstance(message, dict) else None
    check = _CHECKS.get(kind) if isinstance(kind, str) else None
    if check is None:
        raise InputError(f"The message has no known type; the types are {', '.join(_CHECKS)}.")
    return {"type": kind, **check(message)}


def _open(message: dict[str, Any]) -> dict[str, Any]:
    resume = message.get("resume")
    checked = None if resume is None else _token(resume, "resume")
    return {"scene": _token(message.get("scene"), "scene"), "resume": checked}


def _control(message: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"panel": int(_number(message, "panel", 0, 3, whole=True))}
    level = "" if message.get("level") is None else f"@{int(_number(message, 'level', 0, 7, whole=True))}"
    for name, (low, high) in (("epsilon", EPSILON_RANGE), ("temperature", TEMPERATURE_RANGE)):
        if message.get(name) is not None:
            found[name + level] = float(_number(message, name, low, high))
    if len(found) == 1:
        raise InputError("A control message needs epsilon or temperature.")
    return found


def _play(message: dict[str, Any]) -> dict[str, Any]:
    return {"playing": _flag(message, "playing")}


def _speed(message: dict[str, Any]) -> dict[str, Any]:
    return {"steps_per_second": float(_number(message, "steps_per_second", 0, 10_000))}


def _step(message: dict[str, Any]) -> dict[str, Any]:
    who = message.get("who", "both")
    if who not in PLAYERS:
        raise InputError(f"who must be one of {', '.join(PLAYERS)}.")
    return {"who": who, "count": int(_number({"count": 1, **message}, "count", 1, 1000, whole=True))}


def _reset(message: dict[str, Any]) -> dict[str, Any]:
    if message.get("seed") is None:
        return {"seed": None}
    return {"seed": int(_number(message, "seed", 0, 2**32 - 1, whole=True))}


def _visible(message: dict[str, Any]) -> dict[str, Any]:
    return {"visible": _flag(message, "visible")}


def _ack(message: dict[str, Any]) -> dict[str, Any]:
    return {"n": int(_number(message, "n", 0, 2**53, whole=True))}


def _extend(message: dict[str, Any]) -> dict[str, Any]:
    return {"steps": int(_number(message, "steps", 1, 100_000, whole=True))}


def _cancel(message: dict[str, Any]) -> dict[str, Any]:
    return {}


def _map(message: dict[str, Any]) -> dict[str, Any]:
    if message.get("kind") not in ("umap", "pca"):
        raise InputError("The map's kind must be umap or pca.")
    return {"kind": message["kind"]}


def _token(value: Any, name: str) -> str:
    if not isinstance(value, str) or not 1 <= len(value) <= _MAX_TOKEN:
        raise InputError(f"{name} must be a name of 1 to {_MAX_TOKEN} characters.")
    return value


def _flag(message: dict[str, Any], name: str) -> bool:
    value = message.get(name)
    if not isinstance(value, bool):
        raise InputError(f"{name} must be true or false.")
    return value


def _number(message: dict[str, Any], name: str, low: float, high: float, *, whole: bool = False) -> float:
    value = message.get(name)
    ok = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not ok or not math.isfinite(value) or not low <= value <= high or (whole and value != int(value)):
        raise InputError(f"{name} must be a {'whole ' if whole else ''}number from {low:g} to {high:g}.")
    return value


_CHECKS = {
    "open": _open,
    "control": _control,
    "play": _play,
    "speed": _speed,
    "step": _step,
    "reset": _reset,
    "visible": _visible,
    "ack": _ack,
    "extend": _extend,
    "cancel": _cancel,
    "map": _map,
}
