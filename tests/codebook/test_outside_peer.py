"""The packaged vector-quantize-pytorch on the same inputs and codes: same choices, same perplexity, same averages."""

from __future__ import annotations

import math

import pytest
import torch

from ddcl_core.codebook import HardCodebook, SoftCodebook
from ddcl_core.metrics import effective_prototypes

torch.set_num_threads(1)
peer = pytest.importorskip("vector_quantize_pytorch")


def pair(seed: int, k: int = 32, d: int = 8, **peer_options):
    g = torch.Generator().manual_seed(seed)
    z, codes = torch.randn(4, 60, d, generator=g), torch.randn(k, d, generator=g)
    theirs = peer.VectorQuantize(dim=d, codebook_size=k, commitment_weight=0.25, decay=0.9, **peer_options)
    theirs.codebook = codes
    return z, codes, theirs


def ours(codes, **options) -> HardCodebook:
    book = HardCodebook(*codes.shape, commitment=0.25, **options)
    with torch.no_grad():
        book.codes.copy_(codes)
    book._codes_were_set()
    return book


@pytest.mark.parametrize("seed", range(5))
def test_same_codes_same_loss_same_perplexity(seed):
    z, codes, theirs = pair(seed)
    book = ours(codes).eval()
    quantized, indices, _ = theirs.eval()(z)
    out = book(z)
    assert torch.equal(out.indices, indices)
    torch.testing.assert_close(out.quantized, quantized, rtol=1e-5, atol=1e-6)
    soft = SoftCodebook(*codes.shape, temperature=0.5)
    with torch.no_grad():
        soft.codes.copy_(codes)
    assert torch.equal(soft(z).indices, indices)
    shares = torch.bincount(indices.flatten(), minlength=len(codes)).double() / indices.numel()
    used = shares[shares > 0]
    perplexity = math.exp(-float((used * used.log()).sum()))
    assert effective_prototypes(out.counts.double() / out.counts.sum()) == pytest.approx(perplexity, rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_same_commitment_loss_and_straight_through_gradient(seed):
    z, codes, theirs = pair(seed)
    book = ours(codes, ema_decay=0.9)
    a, b = z.clone().requires_grad_(), z.clone().requires_grad_()
    quantized, _, loss = theirs.train()(a, freeze_codebook=True)
    book.frozen = True
    out = book(b)
    # Theirs averages over the d coordinates as well; ours is a squared distance, a sum over them.
    torch.testing.assert_close(out.loss / z.shape[-1], loss.squeeze())
    quantized.square().sum().backward()
    out.quantized.square().sum().backward()
    if a.grad.allclose(2 * quantized.detach(), atol=1e-5):  # plain straight-through, without their rotation trick
        torch.testing.assert_close(b.grad, a.grad)
    torch.testing.assert_close(b.grad, 2 * out.quantized.detach())
