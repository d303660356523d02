"""Trainable encoders: where they start, what they see, and that a seed fixes them."""

import pytest
import torch
from torch.nn import functional as F

from ddcl_core.config import EncoderConfig
from ddcl_core.encoders import build_encoder
from ddcl_core.errors import InputError

SEEDS = (0, 1, 7)
KINDS = ("transformer", "residual", "mlp", "none")


def tokens_and_mask(seed, B=5, T=7, dim=8):
    g = torch.Generator().manual_seed(seed)
    lengths = torch.tensor([7, 1, 3, 5, 2])[:B]
    return torch.randn(B, T, dim, generator=g), torch.arange(T) < lengths[:, None]


@pytest.mark.parametrize("seed", SEEDS)
def test_residual_starts_as_the_exact_identity_and_then_learns(seed):
    x, mask = tokens_and_mask(seed)
    encoder = build_encoder(EncoderConfig(kind="residual", final_norm=False), 8, seed)
    assert torch.equal(encoder(x), x)
    assert torch.equal(encoder(x, mask)[mask], x[mask])
    normed = build_encoder(EncoderConfig(kind="residual"), 8, seed)
    torch.testing.assert_close(normed(x), F.layer_norm(x, (8,)))

    encoder(x).pow(3).sum().backward()  # a gradient reaches the zeroed projections, so training leaves the identity
    for block in encoder.blocks:
        assert block.self_attn.out_proj.weight.grad.abs().max() > 0 and block.linear2.weight.grad.abs().max() > 0


