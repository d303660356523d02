"""What `import ddcl_core` costs and offers."""

from __future__ import annotations

import subprocess
import sys

import ddcl_core


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_importing_the_package_loads_no_heavy_library():
    heavy = "torch umap numba transformers sklearn streamlit plotly distributed"
    assert run(f"import sys, ddcl_core; print([m for m in '{heavy}'.split() if m in sys.modules])") == "[]"


def test_public_names_are_what_they_say_even_after_their_modules_were_imported():
    code = "import ddcl_core.run; from ddcl_core import *; from ddcl_core import TrainingRun, forces; print(forces.__name__)"
    assert run(code) == "forces"
    for name in ddcl_core.__all__:
        assert getattr(ddcl_core, name).__class__.__name__ != "module", name
