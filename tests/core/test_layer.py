"""DDCLAttention as a user meets it: shapes, heads, masks, dtypes, saving, freezing, training at two speeds."""

import copy
import io
import math

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from ddcl_core.errors import InputError
from ddcl_core.layer import DDCLAttention
from ddcl_core.losses import PAIRWISE_LIMIT, quantization_losses

SEEDS = range(3)
SCALARS = ("total", "ols", "variance", "entropy", "free_energy", "normalized_free_energy")


def build(seed=0, dim=8, k=5, heads=2, dtype=torch.float64, **options):
    torch.manual_seed(seed)
    layer = DDCLAttention(dim, k, heads, **options).to(dtype)
    tokens = torch.randn(3, 7, dim, dtype=torch.float64).to(dtype)
    mask = torch.arange(7) < torch.tensor([[7], [4], [1]])
    return layer, tokens, mask


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("heads", [1, 2, 8])
@pytest.mark.parametrize("residual", [True, False])
@pytest.mark.parametrize("norm", [True, False])
def test_output_by_its_equation(seed, heads, residual, norm):
    layer, x, _ = build(seed, heads=heads, residual=residual, norm=norm, temperature=0.8)
    out = layer(x)
    assert out.assignments.shape == (3, 7, heads, 5)
    centroids, split = [], 0.0
    for h, part in enumerate(x.chunk(heads, dim=-1)):
        p = layer.prototypes[h]
        q = torch.softmax(-(part[..., None, :] - p).square().sum(-1) / 0.8, -1)
        torch.testing.assert_close(out.assignments[:, :, h], q)
        centroids.append(q @ p)
        split = split + quantization_losses(part, p, 0.8).total
    y = torch.cat(centroids, -1) + (x if residual else 0)
    if norm:
        y = (y - y.mean(-1, keepdim=True)) / (y.var(-1, correction=0, keepdim=True) + 1e-5).sqrt()
    torch.testing.assert_close(out.tokens, y)
    torch.testing.assert_close(out.pooled, y.mean(1))
    torch.testing.assert_close(out.losses.total, split)
    torch.testing.assert_close(out.losses.total, out.losses.ols + out.losses.variance, rtol=1e-12, atol=0)
    assert out.losses.centroids.shape == x.shape and out.losses.distances.shape == out.assignments.shape


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("padding", [0.0, 1e4, math.nan, math.inf])
def test_masked_equals_truncated(seed, padding):
    layer, x, mask = build(seed)
    padded = torch.where(mask[..., None], x, padding).requires_grad_()
    out = layer(padded, mask)
    for row, length in enumerate((7, 4, 1)):
        alone = layer(x[row : row + 1, :length])
        torch.testing.assert_close(out.tokens[row, :length], alone.tokens[0])
        torch.testing.assert_close(out.pooled[row], alone.pooled[0])
        torch.testing.assert_close(out.assignments[row, :length], alone.assignments[0])
    assert out.tokens[~mask].abs().max() == 0 and out.assignments[~mask].abs().max() == 0
    (out.pooled.sum() + out.losses.total).backward()
    assert torch.isfinite(padded.grad).all() and torch.isfinite(layer.prototypes.grad).all()


def test_an_empty_document_is_finite_and_harmless():
    layer, x, mask = build()
    mask[1] = False
    out = layer(x, mask)
    assert out.pooled[1].abs().max() == 0
    others = layer(x[[0, 2]], mask[[0, 2]])
    torch.testing.assert_close(out.losses.total, others.losses.total)
    nothing = layer(x, torch.zeros_like(mask))
    assert nothing.losses.total == 0 and torch.isfinite(nothing.tokens).all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_output_has_the_dtype_of_the_input(dtype):
    layer, x, mask = build(dtype=dtype)
    out = layer(x, mask)
    assert out.tokens.dtype == out.pooled.dtype == dtype
    assert out.assignments.dtype == out.losses.total.dtype == (dtype if dtype == torch.float64 else torch.float32)
    (out.tokens.square().sum() + out.losses.total).backward()
    assert torch.isfinite(layer.prototypes.grad).all()
    exact = copy.deepcopy(layer).double()(x.double(), mask)
    assert out.losses.total.item() == pytest.approx(exact.losses.total.item(), rel=1e-5)


def test_autocast_computes_in_float32():
    layer, x, mask = build(dtype=torch.float32)
    plain = layer(x, mask)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        mixed = layer(x, mask)
    assert torch.equal(plain.tokens, mixed.tokens) and torch.equal(plain.losses.total, mixed.losses.total)


@pytest.mark.parametrize("seed", SEEDS)
def test_token_and_prototype_order_do_not_matter(seed):
    layer, x, _ = build(seed)
    out = layer(x)
    order, names = torch.randperm(7), torch.randperm(5)
    torch.testing.assert_close(layer(x[:, order]).tokens, out.tokens[:, order])
    torch.testing.assert_close(layer(x[:, order]).pooled, out.pooled)
    renamed = copy.deepcopy(layer)
    renamed.prototypes.data = layer.prototypes.data[:, names]
    again = renamed(x)
    torch.testing.assert_close(again.tokens, out.tokens)
    torch.testing.assert_close(again.assignments, out.assignments[..., names])


@pytest.mark.parametrize("temperature", [1e-4, 0.3, 1e6])
def test_state_dict_round_trip_carries_the_temperature(temperature):
    layer, x, mask = build(temperature=temperature)
    buffer = io.BytesIO()
    torch.save(layer.state_dict(), buffer)
    buffer.seek(0)
    other = build(seed=9)[0]
    other.load_state_dict(torch.load(buffer, weights_only=True))
    assert other.temperature == temperature and torch.equal(other(x, mask).tokens, layer(x, mask).tokens)
    assert layer.half().temperature == temperature and copy.deepcopy(layer).temperature == temperature