def by_hand(encoder, x, heads):
    """The forward pass written out for one document (T, d), from the state dict alone."""
    s, d = encoder.state_dict(), x.shape[-1]
    for i in range(len(encoder.blocks)):
        w = {k.removeprefix(f"blocks.{i}."): v for k, v in s.items() if k.startswith(f"blocks.{i}.")}
        y = F.layer_norm(x, (d,), w["norm1.weight"], w["norm1.bias"])
        q, k, v = (y @ w["self_attn.in_proj_weight"].T + w["self_attn.in_proj_bias"]).split(d, dim=-1)
        out = []
        for h in range(heads):
            part = slice(h * d // heads, (h + 1) * d // heads)
            weights = torch.softmax(q[:, part] @ k[:, part].T / (d // heads) ** 0.5, dim=-1)
            out.append(weights @ v[:, part])
        x = x + torch.cat(out, dim=-1) @ w["self_attn.out_proj.weight"].T + w["self_attn.out_proj.bias"]
        y = F.layer_norm(x, (d,), w["norm2.weight"], w["norm2.bias"])
        y = torch.relu(y @ w["linear1.weight"].T + w["linear1.bias"])
        x = x + y @ w["linear2.weight"].T + w["linear2.bias"]
    return F.layer_norm(x, (d,), s["norm.weight"], s["norm.bias"])


@pytest.mark.parametrize("seed", SEEDS)
def test_transformer_equals_the_formulas_document_by_document(seed):
    x, mask = tokens_and_mask(seed)
    encoder = build_encoder(EncoderConfig(heads=2), 8, seed).double()
    with torch.no_grad():
        for parameter in encoder.parameters():  # biases and norms away from 0 and 1
            parameter.add_(0.1 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(seed)))
    out = encoder(x.double(), mask)
    for b in range(len(x)):
        real = x[b, mask[b]].double()
        torch.testing.assert_close(out[b, mask[b]], by_hand(encoder, real, 2), atol=1e-12, rtol=1e-12)
    torch.testing.assert_close(encoder(x.double())[0], out[0])  # document 0 is full: no mask says the same


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("final_norm", [True, False])
def test_padding_never_matters_not_even_nan(kind, final_norm):
    x, mask = tokens_and_mask(2)
    encoder = build_encoder(EncoderConfig(kind=kind, heads=2, final_norm=final_norm), 8, 1)
    outs, grads = [], []
    for rubbish in (0.0, 1e6, float("nan"), float("inf")):
        dirty = x.masked_fill(~mask[..., None], rubbish).requires_grad_()
        out = encoder(dirty, mask)
        out.square().sum().backward()
        outs.append(out.detach())
        grads.append(dirty.grad)
    for out, grad in zip(outs, grads):
        assert torch.equal(out, outs[0]) and torch.equal(grad, grads[0])
    assert (outs[0][~mask] == 0).all() and (grads[0][~mask] == 0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_a_document_without_real_tokens_is_zero_with_finite_gradients(kind):
    x, mask = tokens_and_mask(3)
    encoder = build_encoder(EncoderConfig(kind=kind, heads=2), 8, 1)
    plain = encoder(x, mask)
    mask[1] = False
    x.requires_grad_()
    out = encoder(x, mask)
    assert (out[1] == 0).all()
    torch.testing.assert_close(out[[0, 2, 3, 4]], plain[[0, 2, 3, 4]])
    out.square().sum().backward()
    assert all(torch.isfinite(p.grad).all() for p in [x, *encoder.parameters()])


@pytest.mark.parametrize("seed", SEEDS)
def test_tokens_and_documents_have_no_order(seed):
    x, _ = tokens_and_mask(seed)
    encoder = build_encoder(EncoderConfig(heads=2), 8, seed)
    order, documents = torch.randperm(7), torch.randperm(5)
    torch.testing.assert_close(encoder(x[:, order]), encoder(x)[:, order], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(encoder(x[documents]), encoder(x)[documents], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("kind", ["transformer", "residual"])
def test_weights_come_from_the_seed_and_nothing_else(kind):
    config = EncoderConfig(kind=kind, heads=2)
    torch.manual_seed(1)
    before = torch.get_rng_state()
    first = build_encoder(config, 8, seed=4)
    assert torch.equal(torch.get_rng_state(), before)  # the global generator is left alone
    torch.manual_seed(99)
    with torch.device("meta"):  # a default device does not change where and how weights start
        again = build_encoder(config, 8, seed=4)
    given = build_encoder(config, 8, generator=torch.Generator().manual_seed(4))
    other = build_encoder(config, 8, seed=5)
    for a, b, c in zip(first.parameters(), again.parameters(), given.parameters()):
        assert torch.equal(a, b) and torch.equal(a, c) and a.device.type == "cpu" and torch.isfinite(a).all()
    assert any(not torch.equal(a, b) for a, b in zip(first.parameters(), other.parameters()))


def test_train_and_eval_agree_and_the_state_dict_survives():
    x, mask = tokens_and_mask(1)
    encoder = build_encoder(EncoderConfig(heads=2), 8, 1)
    trained = encoder.train()(x, mask)
    with torch.no_grad():
        torch.testing.assert_close(encoder.eval()(x, mask), trained)
    other = build_encoder(EncoderConfig(heads=2), 8, 2)
    other.load_state_dict(encoder.state_dict())
    torch.testing.assert_close(other(x, mask), trained)


def test_none_is_the_identity_without_parameters_or_norm():
    x, mask = tokens_and_mask(1)
    encoder = build_encoder(EncoderConfig(kind="none", heads=3, final_norm=True), 8)
    assert torch.equal(encoder(x), x) and torch.equal(encoder(x, mask)[mask], x[mask])
    assert not list(encoder.parameters())


def test_odd_sizes_and_clear_refusals():
    one = build_encoder(EncoderConfig(heads=1), 1, 0)
    assert torch.isfinite(one(torch.randn(1, 1, 1))).all()
    with pytest.raises(InputError, match="heads is 3.*dimension 8.*1, 2, 4, 8"):
        build_encoder(EncoderConfig(heads=3), 8)
    with pytest.raises(InputError, match="at least 1"):
        build_encoder(EncoderConfig(), 0)
    encoder = build_encoder(EncoderConfig(heads=2), 8)
    with pytest.raises(InputError, match=r"\(2, 3, 4\).*\(B, T, 8\)"):
        encoder(torch.zeros(2, 3, 4))
    with pytest.raises(InputError, match=r"mask.*\(3, 2\).*\(2, 3\)"):
        encoder(torch.zeros(2, 3, 8), torch.ones(3, 2, dtype=torch.bool))
