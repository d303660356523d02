"""Search for a healthy soft codebook: all codes used in every epoch, separated, reconstructing as well as hard VQ.

    python -m benchmarks.codebook_search [--seeds 5] [--steps 320] [--out benchmarks/results/codebook_search.json]

Stage 1 varies one thing at a time around a start (temperature and its schedule, objective, loss weight, epsilon and
learning rate, initialisation, normalisation of the outputs), seed 0, half the steps. Stage 2 joins the best changes and
trains the best configurations of both with every seed at full length, beside three hard codebooks on the same images,
seeds and budget. A configuration holds if in *every* seed every code is used in every epoch, the verdict is 'alive' and
the error after argmax is no greater than that of the hard codebook with the same encoder, seed by seed.
Images: 32 x 32 patches of scikit-learn's two photographs. One core; about ten minutes.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

from ddcl_core import ScheduleConfig
from ddcl_core.codebook import CodebookConfig, CodebookRun

OUT = Path("benchmarks/results/codebook_search.json")
COMMAND = "python -m benchmarks.codebook_search"


def cooling(kind: str, start: float, end: float) -> dict[str, Any]:
    """A schedule whose cooling takes three quarters of the run, whatever its length."""
    return {"schedule": (kind, start, end)}


CENTRE: dict[str, Any] = {
    "objective": "F", "loss_weight": 0.03, "epsilon": 0.1, "lr_codes": 0.02, "latent_norm": "batch",
    "initialization": "scaled", "init_scale": 0.3, **cooling("exponential", 8.0, 0.2),
}  # fmt: skip
AXES: dict[str, list[dict[str, Any]]] = {
    "temperature": [
        cooling("exponential", 4.0, 0.1), cooling("exponential", 16.0, 0.2), cooling("exponential", 2.0, 0.1),
        cooling("exponential", 8.0, 0.05), cooling("constant", 8.0, 8.0), cooling("constant", 2.0, 2.0),
        cooling("constant", 0.5, 0.5), cooling("linear", 8.0, 0.2), cooling("cosine", 8.0, 0.2),
    ],
    "objective": [{"objective": "L_q"}, {"objective": "L_OLS"}],
    "loss weight": [{"loss_weight": w} for w in (0.003, 0.01, 0.1, 0.3)],
    "rates": [
        {"epsilon": 0.05, "lr_codes": 0.04}, {"epsilon": 0.2, "lr_codes": 0.02}, {"epsilon": 0.1, "lr_codes": 0.04},
        {"epsilon": 1.0, "lr_codes": 0.002},
    ],
    "initialization": [
        {"init_scale": 0.5}, {"init_scale": 1.0}, {"initialization": "kmeans++"}, {"initialization": "random"},
        {"initialization": "uniform"},
    ],
    "normalisation": [{"latent_norm": "none"}, {"latent_norm": "layer"}],
}  # fmt: skip
HARD: dict[str, dict[str, Any]] = {
    "hard, same encoder": {"codebook": "hard", "latent_norm": "batch"},
    "hard, free outputs": {"codebook": "hard"},
    "moving averages with revival": {"codebook": "ema", "revive_below": 1.0},
}


def build(changes: dict[str, Any], steps: int, seed: int) -> CodebookConfig:
    """The configuration that `changes` describe, with a schedule as long as the run allows."""
    changes = dict(changes)
    kind, start, end = changes.pop("schedule", ("constant", 1.0, 1.0))
    schedule = ScheduleConfig(kind, start, end, max(1, steps * 3 // 4))
    return CodebookConfig(**changes, schedule=schedule, seed=seed, max_steps=steps, frame_every=steps)


def outcome(changes: dict[str, Any], steps: int, seed: int) -> dict[str, Any]:
    """Train once; every figure comes from the run's own last frame and its epochs."""
    started = time.perf_counter()
    run = CodebookRun(build(changes, steps, seed))
    while not run.finished:
        run.advance(1e6)
    m, used = run.last_frame.metrics, run.epoch_history["used"]
    return {
        "seed": seed, "steps": steps, "verdict": run.health.key, "used_first_epoch": round(float(used[0]), 4),
        "used_least": round(float(used.min()), 4), "used_last_epoch": round(float(used[-1]), 4),
        "perplexity": round(m["perplexity_last"], 2), "separation": round(m["separation_relative"], 4),
        "error": round(m["error"], 6), "error_hardened": round(m["error_hardened"], 6),
        "seconds": round(time.perf_counter() - started, 1),
    }  # fmt: skip


def rank(result: dict[str, Any]) -> tuple[bool, float]:
    """Alive with all but 2 % of the codes in every epoch comes first; then the error after argmax decides."""
    return not (result["verdict"] == "alive" and result["used_least"] >= 0.98), result["error_hardened"]


def holds(soft: list[dict[str, Any]], hard: list[dict[str, Any]]) -> bool:
    """The claim of the module's head, seed by seed."""
    return all(
        s["verdict"] == "alive" and s["used_least"] == 1.0 and s["error_hardened"] <= h["error_hardened"]
        for s, h in zip(soft, hard, strict=True)
    )


def stage_one(steps: int) -> list[dict[str, Any]]:
    """One change at a time, seed 0."""
    trials = [("centre", {})] + [(axis, change) for axis, changes in AXES.items() for change in changes]
    results = []
    for axis, change in trials:
        result = {"axis": axis, "change": change, **outcome(CENTRE | change, steps, 0)}
        print(json.dumps(result), flush=True)
        results.append(result)
    return results


def finalists(results: list[dict[str, Any]], count: int = 3) -> list[dict[str, Any]]:
    """The centre with the best change of every axis that beat it, and then the best single changes."""
    centre, best = results[0], dict(CENTRE)
    for axis in AXES:
        winner = min((r for r in results if r["axis"] == axis), key=rank)
        if rank(winner) < rank(centre):
            best |= winner["change"]
    ranked = [CENTRE | r["change"] for r in sorted(results, key=rank)]
    chosen: list[dict[str, Any]] = []
    for candidate in [best, *ranked]:
        if candidate not in chosen:
            chosen.append(candidate)
    return chosen[:count]


def main() -> None:
    """Run both stages and write the result."""
    import torch

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=320)
    parser.add_argument("--out", type=Path, default=OUT)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    seeds, steps = range(arguments.seeds), arguments.steps
    first = stage_one(steps // 2)
    hard = {name: [outcome(changes, steps, seed) for seed in seeds] for name, changes in HARD.items()}
    for name, runs in hard.items():
        print(name, json.dumps(runs), flush=True)
    second = []
    for changes in finalists(first):
        runs = [outcome(changes, steps, seed) for seed in seeds]
        against = {name: holds(runs, others) for name, others in hard.items()}
        second.append({"config": changes, "holds_against": against, "runs": runs})
        print(json.dumps(second[-1]), flush=True)
    second.sort(key=lambda f: (-sum(f["holds_against"].values()), max(map(rank, f["runs"]))))
    found = second[0]["holds_against"]["hard, same encoder"]
    report = {
        "command": f"{COMMAND} --seeds {arguments.seeds} --steps {steps}", "seeds": list(seeds), "steps": steps,
        "images": "photo patches", "num_codes": CodebookConfig().num_codes, "torch": torch.__version__,
        "found": found, "best": second[0], "finalists": second[1:], "hard": hard, "stage_one": first,
    }  # fmt: skip
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(report, indent=1) + "\n")
    print("found" if found else "none found", "->", arguments.out)


if __name__ == "__main__":
    main()
