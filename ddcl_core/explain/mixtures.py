"""Documents as mixtures of prototypes, and what each prototype adds to a class.

With q_nk the assignments of the tokens n of document b, of which there are N_b, its mixture is u_bk = mean_n q_nk and the
readout is the mean soft centroid, sum_k u_bk p_k. A linear head W, c then gives the logit of class j as

    c_j + sum_k u_bk (p_k . w_j)

exactly: a sum over prototypes (Cirrincione and Kumar, arXiv 2604.03850, section 3, for the readout).
"""

from __future__ import annotations

import numpy as np


def mixtures(assignments: np.ndarray, owners: np.ndarray, documents: int) -> np.ndarray:
    """Mean assignment of each document: (N, K) and the document (N,) of each token -> (B, K); zeros without tokens."""
    sums = np.zeros((documents, assignments.shape[1]))
    np.add.at(sums, owners, assignments)
    return sums / np.maximum(np.bincount(owners, minlength=documents), 1)[:, None]


def contributions(mixture: np.ndarray, prototypes: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """What each prototype adds to each logit: (..., K), (K, d), (C, d) -> (..., K, C). With the bias they sum to it."""
    return mixture[..., :, None] * (prototypes @ weight.T)


def switched_off(assignments: np.ndarray, off: np.ndarray) -> np.ndarray:
    """Assignments (N, K) with the prototypes of the mask `off` (K,) taken out: their share goes to the others in
    proportion, which is the softmax over those that are left. A token that only they held is shared out evenly.

    Raises ValueError when all are off.
    """
    if off.all():
        raise ValueError("At least one prototype must stay on.")
    left = np.where(off, 0.0, assignments)
    total = left.sum(axis=1, keepdims=True)
    even = np.where(off, 0.0, 1.0 / (~off).sum())
    return np.where(total > 1e-12, left / np.maximum(total, 1e-12), even)


def nearest_documents(mixture: np.ndarray, document: int, count: int = 10) -> tuple[np.ndarray, np.ndarray]:
    """The `count` documents whose mixture is most like that of one document, and their distances, nearest first.

    Distance of Hellinger, sqrt(1 - sum_k sqrt(u_k v_k)): 0 for the same mixture, 1 for mixtures without a common
    prototype. mixture: (B, K).
    """
    roots = np.sqrt(np.clip(mixture, 0.0, None))
    distances = np.sqrt(np.clip(1.0 - roots @ roots[document], 0.0, None))
    distances[document] = np.inf
    order = np.argsort(distances, kind="stable")[: min(count, len(mixture) - 1)]
    return order, distances[order]


def class_profile(mixture: np.ndarray, labels: np.ndarray, classes: int) -> np.ndarray:
    """(K, C): how much of each prototype's weight lies in documents of each class; rows sum to 1, 0 without weight."""
    profile = np.zeros((mixture.shape[1], classes))
    np.add.at(profile.T, labels, mixture)
    return profile / np.maximum(profile.sum(axis=1, keepdims=True), 1e-12)


def twins(prototypes: np.ndarray, share: float = 0.05) -> list[list[int]]:
    """Groups of prototypes (K, d) that practically are one: closer than `share` of the largest distance of two."""
    apart = np.linalg.norm(prototypes[:, None] - prototypes[None], axis=-1)
    near = apart <= share * max(float(apart.max()), 1e-12)
    groups: list[list[int]] = []
    for k in range(len(prototypes)):
        home = next((group for group in groups if near[k, group].any()), None)
        if home is None:
            groups.append([k])
        else:
            home.append(k)
    return [group for group in groups if len(group) > 1]
