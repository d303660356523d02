"""What the Hierarchy page asks of a run; PyTorch is imported inside. Nothing here changes a run."""

from __future__ import annotations

from typing import Any

import numpy as np


def reading(run: Any, most: int = 400) -> dict[str, Any]:
    """The first `most` documents through all levels.

    chains: (N, K_l) float16 of each level, the assignment of every token through the levels below; prototypes: (K_l, d);
    names: of each level, K_l lists of (word, score); owners (N,), texts, words, labels and class_names of those documents.
    """
    from dashboard.documents.worker import names_and_coherence
    from ddcl_core.explain import join_pieces

    scene, chains, levels = run.scene, _chains(run), _levels(run)
    texts = list(scene.texts or [" ".join(words) for words in scene.words])
    place, words, rows = 0, [], []
    for text, pieces in zip(texts, scene.words):
        for word in join_pieces(text, pieces):
            words.append(text[word.start : word.end])
            rows.append((place + word.first, place + word.last + 1))
        place += len(pieces)
    names = []
    for q in chains:
        share = np.stack([q[a:b].mean(axis=0) for a, b in rows])
        found = names_and_coherence(words, share.argmax(axis=1), share.max(axis=1), texts, q.shape[1])
        names.append(found["names"])
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
    levels = [(q[keep], p) for q, p in zip(_chains(run), _levels(run))]
    return compression_curve(z[keep], owners[keep], run.scene.labels[: last + 1], levels, seed)


def _levels(run: Any) -> list[np.ndarray]:
    return [p.detach().float().cpu().numpy() for p in run.model.prototype_parameters()]


def _chains(run: Any) -> list[np.ndarray]:
    import torch

    from ddcl_core.losses import quantization_losses
    from ddcl_core.metrics import usage

    with torch.no_grad():
        q = quantization_losses(run.model.encode(), run.model.prototypes, run.temperature).assignments
        chains = [q]
        for output in run.model.levels(usage(q)):
            chains.append(chains[-1] @ output.assignments)
    return [np.nan_to_num(chain.float().cpu().numpy()) for chain in chains]
