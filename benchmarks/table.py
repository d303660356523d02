"""One row for each figure, and the table that they make: what, how much, the target, and how it was measured."""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

RESULTS = Path(__file__).with_name("RESULTS.md")
_PACKAGES = ("torch", "numpy", "streamlit", "distributed")


@dataclass(frozen=True)
class Row:
    """A measured figure.

    what, figure: words for the table. target: words, '' where there is none. holds: whether it was met, None without
    a target. how: method, configuration and seed. load: the machine's load average (1 min) when it was measured.
    """

    what: str
    figure: str
    how: str
    target: str = ""
    holds: bool | None = None
    load: str = ""

    def line(self) -> str:
        """The row in Markdown."""
        verdict = {True: "yes", False: "no", None: ""}[self.holds]
        cells = (self.what, self.figure, self.target, verdict, self.load, self.how)
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def load() -> str:
    """Load average of the last minute over the number of cores, for example '1.4 on 2'."""
    average = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "?"
    return f"{average} on {cores()}"


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def machine() -> str:
    """The machine and the versions, in one line."""
    names = []
    for name in _PACKAGES:
        try:
            names.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            pass
    processor = _processor()
    return f"{processor}, {cores()} cores, {platform.system()}; Python {sys.version.split()[0]}, {', '.join(names)}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def markdown(sections: Iterable[tuple[str, str, list[Row]]]) -> str:
    """The whole file: name, sentence about the method, and rows of each benchmark."""
    lines = [
        "# Figures",
        "",
        f"Written by `make bench` on {time.strftime('%Y-%m-%d')}. {machine()}.",
        "",
        "Wall time is only as good as the machine is free: *load* is the load average of the minute before, on so many "
        "cores. Ratios come from one run, interleaved. One benchmark alone: `python -m benchmarks capture`.",
    ]
    for name, about, rows in sections:
        lines += ["", f"## {name}", "", about, "", "| what | figure | target | met | load | how |"]
        lines += ["|---|---|---|---|---|---|", *(row.line() for row in rows)]
    return "\n".join(lines) + "\n"
