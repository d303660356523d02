"""One table for all readouts: same documents, same frozen encoder, same split, same budget, several seeds."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ddcl_core.clustering import kmeans_clusters, mean_interval, score_clusters
from ddcl_core.errors import InputError
from ddcl_core.readouts.modules import (
    READOUTS, TEMPERATURE_SHARE, DDCLReadout, build_readout, cross_entropy, masked_mean,
)  # fmt: skip

BATCH = 32
STEPS = 200
LEARNING_RATE = 2e-3
PROTOTYPE_RATE = 2e-2
PENALTY = 0.1
HELD_OUT = 0.3
CLUSTERING_SHARE = 0.3
"""T over the critical temperature where no label anchors the prototypes: at 1 they would merge."""
_SAMPLE = 4000
Report = Callable[[float, str], None]


@dataclass(frozen=True, eq=False)
class Documents:
    """tokens (B, T, D), mask (B, T), cls (B, D) of a frozen encoder, scaled by one number so that the mean squared norm of
    a token is D; labels (B,)."""

    tokens: Tensor
    mask: Tensor
    cls: Tensor
    labels: Tensor

    @classmethod
    def of(cls, tokens: np.ndarray, mask: np.ndarray, first: np.ndarray, labels: np.ndarray) -> "Documents":
        """From numpy, centred on the mean token and scaled. Raises InputError for fewer than two classes."""
        if len(np.unique(labels)) < 2:
            raise InputError("Comparing readouts needs documents with labels of at least two classes.")
        t, m = torch.from_numpy(tokens).float(), torch.from_numpy(mask).bool()
        mean = t[m].mean(0)
        t = (t - mean) * m[..., None]
        scale = (t.shape[-1] / float(t[m].square().sum(-1).mean())) ** 0.5
        vector = torch.from_numpy(first).float()
        vector = vector - vector.mean(0)
        vector = vector * (t.shape[-1] / max(float(vector.square().sum(-1).mean()), 1e-12)) ** 0.5
        return cls(t * scale, m, vector, torch.from_numpy(labels.astype(np.int64)))

    def part(self, chosen: Tensor) -> "Documents":
        """Some of the documents."""
        return Documents(self.tokens[chosen], self.mask[chosen], self.cls[chosen], self.labels[chosen])


def split(labels: Tensor, seed: int) -> tuple[Tensor, Tensor]:
    """Places of training and held-out documents, stratified: of each class the same share, at least one each way."""
    generator, train, test = torch.Generator().manual_seed(seed), [], []
    for c in labels.unique().tolist():
        places = torch.nonzero(labels == c).flatten()
        places = places[torch.randperm(len(places), generator=generator)]
        held = min(len(places) - 1, max(1, round(HELD_OUT * len(places)))) if len(places) > 1 else 0
        test.append(places[:held])
        train.append(places[held:])
    return torch.cat(train).sort().values, torch.cat(test).sort().values


def classify(name: str, documents: Documents, units: int, seed: int, steps: int = STEPS) -> dict[str, float]:
    """Train one readout with a linear head by Adam on 70 % of the documents, and score it on the rest.

    Returns accuracy, macro_f1, parameters (readout and head), train_ms and infer_ms per thousand documents.
    """
    from sklearn.metrics import f1_score

    train, test = (documents.part(places) for places in split(documents.labels, seed))
    classes, dim = int(documents.labels.max()) + 1, documents.tokens.shape[-1]
    real = train.tokens[train.mask]
    generator = torch.Generator().manual_seed(seed)
    sample = real[torch.randperm(len(real), generator=generator)[:_SAMPLE]]
    readout = build_readout(name, dim, units, sample, seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        head = nn.Linear(dim, classes)
    parameters = [*readout.parameters(), *head.parameters()]
    optimizer = torch.optim.Adam(_groups(readout, head))
    began, seen = time.perf_counter(), 0
    for _ in range(steps):
        chosen = torch.randperm(len(train.labels), generator=generator)[:BATCH]
        batch = train.part(chosen)
        vector, penalty = readout(batch.tokens, batch.mask, batch.cls)
        loss = cross_entropy(head, vector, batch.labels) + PENALTY * penalty
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        seen += len(chosen)
    trained = time.perf_counter() - began
    began = time.perf_counter()
    with torch.no_grad():
        parts = [test.part(places) for places in torch.arange(len(test.labels)).split(BATCH)]
        predicted = torch.cat([head(readout(p.tokens, p.mask, p.cls)[0]).argmax(-1) for p in parts])
    inferred = time.perf_counter() - began
    return {
        "accuracy": float((predicted == test.labels).float().mean()),
        "macro_f1": float(f1_score(test.labels.numpy(), predicted.numpy(), average="macro", zero_division=0)),
        "parameters": float(sum(p.numel() for p in parameters)),
        "train_ms": 1e6 * trained / max(seen, 1), "infer_ms": 1e6 * inferred / max(len(test.labels), 1),
    }  # fmt: skip


def _groups(readout: nn.Module, head: nn.Module | None = None) -> list[dict[str, Any]]:
    """All learn at one rate, prototypes ten times as fast (epsilon = 0.1), as DDCL asks."""
    fast = [readout.prototypes] if isinstance(readout, DDCLReadout) else []
    rest = [p for p in readout.parameters() if not any(p is q for q in fast)] + (list(head.parameters()) if head else [])
    groups = [{"params": rest, "lr": LEARNING_RATE}, {"params": fast, "lr": PROTOTYPE_RATE}]
    return [group for group in groups if group["params"]]


def cluster(name: str, documents: Documents, seed: int, steps: int = STEPS, units: int = 16) -> dict[str, float]:
    """Cluster all documents without labels into as many clusters as there are classes, and compare with these.

    'DDCL, leading prototype': as many prototypes as classes descend L_q alone on the frozen tokens, and a document follows
    the largest share of its mixture. 'k-means on DDCL': k-means on the readout of `units` such prototypes.
    'k-means on CLS', 'k-means on mean': k-means, best of ten starts.
    """
    classes = int(documents.labels.max()) + 1
    if "DDCL" in name:
        prototypes = classes if name.startswith("DDCL") else units
        generator = torch.Generator().manual_seed(seed)
        real = documents.tokens[documents.mask]
        sample = real[torch.randperm(len(real), generator=generator)[:_SAMPLE]]
        readout = build_readout("DDCL", real.shape[-1], prototypes, sample, seed)
        assert isinstance(readout, DDCLReadout)
        readout.temperature *= CLUSTERING_SHARE / TEMPERATURE_SHARE
        optimizer = torch.optim.Adam(_groups(readout))
        for _ in range(steps):
            batch = documents.part(torch.randperm(len(documents.labels), generator=generator)[:BATCH])
            _, penalty = readout(batch.tokens, batch.mask, batch.cls)
            optimizer.zero_grad(set_to_none=True)
            penalty.backward()
            optimizer.step()
        with torch.no_grad():
            if name.startswith("DDCL"):
                found = readout.assign(documents.tokens, documents.mask).argmax(-1).numpy()
            else:
                vector = readout(documents.tokens, documents.mask, documents.cls)[0]
                found = kmeans_clusters(vector.numpy(), classes, seed)
    else:
        points = documents.cls if name.endswith("CLS") else masked_mean(documents.tokens, documents.mask)
        found = kmeans_clusters(points.numpy(), classes, seed)
    scores = score_clusters(documents.labels.numpy(), found, classes, classes)
    return {"acc": scores.accuracy, "nmi": scores.nmi, "ari": scores.ari}


CLUSTERINGS = ("DDCL, leading prototype", "k-means on DDCL", "k-means on CLS", "k-means on mean")


def compare_readouts(
    documents: Documents,
    units: int = 16,
    seeds: Sequence[int] = (0, 1, 2, 3, 4),
    steps: int = STEPS,
    report: Report | None = None,
) -> dict[str, list[dict[str, Any]]]:
    """Both tables: 'classification' and 'clustering', a row a method with mean and 95 % interval (low, high) over `seeds`.

    units: prototypes, slots and latents alike. Every seed draws another split, another start and another order.
    """
    tables: dict[str, list[dict[str, Any]]] = {"classification": [], "clustering": []}
    jobs = [("classification", name) for name in READOUTS] + [("clustering", name) for name in CLUSTERINGS]
    done, total = 0, len(jobs) * len(seeds)
    for table, name in jobs:
        runs = []
        for seed in seeds:
            if report is not None:
                report(done / total, f"{name}, {table}, seed {seed}")
            runs.append(
                classify(name, documents, units, seed, steps) if table == "classification"
                else cluster(name, documents, seed, steps, units)
            )  # fmt: skip
            done += 1
        row: dict[str, Any] = {"method": name, "seeds": len(seeds)}
        for key in runs[0]:
            row[key] = tuple(mean_interval(run[key] for run in runs))
        tables[table].append(row)
    return tables
