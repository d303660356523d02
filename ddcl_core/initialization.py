"""Where prototypes start. Far from the tokens they die at once at every epsilon, so the default starts from data.

    scaled     p_k = m + a (z_i(k) - m),   m the token mean, i(1..K) distinct random tokens, 0 < a <= 1
    kmeans++   tokens drawn one after another with probability proportional to the squared distance to the nearest
               prototype so far (Arthur and Vassilvitskii, SODA 2007); a is not used
    random     independent standard normal numbers, blind to the tokens; a is not used
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from ddcl_core.config import INITIALIZATIONS
from ddcl_core.errors import InputError

JITTER = 1e-3
"""Standard deviation of the offset that tells repeated tokens apart, as a share of the tokens' spread per dimension."""


def initialize(
    tokens: Tensor,
    num_prototypes: int,
    method: str = "scaled",
    scale: float = 0.6,
    generator: torch.Generator | None = None,
) -> Tensor:
    """K prototypes (K, d) for tokens (N, d), in the tokens' device and dtype (half precision gives float32).

    Drawn on the CPU in float64 whatever the device, so one seed gives one start everywhere. With more prototypes than
    tokens (scaled, kmeans++) tokens are taken again. Each repetition, also of tokens that happen to be equal, is moved
    by normal noise of `JITTER` times the spread (or of `JITTER`, if all tokens coincide), because equal prototypes
    would stay equal for ever.

    Raises InputError for an unknown method, K < 1, no tokens, tokens that are not finite, a scale that is negative or
    not finite, or a generator that does not live on the CPU.
    """
    if method not in INITIALIZATIONS:
        raise InputError(f"The initialization is {method!r}; choose one of {', '.join(INITIALIZATIONS)}.")
    if num_prototypes < 1:
        raise InputError(f"The number of prototypes is {num_prototypes}; it must be 1 or more.")
    if tokens.dim() != 2 or tokens.shape[0] < 1:
        raise InputError(f"The tokens have shape {tuple(tokens.shape)}; prototypes need a matrix (N, d) with N >= 1.")
    if not (math.isfinite(scale) and scale >= 0.0):
        raise InputError(f"The scale a is {scale!r}; it must be a finite number, 0 or more.")
    if generator is not None and generator.device.type != "cpu":
        raise InputError(f"The generator lives on {generator.device}; give a CPU generator: torch.Generator().")
    z = tokens.detach().cpu().double()  # N, d; in this order, since MPS has no float64
    if not torch.isfinite(z).all():
        raise InputError("Some tokens are not finite (NaN or infinite); remove them before prototypes are placed.")

    if method == "random":
        start = torch.randn(num_prototypes, z.shape[1], generator=generator, dtype=torch.float64)
    else:
        mean = z.mean(0)
        draw = _distinct_tokens if method == "scaled" else _spread_out_tokens
        index = draw(z - mean, num_prototypes, generator)  # K
        start = z[index]
        repeated = _is_repetition(start)
        if repeated.any():
            spread = (z - mean).square().mean().sqrt().item() or 1.0
            noise = torch.randn(num_prototypes, z.shape[1], generator=generator, dtype=torch.float64)
            start = start + JITTER * spread * noise * repeated[:, None]
        if method == "scaled":
            start = mean + scale * (start - mean)
    return start.to(tokens.device, torch.promote_types(tokens.dtype, torch.float32))


def _distinct_tokens(z: Tensor, k: int, generator: torch.Generator | None) -> Tensor:
    """K token indices, every token once before any token twice."""
    rounds = -(-k // z.shape[0])
    return torch.cat([torch.randperm(z.shape[0], generator=generator) for _ in range(rounds)])[:k]


def _spread_out_tokens(z: Tensor, k: int, generator: torch.Generator | None) -> Tensor:
    """k-means++ seeding; when every token is taken (or they coincide), the rest is drawn evenly."""
    index = [int(torch.randint(z.shape[0], (1,), generator=generator))]
    nearest = (z - z[index[0]]).square().sum(-1)  # N
    for _ in range(1, k):
        weights = nearest if bool(nearest.sum() > 0) else torch.ones_like(nearest)
        index.append(int(torch.multinomial(weights, 1, generator=generator)))
        nearest = torch.minimum(nearest, (z - z[index[-1]]).square().sum(-1))
    return torch.tensor(index)


def _is_repetition(points: Tensor) -> Tensor:
    """True where an equal point occurred before: (K, d) -> (K,)."""
    equal = (points[:, None] == points).all(-1)  # K, K
    return equal.tril(-1).any(-1)
