"""Two learning rates: eta_encoder = epsilon * eta_prototypes, the ratio on which stability depends.

Source: Cirrincione and Kumar, arXiv 2604.03850 (2026), the two-time-scale analysis.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

from ddcl_core.errors import InputError

Parameters = nn.Module | Tensor | Iterable[Tensor]


def parameter_groups(
    encoder: Parameters, prototypes: Parameters, lr_prototypes: float, epsilon: float, extra: Parameters = ()
) -> list[dict[str, Any]]:
    """Groups for any torch optimiser: 'encoder' at epsilon * lr_prototypes, 'prototypes' at lr_prototypes.

    encoder, prototypes, extra: a module, a parameter, or several parameters. `extra` (a task head, say) makes a third
    group 'extra' at lr_prototypes, which `set_epsilon` leaves alone. A parameter that occurs twice is taken once:
    prototypes before extra before encoder, so an encoder may contain the layer. The first two groups always exist,
    even when empty. Raises InputError for rates that are negative or not finite.
    """
    _check_rates(lr_prototypes, epsilon)
    seen: set[int] = set()
    slow_or_fast = {"prototypes": lr_prototypes, "extra": lr_prototypes, "encoder": epsilon * lr_prototypes}
    sources = {"prototypes": prototypes, "extra": extra, "encoder": encoder}
    groups = {}
    for name, rate in slow_or_fast.items():
        own = [p for p in _parameters(sources[name]) if id(p) not in seen]
        own = list({id(p): p for p in own}.values())
        seen.update(id(p) for p in own)
        groups[name] = {"params": own, "lr": rate, "name": name}
    return [groups["encoder"], groups["prototypes"]] + ([groups["extra"]] if groups["extra"]["params"] else [])


def set_epsilon(optimizer: torch.optim.Optimizer, epsilon: float) -> None:
    """Change epsilon between two steps: the encoder's rate becomes epsilon times that of the prototypes.

    Optimiser state (Adam's moments) stays. Raises InputError for an epsilon below 0 or not finite.
    """
    set_learning_rates(optimizer, _group(optimizer, "prototypes")["lr"], epsilon)


def set_learning_rates(optimizer: torch.optim.Optimizer, lr_prototypes: float, epsilon: float) -> None:
    """Set both rates of an optimiser made from `parameter_groups`; raises InputError for rates that cannot be."""
    _check_rates(lr_prototypes, epsilon)
    _group(optimizer, "prototypes")["lr"] = lr_prototypes
    _group(optimizer, "encoder")["lr"] = epsilon * lr_prototypes


def _group(optimizer: torch.optim.Optimizer, name: str) -> dict[str, Any]:
    for group in optimizer.param_groups:
        if group.get("name") == name:
            return group
    raise InputError(f"The optimiser has no parameter group called {name!r}; build it from parameter_groups(...).")


def _parameters(source: Parameters) -> list[Tensor]:
    if isinstance(source, nn.Module):
        return list(source.parameters())
    return [source] if isinstance(source, Tensor) else list(source)


def _check_rates(lr_prototypes: float, epsilon: float) -> None:
    for name, value in (("lr_prototypes", lr_prototypes), ("epsilon", epsilon)):
        if not (math.isfinite(value) and value >= 0.0):
            raise InputError(f"{name} is {value!r}; it must be a finite number, 0 or more.")
