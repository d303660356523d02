"""Soft against hard codebooks: speed at K = 512, memory, and usage on CIFAR-10.

    DDCL_DATA_DIR=<folder with cifar10_subset.npz> python -m benchmarks.codebook [speed] [memory] [usage]

speed   training steps a second of both, one step of each in turn in one run, so that a busy machine slows both alike.
memory  largest memory a forward and backward pass of the soft codebook adds, by N, plain and with a limit.
usage   share of codes used in the first epoch, and the epoch at which all are used, in three seeds. The paper (arXiv
        2604.03850) reports soft 100 % from epoch 1, hard 18.8 % at the start and 100 % at epoch 44 on CIFAR-10. Cut to
        half an hour of one core: 1,024 images and 50 epochs by default. Without DDCL_DATA_DIR and without
        torchvision it says so and is left out.
Writes benchmarks/results/codebook.json.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.codebook_search import HARD, RECIPE, build
from ddcl_core import InputError
from ddcl_core.codebook import CodebookConfig, CodebookRun, ImageConfig

OUT = Path("benchmarks/results/codebook.json")
SEARCH = Path("benchmarks/results/codebook_search.json")
PARTS = ("speed", "memory", "usage")
PAPER = {"soft": {"first epoch": 1.0}, "hard": {"first epoch": 0.188, "epoch of full usage": 44}}


def speed(pairs: int = 40) -> list[dict[str, Any]]:
    """Steps a second at K = 512 for four sizes of the autoencoder; the median over pairs of steps taken in turn."""
    results = []
    for hidden, dim in ((32, 4), (32, 16), (64, 32), (128, 64)):
        config = CodebookConfig(
            images=ImageConfig(num_images=256, eval_images=8), num_codes=512, hidden=hidden, dim=dim, batch_images=32,
            latent_norm="batch", frame_every=100_000, max_steps=100_000,
        )  # fmt: skip
        runs = {kind: CodebookRun(config.with_(codebook=kind)) for kind in ("soft", "hard")}
        times: dict[str, list[float]] = {kind: [] for kind in runs}
        for run in runs.values():
            run.advance(0.0, {"until_step": 3})
        for _ in range(pairs):
            for kind, run in runs.items():
                started = time.perf_counter()
                run.advance(0.0, {"until_step": run.step + 1})
                times[kind].append(time.perf_counter() - started)
        ratios = [hard / soft for soft, hard in zip(times["soft"], times["hard"])]
        results.append({
            "num_codes": 512, "hidden": hidden, "dim": dim, "outputs_a_step": 32 * 64, "pairs": pairs,
            "soft_steps_per_second": round(1 / statistics.median(times["soft"]), 2),
            "hard_steps_per_second": round(1 / statistics.median(times["hard"]), 2),
            "ratio": round(statistics.median(ratios), 3),
        })  # fmt: skip
        print(results[-1], flush=True)
    return results


_MEMORY = """
import resource, sys, torch
from ddcl_core.codebook import SoftCodebook
torch.set_num_threads(1)
n, k, limit = map(int, sys.argv[1:])
z, book = torch.randn(n, 16, requires_grad=True), SoftCodebook(k, 16, chunk_limit=limit)
small = book(z[:2]); (small.loss + small.quantized.sum()).backward()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
out = book(z); (out.loss + out.quantized.sum()).backward()
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * (1 if sys.platform == "darwin" else 1024))
"""


def memory(num_codes: int = 512) -> list[dict[str, Any]]:
    """Bytes a pass adds, each in a process of its own: linear in N*K, bounded once the limit is below it."""
    results = []
    for limit in (2**30, 2**22):
        for n in (8_192, 16_384, 32_768, 65_536):
            command = [sys.executable, "-c", _MEMORY, str(n), str(num_codes), str(limit)]
            added = int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
            results.append({"N": n, "K": num_codes, "limit": limit, "bytes": added,
                            "bytes_per_assignment": round(added / (n * num_codes), 2)})  # fmt: skip
            print(results[-1], flush=True)
    return results


def usage(seeds: int, epochs: int, images: int, only: str = "") -> dict[str, Any]:
    """Usage by epoch for the soft codebook the search found, and hard ones, on the same CIFAR-10 images.

    only: a part of the names of the sides that are trained, all when empty.
    """
    batch = CodebookConfig().batch_images
    steps = epochs * -(-images // batch)
    sides = {
        "soft": json.loads(SEARCH.read_text())["best"]["config"],
        "hard, started blind in +-1/K": RECIPE | HARD["hard, free outputs"] | {"initialization": "uniform"},
        "hard, placed on outputs": RECIPE | HARD["hard, same encoder"],
        "moving averages with revival": RECIPE | HARD["moving averages with revival, 16 numbers a code"],
    }
    results: dict[str, Any] = {"images": images, "epochs": epochs, "steps": steps, "paper": PAPER, "sides": {}}
    if only:
        sides = {name: changes for name, changes in sides.items() if only in name}
    for name, changes in sides.items():
        runs = []
        for seed in range(seeds):
            config = build(changes, steps, seed).with_(images=ImageConfig("cifar10", images, 64))
            run = CodebookRun(config)
            while not run.finished:
                run.advance(1e6)
            used, m = run.epoch_history["used"], run.last_frame.metrics
            full = [int(e) for e, u in zip(run.epoch_history["epoch"], used) if u == 1.0]
            runs.append({
                "seed": seed, "used": [round(float(u), 3) for u in used], "first_epoch": round(float(used[0]), 4),
                "least": round(float(used.min()), 4),
                "last_epoch": round(float(used[-1]), 4), "epoch_of_full_usage": full[0] if full else None,
                "perplexity": round(m["perplexity_last"], 1), "separation": round(m["separation_relative"], 3),
                "error": round(m["error"], 5), "error_hardened": round(m["error_hardened"], 5),
                "verdict": run.health.key,
            })  # fmt: skip
            print(name, runs[-1], flush=True)
        results["sides"][name] = {"config": changes, "runs": runs}
    return results


def main() -> None:
    """Run the parts asked for and merge them into the result file."""
    import torch

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=PARTS)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=50)
    parser.add_argument("--images", type=int, default=1024)
    parser.add_argument("--only", default="", help="usage: the sides whose name holds this; the others' results stay")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    results = json.loads(OUT.read_text()) if OUT.is_file() else {}
    for part in arguments.parts:
        try:
            if part == "usage":
                found = usage(arguments.seeds, arguments.epochs, arguments.images, arguments.only)
                before = results.get(part, {}).get("result", {})
                if arguments.only and all(before.get(n) == found[n] for n in ("images", "epochs", "steps")):
                    found["sides"] = before["sides"] | found["sides"]
            else:
                found = globals()[part]()
        except InputError as error:
            print(f"{part} was left out: {error}")
            continue
        command = f"python -m benchmarks.codebook {part}"
        if part == "usage":
            command += f" --seeds {arguments.seeds} --epochs {arguments.epochs} --images {arguments.images}"
        results[part] = {"command": command, "torch": torch.__version__, "result": found}
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text(json.dumps(results) + "\n")
    print("->", OUT)


if __name__ == "__main__":
    main()
