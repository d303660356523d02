"""How much is left of the documents at each level, beside other summaries of the same size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ddcl_core.clustering import kmeans_clusters
from ddcl_core.errors import InputError


def compression_curve(
    tokens: np.ndarray,
    owners: np.ndarray,
    labels: np.ndarray,
    levels: Sequence[tuple[np.ndarray, np.ndarray]],
    seed: int = 0,
) -> list[dict[str, Any]]:
    """Rows of {method, numbers, kept, accuracy}: numbers a document is summed up in, and what they are worth.

    tokens (N, d) as encoded, owners (N,) their documents, labels (B,). levels: (chained assignments (N, K_l), prototypes
    (K_l, d)) of each, from fine to coarse. A document's summary is its mixture over the prototypes, K_l numbers; kept is the
    share of the token variance that is left when every token is replaced by its soft centroid on that level; beside it
    k-means with K_l clusters (histogram of its tokens over them), PCA of the mean token to K_l numbers, and the mean token
    (d numbers), for which kept is the share of the variance that lies between documents.
    accuracy: of a linear probe (logistic regression, standardised) on 30 % held-out documents; nan without two classes.
    Raises InputError for fewer than four documents.
    """
    documents = len(labels)
    if documents < 4:
        raise InputError(f"A compression curve needs at least 4 documents; there are {documents}.")
    z = tokens.astype(np.float64)
    total = float(((z - z.mean(0)) ** 2).sum())
    count = np.maximum(np.bincount(owners, minlength=documents), 1)[:, None]

    def pooled(values: np.ndarray) -> np.ndarray:
        sums = np.zeros((documents, values.shape[1]))
        np.add.at(sums, owners, values)
        return sums / count

    def left(replaced: np.ndarray) -> float:
        return 1.0 - float(((z - replaced) ** 2).sum()) / max(total, 1e-30)

    means, rows = pooled(z), []
    rows.append(_row("mean of the tokens", z.shape[1], left(means[owners]), means, labels, seed))
    for level, (assignments, prototypes) in enumerate(levels, 1):
        size = len(prototypes)
        q = assignments.astype(np.float64)
        rows.append(_row(f"DDCL, level {level}", size, left(q @ prototypes), pooled(q), labels, seed))
        found = kmeans_clusters(tokens.astype(np.float32), size, seed)
        hard = np.eye(size)[found]
        centres = (hard.T @ z) / np.maximum(hard.sum(0), 1)[:, None]
        rows.append(_row("k-means", size, left(centres[found]), pooled(hard), labels, seed))
        kept = min(size, z.shape[1], documents)
        centred = means - means.mean(0)
        directions = np.linalg.svd(centred, full_matrices=False)[2][:kept]
        flat = centred @ directions.T
        rows.append(_row("PCA of the mean", kept, left((flat @ directions + means.mean(0))[owners]), flat, labels, seed))
    return rows


def _row(method: str, numbers: int, kept: float, summary: np.ndarray, labels: np.ndarray, seed: int) -> dict[str, Any]:
    return {"method": method, "numbers": int(numbers), "kept": kept, "accuracy": probe(summary, labels, seed)}


def probe(summary: np.ndarray, labels: np.ndarray, seed: int) -> float:
    """Accuracy of a linear probe on held-out documents: (B, D), (B,); nan when there is nothing to tell apart."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import train_test_split
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    sizes = np.bincount(labels)
    if (sizes > 0).sum() < 2:
        return float("nan")
    stratify = labels if sizes[sizes > 0].min() >= 2 and len(labels) * 0.3 >= (sizes > 0).sum() else None
    train, test = train_test_split(np.arange(len(labels)), test_size=0.3, random_state=seed, stratify=stratify)
    if len(np.unique(labels[train])) < 2:
        return float("nan")
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500))
    return float(model.fit(summary[train], labels[train]).score(summary[test], labels[test]))
