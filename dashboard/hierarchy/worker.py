"""What the Hierarchy page asks of a run; PyTorch is imported inside. Nothing here changes a run."""

from __future__ import annotations

from typing import Any

import numpy as np


def reading(run: Any, most: int = 400) -> dict[str, Any]:
    """The first `most` documents through all levels.

    chains: (N, K_l) float16 of each level, the assignment of every token through the levels below; prototypes: (K_l, d);
    names: of each level, K_l lists of (word, score); owners (N,), texts, words, labels and class_names of those documents.
    """
    from ddcl_core.explain import word_index

    scene, chains, levels = run.scene, assignment_chains(run), _levels(run)
    index = word_index(scene)
    names = [index.names(q) for q in chains]
    texts = list(index.texts)
    owners = np.nonzero(scene.mask)[0].astype(np.int32)
    keep = owners < most
    return {
        "step": run.step, "chains": [q[keep].astype(np.float16) for q in chains], "prototypes": levels, "names": names,
        "owners": owners[keep], "texts": texts[:most], "words": [list(row) for row in scene.words[:most]],
        "labels": scene.labels[:most].copy(), "class_names": list(scene.class_names), "temperature": run.temperature,
    }  # fmt: skip


def compression(run: Any, seed: int = 0, most_tokens: int = 20_000) -> list[dict[str, Any]]:
    """`ddcl_core.hierarchy.compression_curve` of the run as it is now, on at most `most_tokens` tokens of whole documents."""
    import torch

    from ddcl_core.hierarchy import compression_curve

    with torch.no_grad():
        z = run.model.encode().float().cpu().numpy()
    owners = np.nonzero(run.scene.mask)[0]
    last = int(owners[min(len(owners), most_tokens) - 1])
    keep = owners <= last
    levels = [(q[keep], p) for q, p in zip(assignment_chains(run), _levels(run))]
    return compression_curve(z[keep], owners[keep], run.scene.labels[: last + 1], levels, seed)


def _levels(run: Any) -> list[np.ndarray]:
    return [p.detach().float().cpu().numpy() for p in run.model.prototype_parameters()]


def assignment_chains(run: Any) -> list[np.ndarray]:
    """(N, K_l) float32 of each level: the assignment of every token as the run is now, through the levels below."""
    import torch

    from ddcl_core.losses import quantization_losses
    from ddcl_core.metrics import usage

    with torch.no_grad():
        q = quantization_losses(run.model.encode(), run.model.prototypes, run.temperature).assignments
        chains = [q]
        for output in run.model.levels(usage(q)):
            chains.append(chains[-1] @ output.assignments)
    return [np.nan_to_num(chain.float().cpu().numpy()) for chain in chains]
