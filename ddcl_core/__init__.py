"""DDCL: prototype readouts for transformer encoders, and runs that train them step by step.

Importing this package is cheap; PyTorch is loaded when a name that needs it is first used.
Source: Cirrincione and Kumar, *Collapse-Free Prototype Readout Layer for Transformer Encoders*, arXiv 2604.03850.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ddcl_core.config import DataConfig, EncoderConfig, RunConfig, ScheduleConfig
from ddcl_core.errors import InputError
from ddcl_core.frame import METRIC_NAMES, Controls, Frame

if TYPE_CHECKING:
    from ddcl_core.prototype_forces import Forces, forces
    from ddcl_core.layer import DDCLAttention, DDCLOutput
    from ddcl_core.losses import QuantizationLosses, quantization_losses
    from ddcl_core.metrics import critical_temperature
    from ddcl_core.optim import parameter_groups
    from ddcl_core.run import TrainingRun

_LAZY = {
    "DDCLAttention": "layer",
    "DDCLOutput": "layer",
    "QuantizationLosses": "losses",
    "quantization_losses": "losses",
    "Forces": "prototype_forces",
    "forces": "prototype_forces",
    "critical_temperature": "metrics",
    "parameter_groups": "optim",
    "TrainingRun": "run",
}

__all__ = [
    "METRIC_NAMES", "Controls", "DataConfig", "EncoderConfig", "Frame", "InputError", "RunConfig", "ScheduleConfig",
    *_LAZY,
]  # fmt: skip
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'ddcl_core' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"ddcl_core.{_LAZY[name]}"), name)
    globals()[name] = value
    return value
