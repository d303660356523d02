"""Search for a healthy soft codebook: all codes used in every epoch, separated, reconstructing as well as hard VQ.

    python -m benchmarks.codebook_search [--seeds 5] [--steps 320] [--out benchmarks/results/codebook_search.json]

Stage 1 varies one thing at a time around a start (temperature and its schedule, objective, loss weight, epsilon and
learning rate, initialisation, normalisation of the outputs), seed 0, half the steps. Stage 2 joins the changes that
helped, two seeds; stage 3 makes the codes narrower; stage 4 cools within 40 % of the run and slows encoder and decoder,
two seeds at full length. The best three are then trained with every seed, beside four hard codebooks on the same images,
seeds and budget. A configuration holds if in *every* seed every code is used in every epoch, the verdict is 'alive' and
the error after argmax is no greater than the hard codebook's, seed by seed. Stages 1 to 3 go by the error at the last
step; later ones by its mean over the last fifth of the run, since the running averages of batch normalisation let one
step's error swing by half. Images: 32 x 32 patches of scikit-learn's two photographs. One core; about half an hour.
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


def cooling(kind: str, start: float, end: float, part: float | None = None) -> dict[str, Any]:
    """A schedule whose cooling takes this part of the run, three quarters unless said, whatever its length."""
    return {"schedule": (kind, start, end) if part is None else (kind, start, end, part)}


CENTRE: dict[str, Any] = {
    "objective": "F", "loss_weight": 0.03, "epsilon": 0.1, "lr_codes": 0.02, "latent_norm": "batch",
    "initialization": "scaled", "init_scale": 0.3, "dim": 16, **cooling("exponential", 8.0, 0.2),
}  # fmt: skip
AXES: dict[str, list[dict[str, Any]]] = {
    "temperature": [
        cooling("exponential", 4.0, 0.1), cooling("exponential", 16.0, 0.2), cooling("exponential", 2.0, 0.1),
        cooling("exponential", 8.0, 0.05), cooling("constant", 8.0, 8.0), cooling("constant", 2.0, 2.0),
        cooling("constant", 0.5, 0.5), cooling("linear", 8.0, 0.2), cooling("cosine", 8.0, 0.2),
        cooling("exponential", 1.0, 0.05),
    ],
    "objective": [{"objective": "L_q"}, {"objective": "L_OLS"}],
    "loss weight": [{"loss_weight": w} for w in (0.003, 0.01, 0.1, 0.3)],
    "rates": [
        {"epsilon": 0.05, "lr_codes": 0.04}, {"epsilon": 0.2, "lr_codes": 0.02}, {"epsilon": 0.1, "lr_codes": 0.04},
        {"epsilon": 0.05, "lr_codes": 0.08}, {"epsilon": 0.025, "lr_codes": 0.08}, {"epsilon": 1.0, "lr_codes": 0.002},
    ],
    "initialization": [
        {"init_scale": 0.5}, {"init_scale": 1.0}, {"initialization": "kmeans++"}, {"initialization": "random"},
        {"initialization": "uniform"},
    ],
    "normalisation": [{"latent_norm": "none"}, {"latent_norm": "layer"}],
}  # fmt: skip
NARROWER: list[dict[str, Any]] = [
    {"dim": dim, **cooling("exponential", start, end)} for dim in (4, 8) for start, end in ((2.0, 0.1), (1.0, 0.05))
]
"""Width and temperature together: the outputs' spread, and so the temperatures that suit it, grows with d."""
CALMER: list[dict[str, Any]] = [
    {"dim": 4, "lr_decoder": 1e-3, "lr_codes": lr, "epsilon": epsilon, **cooling("exponential", 2.0, end, 0.4)}
    for lr, epsilon, end in ((0.02, 0.05, 0.1), (0.02, 0.05, 0.13), (0.03, 0.033, 0.13), (0.04, 0.025, 0.13))
]
"""The encoder learns at 0.001 and the decoder too, half as fast as beside a hard codebook."""
HARD: dict[str, dict[str, Any]] = {
    "hard, same encoder": {"codebook": "hard", "latent_norm": "batch", "dim": 4},
    "hard, same encoder, slower": {
        "codebook": "hard", "latent_norm": "batch", "dim": 4, "lr_decoder": 1e-3, "epsilon": 0.5,
    },
    "hard, free outputs": {"codebook": "hard", "latent_norm": "none", "dim": 4},
    "moving averages with revival, 16 numbers a code": {
        "codebook": "ema", "revive_below": 1.0, "latent_norm": "none", "dim": 16,
    },
}  # fmt: skip
RECIPE = {"initialization": "kmeans++", "init_scale": 1.0, "epsilon": 1.0, "lr_codes": 0.002}
"""How hard codebooks start and learn: placed on outputs, one rate for all, as is usual."""