def test_temperature_may_change_at_any_time():
    layer, x, _ = build(heads=1)
    layer.temperature = 1e-4
    assert layer(x).assignments.amax(-1).min() > 0.999
    layer.temperature = 1e6
    torch.testing.assert_close(layer(x).assignments, torch.full((3, 7, 1, 5), 0.2).double(), rtol=1e-4, atol=0)
    with pytest.raises(InputError, match="temperature"):
        layer.temperature = 0.0
    assert layer.temperature == 1e6


def test_training_and_evaluation_mode_agree_and_no_state_moves():
    layer, x, mask = build()
    before = copy.deepcopy(layer.state_dict())
    trained, evaluated = layer.train()(x, mask), layer.eval()(x, mask)
    assert torch.equal(trained.tokens, evaluated.tokens) and torch.equal(trained.losses.total, evaluated.losses.total)
    assert all(torch.equal(before[name], value) for name, value in layer.state_dict().items())


def test_frozen_prototypes_still_pass_gradients_to_the_tokens():
    layer, x, _ = build()
    free = layer(x).losses.total.item()
    layer.prototypes.requires_grad_(False)
    x.requires_grad_()
    out = layer(x)
    out.losses.total.backward()
    assert layer.prototypes.grad is None and x.grad.abs().max() > 0 and out.losses.total.item() == free


@pytest.mark.parametrize("method", ["scaled", "kmeans++", "random"])
def test_initialize_from_real_tokens_only(method):
    layer, x, mask = build()
    padded = torch.where(mask[..., None], x, math.nan)
    layer.initialize_from(padded, mask, method, scale=1.0, generator=torch.Generator().manual_seed(0))
    assert torch.isfinite(layer.prototypes).all() and layer.prototypes.requires_grad
    if method != "random":
        for h, part in enumerate(x[mask].chunk(2, -1)):
            assert (layer.prototypes[h][:, None] - part).norm(dim=-1).min(1).values.max() < 1e-12
    assert DDCLAttention(8, 20).initialize_from(x[0, :3].float()).prototypes.isfinite().all()  # K above N


def test_drops_into_a_transformer_and_trains_at_two_speeds():
    torch.manual_seed(0)
    body = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True), 1)
    model = nn.ModuleDict({"body": body, "readout": DDCLAttention(8, 4, temperature=2.0)})
    x, mask = torch.randn(6, 5, 8), torch.rand(6, 5) < 0.8
    mask[:, 0] = True
    layer = model["readout"].initialize_from(body(x).detach())
    groups = layer.parameter_groups(model, lr_prototypes=0.1, epsilon=0.05)  # the model contains the layer itself
    assert [g["lr"] for g in groups] == [pytest.approx(0.005), 0.1] and groups[1]["params"] == [layer.prototypes]
    mine = [id(p) for g in groups for p in g["params"]]
    assert sorted(mine) == sorted(id(p) for p in model.parameters())
    assert len(layer.parameter_groups(body, 0.1, 0.05)[0]["params"]) == len(list(body.parameters())) + 2
    optimizer = torch.optim.SGD(groups)
    values = []
    for _ in range(15):
        out = layer(body(x, src_key_padding_mask=~mask), mask)
        optimizer.zero_grad()
        out.losses.total.backward()
        optimizer.step()
        values.append(out.losses.total.item())
    assert values[-1] < values[0] and out.pooled.shape == (6, 8)


class Counter(TorchDispatchMode):
    """Counts the numbers that all operations write: a measure of work and memory without a clock."""

    written = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        self.written += out.numel() if isinstance(out, torch.Tensor) else 0
        return out


@pytest.mark.parametrize("k", [16, PAIRWISE_LIMIT + 1])
def test_work_is_linear_in_tokens_and_prototypes(k):
    def work(length, k):
        layer = DDCLAttention(8, k)
        with Counter() as counter, torch.no_grad():
            layer(torch.randn(1, length, 8))
        return counter.written

    base = work(500, k)
    assert 1.4 * base < work(1000, k) < 2.05 * base and 1.4 * base < work(500, 2 * k) < 2.05 * base


@pytest.mark.parametrize("sizes", [(0, 4), (8, 0), (8, 4, 0), (8, 4, 3), (8, 2.5), (8, 4, 1, -1.0)])
def test_impossible_sizes_get_a_sentence(sizes):
    with pytest.raises(InputError):
        DDCLAttention(*sizes)


@pytest.mark.parametrize("tokens, mask", [
    (torch.ones(3, 8), None), (torch.ones(1, 3, 7), None), (torch.ones(1, 0, 8), None),
    (torch.ones(1, 3, 8, dtype=torch.long), None), (torch.ones(1, 3, 8), torch.ones(1, 4)),
])  # fmt: skip
def test_tokens_that_do_not_fit_get_a_sentence(tokens, mask):
    with pytest.raises(InputError, match="do not fit"):
        DDCLAttention(8, 4)(tokens, mask)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_cuda_agrees_with_the_cpu():
    layer, x, mask = build(dtype=torch.float32)
    here = layer(x, mask)
    there = copy.deepcopy(layer).cuda()(x.cuda(), mask.cuda())
    torch.testing.assert_close(there.tokens.cpu(), here.tokens, rtol=1e-5, atol=1e-5)
    assert there.losses.total.item() == pytest.approx(here.losses.total.item(), rel=1e-5)
