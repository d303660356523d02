"""Which device a run computes on."""

from __future__ import annotations

import os

import torch

from ddcl_core.errors import InputError


def resolve_device(name: str = "auto") -> torch.device:
    """The device called `name`; 'auto' takes DDCL_DEVICE if it is set, else CUDA, MPS or the CPU, in this order.

    Raises InputError when the device is not there.
    """
    if name == "auto":
        name = os.environ.get("DDCL_DEVICE", "").strip().lower() or "auto"
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    present = {
        "cpu": True,
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
    }
    if not present.get(name.split(":")[0], False):
        here = ", ".join(kind for kind, there in present.items() if there)
        raise InputError(f"The device {name!r} is not available on this machine; set DDCL_DEVICE to one of {here}.")
    return torch.device(name)


def describe_device(device: torch.device) -> str:
    """A name for people: 'CPU', 'MPS' or the GPU's own name."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else device.type.upper()
