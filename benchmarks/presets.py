"""What happens in every example, seed by seed: `python -m benchmarks.presets [--seeds 5] [--steps 200] [key ...]`."""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from dashboard.presets import PRESETS
from ddcl_core import RunConfig

COLUMNS = ("weighted_separation", "effective_prototypes", "dead_prototypes", "critical_temperature")


def outcome(config: RunConfig, steps: int) -> dict[str, object]:
    """Train `config` for `steps` and say what became of it; every figure comes from the run's own history."""
    import torch

    from ddcl_core import TrainingRun

    torch.set_num_threads(1)
    run = TrainingRun(config)
    run.advance(float("inf"), {"until_step": steps})
    history = run.history
    marks = [i for i in (0, 10, 50, 100, 200, 400) if i < len(history["step"])]
    return {
        "status": run.status,
        "step": run.status_tracker.step,
        "first_collapse": run.status_tracker.collapsed_step,
        "increases": run.f_tilde_increases,
        "accuracy": float(history["accuracy"][-1]),
        **{name: np.round(history[name][marks], 2).tolist() for name in COLUMNS},
        "history": history,
    }


def main() -> None:
    """Print one line for each example, side and seed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("keys", nargs="*", default=[p.key for p in PRESETS])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--processes", type=int, default=2)
    arguments = parser.parse_args()
    jobs = [
        (example.key, pair.title, panel.label, seed, panel.config.with_(seed=seed))
        for example in PRESETS if example.key in arguments.keys
        for pair in example.pairs for panel in pair.panels for seed in range(arguments.seeds)
    ]  # fmt: skip
    with ProcessPoolExecutor(arguments.processes) as pool:
        results = pool.map(outcome, [job[-1] for job in jobs], [arguments.steps] * len(jobs))
        for (key, title, label, seed, _), result in zip(jobs, results):
            result.pop("history")
            print(f"{key:10} {title or '-':24} {label:18} seed {seed}  {result}", flush=True)


if __name__ == "__main__":
    main()
