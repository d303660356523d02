"""DDCLAttention and its losses beside what one would otherwise take, as ratios of medians from interleaved rounds.

Forward and backward in float32 on one thread: readouts of (16, 128, 64) tokens against mean pooling and against CLS
attention pooling (`nn.MultiheadAttention` with one learned query), and the quantization losses of (2048, 32) tokens
against the same formulas written with one (N, K, d) broadcast. Scaling: time a token and a prototype when their number
doubles; linear means a factor of 2. CPU time of the thread, seed 7.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

from benchmarks.table import Row, load

ROUNDS = 24
B, T, DIM, K = 16, 128, 64, 16
N, D = 2048, 32


def measure() -> list[Row]:
    """Every ratio."""
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(7)
    return [*_readouts(), *_losses(), *_scaling(), *_memory()]


def _times(arms: dict[str, Callable[[], object]], rounds: int = ROUNDS) -> dict[str, float]:
    """Median CPU seconds of each arm; one call of every arm a round, each round beginning with another."""
    spent: dict[str, list[float]] = {name: [] for name in arms}
    names = list(arms)
    for turn in range(-3, rounds):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            began = time.thread_time()
            arms[name]()
            if turn >= 0:
                spent[name].append(time.thread_time() - began)
    return {name: statistics.median(values) for name, values in spent.items()}


def _readouts() -> list[Row]:
    import torch
    from torch import nn

    from ddcl_core import DDCLAttention

    tokens = torch.randn(B, T, DIM)
    layer = DDCLAttention(DIM, K).initialize_from(tokens)
    heads = DDCLAttention(DIM, K, num_heads=4).initialize_from(tokens)
    attention, query = nn.MultiheadAttention(DIM, 4, batch_first=True), nn.Parameter(torch.randn(1, 1, DIM))
    free = tokens.clone().requires_grad_()

    def ddcl(which: DDCLAttention) -> None:
        out = which(free)
        (out.pooled.square().mean() + out.losses.total).backward()

    def cls() -> None:
        attention(query.expand(B, -1, -1), free, free, need_weights=False)[0].square().mean().backward()

    spent = _times(
        {
            "mean": lambda: free.mean(1).square().mean().backward(),
            "cls": cls,
            "ddcl": lambda: ddcl(layer),
            "ddcl4": lambda: ddcl(heads),
        }
    )
    how = f"tokens ({B}, {T}, {DIM}), K = {K}; DDCL's time includes its losses"
    milli = {name: 1e3 * seconds for name, seconds in spent.items()}
    return [
        Row("DDCLAttention over CLS attention pooling, time", f"{spent['ddcl'] / spent['cls']:.2f} x",
            f"{how}; {milli['ddcl']:.1f} against {milli['cls']:.1f} ms", load=load()),
        Row("DDCLAttention with 4 heads over CLS attention pooling, time", f"{spent['ddcl4'] / spent['cls']:.2f} x",
            f"{how}; {K} prototypes a head; {milli['ddcl4']:.1f} ms", load=load()),
        Row("DDCLAttention over mean pooling, time", f"{spent['ddcl'] / spent['mean']:.0f} x",
            f"{how}; mean pooling {milli['mean']:.2f} ms, and no prototypes", load=load()),
    ]  # fmt: skip


def _broadcast_losses(z, prototypes, temperature: float):
    """L_q, L_OLS, V and F with all differences (N, K, d) in one tensor, as one writes them down first."""
    differences = z[:, None, :] - prototypes[None, :, :]  # N, K, d
    distances = differences.square().sum(-1)
    logits = -distances / temperature
    q = logits.softmax(-1)
    centroids = (q[..., None] * prototypes[None]).sum(1)  # N, d
    variance = (q * (prototypes[None] - centroids[:, None]).square().sum(-1)).sum(-1).mean()
    ols = (z - centroids).square().sum(-1).mean()
    return (q * distances).sum(-1).mean(), ols, variance, -temperature * logits.logsumexp(-1).mean()


def _loss_arms(n: int, k: int) -> dict[str, Callable[[], object]]:
    import torch

    from ddcl_core import quantization_losses

    z, prototypes = torch.randn(n, D, requires_grad=True), torch.randn(k, D, requires_grad=True)

    def ours() -> None:
        losses = quantization_losses(z, prototypes, 2.0)
        (losses.total + losses.ols + losses.variance + losses.free_energy).backward()

    return {"ours": ours, "broadcast": lambda: sum(_broadcast_losses(z, prototypes, 2.0)).backward()}


def _losses() -> list[Row]:
    rows = []
    for k in (8, 64):
        spent = _times(_loss_arms(N, k), 16)
        milli = {name: 1e3 * seconds for name, seconds in spent.items()}
        how = f"z ({N}, {D}), K = {k}, T = 2, all losses; {milli['ours']:.1f} against {milli['broadcast']:.1f} ms"
        ratio = f"{milli['ours'] / milli['broadcast']:.2f} x"
        rows.append(Row(f"quantization_losses over one broadcast, time, K = {k}", ratio, how, load=load()))
    return rows


def _scaling() -> list[Row]:
    sizes = {"N": (4096, 8192, 16384), "K": (16, 32, 64)}
    rows = []
    for name, values in sizes.items():
        arms = {str(v): _loss_arms(v if name == "N" else N, v if name == "K" else 16)["ours"] for v in values}
        spent = list(_times(arms, 8).values())
        factors = ", ".join(f"{b / a:.2f}" for a, b in zip(spent, spent[1:]))
        words = "number of tokens" if name == "N" else "number of prototypes"
        how = f"{name} = {', '.join(map(str, values))}: {', '.join(f'{1e3 * s:.1f}' for s in spent)} ms"
        rows.append(Row(f"factor of time for twice the {words}", factors, how, load=load()))
    return rows


def _memory() -> list[Row]:
    """Peak memory of each implementation in a process of its own, less that of one which makes the inputs only."""
    peaks = {}
    for arm in ("nothing", "ours", "broadcast"):
        command = [sys.executable, "-m", "benchmarks.peers", arm]
        peaks[arm] = float(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
    ours, broadcast = (peaks[arm] - peaks["nothing"] for arm in ("ours", "broadcast"))
    how = f"z (65536, {D}), K = 64, forward and backward, peak resident set in a process of its own"
    figure = f"{ours:.0f} and {broadcast:.0f} MB"
    return [Row("quantization_losses and one broadcast, memory", figure, how, load=load())]


def _alone(arm: str) -> None:
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(7)
    arms = _loss_arms(256, 8)
    for act in arms.values():
        act()  # what is loaded late does not count
    arms = _loss_arms(65536, 64)
    if arm != "nothing":
        arms[arm]()
    unit = 2**20 if sys.platform == "darwin" else 2**10
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit)


if __name__ == "__main__":
    _alone(sys.argv[1])
