"""Old home of `prototype_forces`: a submodule called `forces` hides the function `ddcl_core.forces`."""

from ddcl_core.prototype_forces import Forces, forces

__all__ = ["Forces", "forces"]
