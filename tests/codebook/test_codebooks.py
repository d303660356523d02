"""Soft and hard codebooks: against the library's own losses, by numbers, in every dtype, masked and in chunks."""

from __future__ import annotations

import pytest
import torch

from ddcl_core import InputError
from ddcl_core.codebook import HardCodebook, SoftCodebook
from ddcl_core.losses import objective_value, quantization_losses

torch.set_num_threads(1)


def draw(seed: int = 0, n: int = 20, k: int = 7, d: int = 4, dtype=torch.float64) -> tuple[torch.Tensor, torch.Tensor]:
    g = torch.Generator().manual_seed(seed)
    return torch.randn(n, d, generator=g, dtype=dtype), torch.randn(k, d, generator=g, dtype=dtype)


def with_codes(book, codes: torch.Tensor):
    book = book.to(codes.dtype)
    with torch.no_grad():
        book.codes.copy_(codes)
    book._codes_were_set()
    return book


KINDS = {
    "soft": lambda k, d, **o: SoftCodebook(k, d, **o),
    "hard": lambda k, d, **o: HardCodebook(k, d, **o),
    "ema": lambda k, d, **o: HardCodebook(k, d, ema_decay=0.9, **o),
}
kinds = pytest.mark.parametrize("kind", KINDS)


@pytest.mark.parametrize("objective", ["L_q", "F", "L_OLS", "V"])
@pytest.mark.parametrize("temperature", [1e-4, 0.1, 2.0, 1e6])
@pytest.mark.parametrize("limit", [1, 40, 2**24])
def test_soft_equals_the_plain_losses_and_their_gradients(objective, temperature, limit):
    z, codes = draw(3)
    book = with_codes(SoftCodebook(7, 4, temperature, objective, 0.5, chunk_limit=limit), codes)
    z1, z2 = z.clone().requires_grad_(), z.clone().requires_grad_()
    plain_codes = codes.clone().requires_grad_()
    plain = quantization_losses(z2, plain_codes, temperature)
    pull = torch.linspace(-1, 1, z.numel(), dtype=z.dtype).reshape(z.shape)
    out = book(z1)
    (out.loss + (out.quantized * pull).sum()).backward()
    (0.5 * objective_value(plain, objective) + (plain.centroids * pull).sum()).backward()
    tolerance = dict(rtol=1e-8, atol=1e-8)
    torch.testing.assert_close(out.quantized, plain.centroids, **tolerance)
    torch.testing.assert_close(out.weights, plain.assignments.sum(0), **tolerance)
    for mine, theirs in (("total", "total"), ("ols", "ols"), ("variance", "variance"), ("free_energy", "free_energy")):
        torch.testing.assert_close(getattr(out, mine), getattr(plain, theirs), **tolerance)
    torch.testing.assert_close(out.total, out.ols + out.variance, **tolerance)
    torch.testing.assert_close(z1.grad, z2.grad, rtol=1e-6, atol=1e-7)
    torch.testing.assert_close(book.codes.grad, plain_codes.grad, rtol=1e-6, atol=1e-7)


def test_soft_gradients_by_numbers():
    z, codes = draw(5, n=6, k=4, d=3)

    def function(z, codes):
        book = with_codes(SoftCodebook(4, 3, 0.7), codes)
        out = torch.func.functional_call(book, {"codes": codes}, (z,))
        return out.quantized, out.total, out.variance, out.free_energy

    assert torch.autograd.gradcheck(function, (z.requires_grad_(), codes.requires_grad_()))


@kinds
def test_chunks_change_nothing(kind):
    z, codes = draw(1, 33, 9, 5)
    results = []
    for limit in (1, 50, 2**24):
        book = with_codes(KINDS[kind](9, 5, chunk_limit=limit), codes)
        x = z.clone().requires_grad_()
        out = book(x)
        (out.loss + out.quantized.square().sum()).backward()
        results.append((out.quantized, out.loss, out.indices, out.weights, x.grad))
    for other in results[1:]:
        for a, b in zip(results[0], other):
            torch.testing.assert_close(a, b)


