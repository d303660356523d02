"""Bringing this checkout's code to the workers of a cluster that was started elsewhere."""

from __future__ import annotations

import hashlib
import tempfile
import zipfile
from pathlib import Path

from dashboard.engine.cluster import ROOT

PACKAGES = ("ddcl_core", "dashboard")
NEEDED = ("torch", "numpy", "safetensors")


def bundle(folder: str | Path | None = None) -> Path:
    """A zip of the packages that workers import, named by its content so that a changed checkout ships anew."""
    sources = sorted(path for name in PACKAGES for path in (ROOT / name).rglob("*.py"))
    digest = hashlib.sha256()
    for path in sources:
        digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes())
    target = Path(folder or tempfile.mkdtemp(prefix="ddcl-ship-")) / f"ddcl_lab_{digest.hexdigest()[:12]}.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sources:
            archive.write(path, str(path.relative_to(ROOT)))
    return target


def missing_modules() -> list[str]:
    """Run on a worker: which of the modules that a run needs it lacks."""
    import importlib.util

    return [name for name in NEEDED if importlib.util.find_spec(name) is None]
