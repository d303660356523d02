"""Independent references for the tests of the method: plain numpy in float64, straight from the definitions."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

torch.set_num_threads(1)


def _losses(z, p, temperature):
    """All losses by explicit loops over tokens and prototypes; nothing shared with the library."""
    z, p = np.asarray(z, np.float64), np.asarray(p, np.float64)
    n_tokens, n_protos = len(z), len(p)
    out = dict.fromkeys(("total", "ols", "variance", "entropy", "free_energy"), 0.0)
    q_all, mu_all = np.zeros((n_tokens, n_protos)), np.zeros_like(z)
    for n in range(n_tokens):
        d = np.array([((z[n] - p[k]) ** 2).sum() for k in range(n_protos)])
        low = d.min()
        weights = np.exp(-(d - low) / temperature)
        q = weights / weights.sum()
        mu = sum(q[k] * p[k] for k in range(n_protos))
        out["total"] += (q * d).sum()
        out["ols"] += ((z[n] - mu) ** 2).sum()
        out["variance"] += sum(q[k] * ((p[k] - mu) ** 2).sum() for k in range(n_protos))
        out["entropy"] += -sum(x * np.log(x) for x in q if x > 0)
        out["free_energy"] += low - temperature * np.log(weights.sum())
        q_all[n], mu_all[n] = q, mu
    out = {name: value / n_tokens for name, value in out.items()}
    out["normalized_free_energy"] = out["free_energy"] + temperature * np.log(n_protos)
    return SimpleNamespace(**out, assignments=q_all, centroids=mu_all)


def _numeric_gradient(function, x, step=1e-6):
    """Central differences of a scalar function of an array."""
    x = np.asarray(x, np.float64)
    grad = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        for sign in (1, -1):
            moved = x.copy()
            moved[index] += sign * step
            grad[index] += sign * function(moved) / (2 * step)
    return grad


@pytest.fixture(scope="session")
def reference():
    return SimpleNamespace(losses=_losses, numeric_gradient=_numeric_gradient)


@pytest.fixture
def draw():
    """draw(seed, N, K, d) -> tokens, prototypes, float64 by default."""

    def make(seed, n=20, k=5, d=4, dtype=torch.float64):
        g = torch.Generator().manual_seed(seed)
        z = torch.randn(n, d, generator=g, dtype=torch.float64)
        p = torch.randn(k, d, generator=g, dtype=torch.float64)
        return z.to(dtype), p.to(dtype)

    return make