@kinds
def test_masked_equals_truncated_whatever_the_padding_holds(kind):
    z, codes = draw(2, 12)
    padded = torch.cat((z, torch.full((6, 4), float("nan"), dtype=z.dtype))).reshape(3, 6, 4).requires_grad_()
    mask = torch.arange(18).reshape(3, 6) < 12
    a, b = with_codes(KINDS[kind](7, 4), codes), with_codes(KINDS[kind](7, 4), codes)
    masked, truncated = a(padded, mask), b(z)
    torch.testing.assert_close(masked.quantized.reshape(18, 4)[:12], truncated.quantized)
    assert masked.quantized.reshape(18, 4)[12:].eq(0).all() and masked.indices.reshape(-1)[12:].eq(-1).all()
    for name in ("loss", "total", "ols", "variance", "free_energy", "counts", "weights"):
        torch.testing.assert_close(getattr(masked, name), getattr(truncated, name))
    torch.testing.assert_close(a.codes, b.codes)
    (masked.loss + masked.quantized.sum()).backward()
    assert padded.grad.isfinite().all()
    nothing = a(padded.detach(), torch.zeros_like(mask))
    assert nothing.loss == 0 and nothing.quantized.eq(0).all() and nothing.counts.sum() == 0
    assert a.codes.isfinite().all()


@kinds
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_dtypes_and_autocast(kind, dtype):
    z, codes = draw(4)
    wide = with_codes(KINDS[kind](7, 4), codes.to(dtype).double())
    book = with_codes(KINDS[kind](7, 4), codes.to(dtype).double())
    book = book.double() if dtype == torch.float64 else book.float()
    x = z.to(dtype).requires_grad_()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = book(x)
    reference = wide(z.to(dtype).double())
    assert out.quantized.dtype == dtype and out.loss.dtype == (
        torch.float64 if dtype == torch.float64 else torch.float32
    )
    torch.testing.assert_close(out.loss.double(), reference.loss.double(), rtol=1e-4, atol=1e-5)
    assert torch.equal(out.indices, reference.indices)
    (out.loss + out.quantized.float().square().mean()).backward()
    assert x.grad.isfinite().all() and x.grad.dtype == dtype


@kinds
def test_far_from_the_origin_and_at_the_codes(kind):
    z, codes = draw(6, dtype=torch.float32)
    near, far = with_codes(KINDS[kind](7, 4), codes), with_codes(KINDS[kind](7, 4), codes + 1e4)
    assert torch.equal(near.nearest(z), far.nearest(z + 1e4))
    torch.testing.assert_close(near(z).total, far(z + 1e4).total, rtol=2e-3, atol=2e-3)
    on = codes.clone().requires_grad_()
    out = near.eval()(on)
    (out.loss + out.quantized.sum()).backward()
    assert torch.equal(out.indices, torch.arange(7)) and on.grad.isfinite().all()


@kinds
def test_one_code_one_output_and_permutation(kind):
    one = KINDS[kind](1, 3).eval()
    out = one(torch.ones(3))
    assert out.quantized.shape == (3,) and out.indices.shape == () and int(out.counts) == 1 and out.variance == 0
    z, codes = draw(8)
    order = torch.randperm(7, generator=torch.Generator().manual_seed(1))
    a = with_codes(KINDS[kind](7, 4), codes).eval()(z)
    b = with_codes(KINDS[kind](7, 4), codes[order]).eval()(z)
    torch.testing.assert_close(a.quantized, b.quantized)
    torch.testing.assert_close(a.weights[order], b.weights)


def test_cold_soft_is_hard_and_hot_soft_is_the_mean():
    z, codes = draw(9)
    book = with_codes(SoftCodebook(7, 4, 1e-4), codes)
    hardened, indices = book.harden(z)
    torch.testing.assert_close(book(z).quantized, hardened)
    torch.testing.assert_close(hardened, codes[torch.cdist(z, codes).argmin(1)])
    assert torch.equal(book(z).counts, torch.bincount(indices, minlength=7))
    book.set_temperature(1e6)
    torch.testing.assert_close(book(z).quantized, codes.mean(0).expand_as(z), rtol=1e-4, atol=1e-4)


