"""Measure what DDCL Lab promises: `python -m benchmarks [browser] [capture] [viewers] [start] [peers] [orbits_live] [encoding]
[many_documents]`.

Without a name everything runs, within seven minutes, and the table goes to benchmarks/RESULTS.md as well. Nothing here
fails because a machine is slow: figures are reported beside their targets, never asserted.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import time
import traceback

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before torch: the workers of the app use one thread each as well
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from benchmarks.table import RESULTS, Row, load, markdown  # noqa: E402

NAMES = ("capture", "peers", "start", "browser", "viewers", "orbits_live", "encoding", "many_documents")


def main() -> int:
    """Run what was asked for; exit status 1 when a benchmark could not be run at all."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="name", help=f"one or more of {', '.join(NAMES)}")
    names = parser.parse_args().names or list(NAMES)
    unknown = sorted(set(names) - set(NAMES))
    if unknown:
        parser.error(f"there is no benchmark {unknown[0]!r}; choose from {', '.join(NAMES)}")
    sections, failed = [], False
    for name in names:
        began = time.monotonic()
        module = importlib.import_module(f"benchmarks.{name}")
        about = " ".join((module.__doc__ or "").split("\n\n")[0].split())
        print(f"\n{name}: {about}", flush=True)
        try:
            rows = module.measure()
        except Exception as error:  # noqa: BLE001 - the other figures are still worth having
            traceback.print_exc()
            rows, failed = [Row(f"{name} could not be measured", f"{type(error).__name__}", "", load=load())], True
        for row in rows:
            wanted = f" (target {row.target}: {'met' if row.holds else 'missed'})" if row.target else ""
            print(f"  {row.what}: {row.figure}{wanted}  [load {row.load}]", flush=True)
        print(f"  took {time.monotonic() - began:.0f} s", flush=True)
        sections.append((name, about, rows))
    if set(names) == set(NAMES):
        RESULTS.write_text(markdown(sections), encoding="utf-8")
        print(f"\nWritten to {RESULTS.parent.name}/{RESULTS.name}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
