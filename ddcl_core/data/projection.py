"""From the frozen model's many dimensions to the few that a run trains in: PCA and one global scale."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ddcl_core.errors import InputError


@dataclass(frozen=True, eq=False)
class Projection:
    """The map x -> (x - mean) directions * scale: mean (D,), directions (D, d), all float64."""

    mean: np.ndarray
    directions: np.ndarray
    scale: float

    def apply(self, tokens: np.ndarray) -> np.ndarray:
        """Tokens (..., D) that were not among those it was fitted on, in the same space: (..., d) float32."""
        return ((tokens.astype(np.float64) - self.mean) @ self.directions * self.scale).astype(np.float32)


def project_tokens(tokens: np.ndarray, dim: int) -> tuple[np.ndarray, float, Projection]:
    """Principal components of the tokens, scaled by ONE factor so that their mean squared norm is `dim`.

    The tokens are centred, projected on the `dim` directions of largest variance, and multiplied by one common number:
    shapes and ratios of distances stay, and a temperature means about the same as on tokens that come out of a
    LayerNorm, whose squared norm is `dim` too. A component's sign is fixed (its largest loading is positive), so that
    the same tokens give the same numbers. Computed in float64 from the covariance.

    Args:
        tokens: (N, D) finite.
        dim: d, at most min(N - 1, D).

    Returns:
        projected (N, d) float32 with mean 0, the share of the variance that these d components hold, 0..1, and the
        projection itself.

    Raises:
        InputError: d is larger than the tokens can give, a value is not finite, or all tokens are the same.
    """
    N, D = tokens.shape
    largest = min(N - 1, D)
    if largest < 1:
        raise InputError("There is only one token, and a single point has no directions; add more text.")
    if dim > largest:
        raise InputError(
            f"{N} tokens of a model with {D} dimensions give at most {largest} principal components, but data.dim is "
            f"{dim}; set it to {largest} or less{', or add more text' if largest < D else ''}."
        )
    if not all(np.isfinite(part).all() for part in _blocks(tokens)):
        raise InputError("The model gave token values that are not finite; choose another model or other texts.")
    mean = tokens.mean(axis=0, dtype=np.float64)
    covariance = np.zeros((D, D))
    for part in _blocks(tokens):
        x = part.astype(np.float64) - mean
        covariance += x.T @ x / N
    total = float(np.trace(covariance))
    if total <= 1e-12 * max(np.abs(tokens).max(), 1e-30) ** 2:
        raise InputError("All tokens are the same, so there is nothing to learn from; add different texts.")
    variances, directions = np.linalg.eigh(covariance)  # ascending; (D,), (D, D)
    variances, directions = variances[::-1][:dim], directions[:, ::-1][:, :dim]
    loading = np.argmax(np.abs(directions), axis=0)
    directions = directions * np.sign(directions[loading, np.arange(dim)])
    kept = float(variances.clip(0.0).sum())
    scale = float(np.sqrt(dim / kept))
    projection = Projection(mean, directions, scale)
    projected = np.concatenate([projection.apply(part) for part in _blocks(tokens)])
    return projected, min(kept / total, 1.0), projection


def _blocks(tokens: np.ndarray, rows: int = 1 << 15) -> list[np.ndarray]:
    """Views of so many rows each: whole, in float64, the tokens of 20,000 documents would take gigabytes."""
    return [tokens[i : i + rows] for i in range(0, len(tokens), rows)]