def test_straight_through_and_the_two_hard_losses():
    z, codes = draw(10)
    z.requires_grad_()
    book = with_codes(HardCodebook(7, 4, commitment=0.25, loss_weight=2.0), codes)
    out = book(z)
    out.quantized.sum().backward(retain_graph=True)
    torch.testing.assert_close(z.grad, torch.ones_like(z))  # copied past the choice
    assert book.codes.grad is None or book.codes.grad.eq(0).all()
    z.grad = None
    out.loss.backward()
    chosen = codes[out.indices]
    torch.testing.assert_close(z.grad, 0.25 * 2 * (z.detach() - chosen) / len(z))
    expected = torch.zeros_like(codes).index_add_(0, out.indices, 2.0 * 2 * (chosen - z.detach()) / len(z))
    torch.testing.assert_close(book.codes.grad, expected)


def test_moving_averages_by_hand_and_frozen_and_evaluation():
    book = with_codes(HardCodebook(2, 1, ema_decay=0.5), torch.tensor([[0.0], [10.0]], dtype=torch.float64))
    z = torch.tensor([[1.0], [3.0]], dtype=torch.float64)
    for quiet in (book.eval(), book.train()):
        book.frozen = quiet.training
        book(z)
        assert book.codes.flatten().tolist() == [0.0, 10.0] and int(book.updates) == 0
    book.frozen = False
    book(z)
    # counts 1 -> 0.5 + 0.5*2 = 1.5 and 0.5; sums 0 -> 0.5*4 = 2 and 10 -> 5: codes 2/1.5 and 10
    torch.testing.assert_close(book.codes.flatten(), torch.tensor([2 / 1.5, 10.0], dtype=torch.float64))
    for _ in range(200):
        book(z)
    assert book.codes.isfinite().all() and book.codes[1] == pytest.approx(10.0)


def test_revival_resets_the_running_state_and_is_kept():
    g = torch.Generator().manual_seed(0)
    z = torch.randn(50, 3, generator=g)
    book = with_codes(HardCodebook(8, 3, ema_decay=0.9, revive_below=0.5), torch.full((8, 3), 100.0) + torch.eye(8, 3))
    for _ in range(60):
        book(z)
    assert int((book(z).counts > 0).sum()) == 8
    torch.testing.assert_close(book.average_sum / book.average_count[:, None], book.codes)  # no stale sums pull back
    few = with_codes(HardCodebook(8, 3, ema_decay=0.0, revive_below=0.5), torch.full((8, 3), 100.0))
    few(z[:2])
    assert few.codes.isfinite().all() and len(torch.unique(few.codes, dim=0)) == 8


def test_state_dict_goes_on_exactly():
    z, codes = draw(11, dtype=torch.float32)
    a = with_codes(HardCodebook(7, 4, ema_decay=0.9, revive_below=1.0), codes)
    a(z)
    b = HardCodebook(7, 4, ema_decay=0.9, revive_below=1.0)
    b.load_state_dict(a.state_dict())
    for _ in range(5):
        a(z)
        b(z)
    assert torch.equal(a.codes, b.codes)
    soft = SoftCodebook(7, 4, 0.3)
    other = SoftCodebook(7, 4, 2.0)
    other.load_state_dict(soft.state_dict())
    assert other.temperature == pytest.approx(0.3)


@pytest.mark.parametrize(
    "make",
    [
        lambda: SoftCodebook(0, 4), lambda: SoftCodebook(4, 4, temperature=0.0),
        lambda: SoftCodebook(4, 4, objective="x"),
        lambda: HardCodebook(4, 4, ema_decay=2.0), lambda: HardCodebook(4, 4, revive_below=1.0),
        lambda: SoftCodebook(4, 4)(torch.zeros(2, 3)), lambda: SoftCodebook(4, 4)(torch.zeros(2, 4), torch.ones(3)),
        lambda: SoftCodebook(4, 4).initialize_from(torch.zeros(2, 4), "x"),
        lambda: SoftCodebook(4, 4).lookup(torch.tensor([4])), lambda: SoftCodebook(4, 4, chunk_limit=0),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_said(make):
    with pytest.raises(InputError):
        make()


@kinds
def test_more_codes_than_outputs_can_be_placed(kind):
    book = KINDS[kind](16, 4)
    book.initialize_from(torch.randn(3, 4), "kmeans++", generator=torch.Generator().manual_seed(0))
    assert len(torch.unique(book.codes.detach(), dim=0)) == 16