def build(changes: dict[str, Any], steps: int, seed: int) -> CodebookConfig:
    """The configuration that `changes` describe, with a schedule as long as the run allows."""
    changes = dict(changes)
    kind, start, end, *part = changes.pop("schedule", ("constant", 1.0, 1.0))
    schedule = ScheduleConfig(kind, start, end, max(1, round(steps * (part[0] if part else 0.75))))
    return CodebookConfig(**changes, schedule=schedule, seed=seed, max_steps=steps, frame_every=max(1, steps // 16))


def outcome(changes: dict[str, Any], steps: int, seed: int) -> dict[str, Any]:
    """Train once; every figure comes from the run's own last frame and its epochs."""
    started = time.perf_counter()
    run = CodebookRun(build(changes, steps, seed))
    while not run.finished:
        run.advance(1e6)
    m, used = run.last_frame.metrics, run.epoch_history["used"]
    late = run.history["error_hardened"][run.history["step"] > 0.8 * steps]
    return {
        "seed": seed, "steps": steps, "verdict": run.health.key, "used_first_epoch": round(float(used[0]), 4),
        "used_least": round(float(used.min()), 4), "used_last_epoch": round(float(used[-1]), 4),
        "perplexity": round(m["perplexity_last"], 2), "separation": round(m["separation_relative"], 4),
        "error": round(m["error"], 6), "error_hardened": round(m["error_hardened"], 6),
        "error_late": round(float(late.mean()), 6),
        "seconds": round(time.perf_counter() - started, 1),
    }  # fmt: skip


def rank(results: list[dict[str, Any]]) -> tuple[bool, float, float]:
    """Worst seed: alive at all; then how many codes more than 2 % some epoch left out; then the error after argmax."""
    return (
        any(r["verdict"] != "alive" for r in results),
        max(max(0.0, round(0.98 - r["used_least"], 2)) for r in results),
        max(r.get("error_late", r["error_hardened"]) for r in results),
    )


def holds(soft: list[dict[str, Any]], hard: list[dict[str, Any]]) -> bool:
    """The claim of the module's head, seed by seed."""
    return all(
        s["verdict"] == "alive" and s["used_least"] == 1.0 and s["error_late"] <= h["error_late"]
        for s, h in zip(soft, hard, strict=True)
    )


def stage_one(steps: int, known: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One change at a time, seed 0."""
    trials = [("centre", {})] + [(axis, change) for axis, changes in AXES.items() for change in changes]
    return [trial({"axis": axis, "change": change}, CENTRE | change, steps, [0], known) for axis, change in trials]


def stage_two(first: list[dict[str, Any]], steps: int, known: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The best changes of all axes that beat the centre together, and all but one of them; two seeds."""
    winners = []
    for axis in AXES:
        best = min((t for t in first if t["axis"] == axis), key=lambda t: rank(t["runs"]))
        if rank(best["runs"]) < rank(first[0]["runs"]):
            winners.append(best["change"])
    together = [winners] + [[w for w in winners if w is not left_out] for left_out in winners]
    together = [subset for subset in together if len(subset) > 1]
    joined = [{name: value for change in subset for name, value in change.items()} for subset in together]
    return [trial({"axis": "joined", "change": c}, CENTRE | c, steps, [0, 1], known) for c in joined]


def stage_three(second: list[dict[str, Any]], steps: int, known: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The best of stage two with fewer numbers a code; two seeds, the first and one more."""
    best = min(second, key=lambda t: rank(t["runs"]))["change"]
    return [trial({"axis": "narrower", "change": best | c}, CENTRE | best | c, steps, [0, 2], known) for c in NARROWER]


def stage_four(second: list[dict[str, Any]], steps: int, known: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The best of stage two, narrow, cooled sooner, with calmer rates; full length, the two seeds that varied most."""
    best = min(second, key=lambda t: rank(t["runs"]))["change"]
    return [trial({"axis": "calmer", "change": best | c}, CENTRE | best | c, steps, [2, 3], known) for c in CALMER]


def trial(
    label: dict[str, Any], changes: dict[str, Any], steps: int, seeds: list[int], known: list[dict[str, Any]]
) -> dict[str, Any]:
    """Train with every seed, unless an interrupted search already has."""
    for old in known:
        if all(old.get(name) == value for name, value in json.loads(json.dumps(label)).items()):
            return old
    result = label | {"runs": [outcome(changes, steps, seed) for seed in seeds]}
    known.append(result)
    print(json.dumps(result), flush=True)
    return result


def main() -> None:
    """Run all stages and write the result."""
    import torch

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=320)
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument(
        "--log", type=Path, help="lines this script printed before it was interrupted; goes on from there"
    )
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    seeds, steps = list(range(arguments.seeds)), arguments.steps
    lines = arguments.log.read_text().splitlines() if arguments.log else []
    known = [json.loads(line) for line in lines if line.startswith("{")]
    first = stage_one(steps // 2, known)
    second = stage_two(first, steps // 2, known)
    third = stage_three(second, steps // 2, known)
    fourth = stage_four(second, steps, known)
    hard = {
        name: trial({"axis": "hard, late", "change": name}, RECIPE | c, steps, seeds, known)["runs"]
        for name, c in HARD.items()
    }
    last = []
    chosen = sorted(second + third, key=lambda t: rank(t["runs"]))[:1]
    chosen += sorted(fourth, key=lambda t: rank(t["runs"]))[:2]
    for candidate in chosen:
        changes = CENTRE | candidate["change"]
        runs = trial({"axis": "finalist, late", "change": candidate["change"]}, changes, steps, seeds, known)["runs"]
        last.append({"config": changes, "holds_against": {n: holds(runs, h) for n, h in hard.items()}, "runs": runs})
    last.sort(key=lambda f: (-sum(f["holds_against"].values()), rank(f["runs"])))
    found = last[0]["holds_against"]["hard, same encoder"]
    report = {
        "command": f"{COMMAND} --seeds {len(seeds)} --steps {steps}", "seeds": seeds, "steps": steps,
        "images": "photo patches", "num_codes": CodebookConfig().num_codes, "torch": torch.__version__,
        "found": found, "best": last[0], "finalists": last[1:], "hard": hard, "one_at_a_time": first, "joined": second,
        "narrower": third, "calmer": fourth,
    }  # fmt: skip
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(report) + "\n")
    print("found" if found else "none found", "->", arguments.out)


if __name__ == "__main__":
    main()
