"""Where prototypes start: on the promised points, distinct, the same for one seed."""

import pytest
import torch

from ddcl_core.errors import InputError
from ddcl_core.initialization import initialize

SEEDS = range(4)
METHODS = ["scaled", "random", "kmeans++"]


def seeded(seed):
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("scale", [0.3, 1.0])
def test_scaled_lies_on_the_line_from_mean_to_distinct_tokens(draw, seed, scale):
    z, _ = draw(seed, n=30)
    p = initialize(z, 8, "scaled", scale, seeded(seed))
    back = z.mean(0) + (p - z.mean(0)) / scale
    gaps = (back[:, None] - z).norm(dim=-1)  # K, N
    assert gaps.min(1).values.max() < 1e-12 and len(set(gaps.argmin(1).tolist())) == 8


def test_scale_zero_starts_at_the_mean(draw):
    z, _ = draw(0)
    torch.testing.assert_close(initialize(z, 3, "scaled", 0.0), z.mean(0).expand(3, -1))


@pytest.mark.parametrize("seed", range(20))
def test_kmeans_plus_plus_finds_every_far_cluster(seed):
    centres = 1e3 * torch.eye(4)
    z = centres.repeat_interleave(25, 0) + 0.01 * torch.randn(100, 4, generator=seeded(seed))
    p = initialize(z, 4, "kmeans++", generator=seeded(seed))
    assert sorted((p[:, None] - centres).norm(dim=-1).argmin(1).tolist()) == [0, 1, 2, 3]
    assert (p[:, None] == z).all(-1).any(-1).all()  # each is a token


@pytest.mark.parametrize("seed", SEEDS)
def test_random_is_standard_normal_whatever_the_tokens(seed):
    p = initialize(torch.full((2, 50), 1e6), 200, "random", generator=seeded(seed))
    assert abs(p.mean()) < 0.05 and abs(p.std() - 1) < 0.05


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("tokens", [torch.randn(3, 2, generator=seeded(0)), torch.ones(1, 2), torch.ones(4, 2)])
def test_few_or_equal_tokens_still_give_distinct_prototypes(method, tokens):
    p = initialize(tokens, 9, method, 0.6, seeded(1))
    assert p.shape == (9, 2) and torch.isfinite(p).all()
    gaps = (p[:, None] - p).norm(dim=-1) + torch.eye(9)
    assert gaps.min() > 0


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_one_seed_one_start_in_a_training_dtype(draw, method, dtype):
    z = draw(0, dtype=dtype)[0]
    a, b, c = (initialize(z, 4, method, 0.5, seeded(s)) for s in (3, 3, 4))
    assert torch.equal(a, b) and not torch.equal(a, c)
    assert a.dtype == (torch.float64 if dtype == torch.float64 else torch.float32)


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda z: initialize(z, 4, "best"), "choose one of scaled"),
        (lambda z: initialize(z, 0), "must be 1 or more"),
        (lambda z: initialize(z[:0], 4), "N >= 1"),
        (lambda z: initialize(z, 4, scale=-1.0), "scale a"),
        (lambda z: initialize(z / 0, 4), "not finite"),
    ],
)
def test_bad_input_gets_a_sentence(call, words):
    with pytest.raises(InputError, match=words):
        call(torch.ones(5, 2))
