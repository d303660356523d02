"""Trainable encoders between the tokens and the prototypes.

The source (Cirrincione and Kumar, arXiv 2604.03850) lets the encoder and the prototypes learn at different speeds;
these are the encoders of the live runs, small enough to train on a CPU while someone watches.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ddcl_core.config import EncoderConfig
from ddcl_core.errors import InputError

MLP_WIDTH = 32  # least hidden width of the per-token network: orbits have only six features
FEEDFORWARD_FACTOR = 2  # width of the hidden layer over dim; 4 makes a step a quarter slower on a CPU


class TransformerTokenEncoder(nn.Module):
    """Pre-norm transformer encoder over the tokens of a document, without dropout and without positions.

        x <- x + Attention(LayerNorm(x));  x <- x + MLP(LayerNorm(x));  finally, if asked, LayerNorm(x)

    There is no positional encoding: text tokens arrive with theirs from the frozen model, synthetic ones have no
    order. So the encoder is equivariant under a permutation of a document's tokens.

    Shapes: tokens (B, T, dim) and mask (B, T) with True = real token -> (B, T, dim). Whatever stands in the padding,
    NaN included, influences neither the output nor a gradient, and the output there is 0; a document without any real
    token gives zeros. `eval` and `train` mode compute the same.

    Args:
        dim: token dimension; `heads` must divide it.
        layers, heads: depth and attention heads.
        final_norm: end with a LayerNorm. Without it plain SGD at epsilon = 1 runs to NaN.
        identity: zero the output projection of every branch, so that at first x passes unchanged (before the norm).
        generator: CPU generator that all weights come from; the global generator is left alone.

    Raises:
        InputError: heads does not divide dim; or, in `forward`, tokens or mask have another shape.
    """

    def __init__(
        self, dim: int, layers: int, heads: int, final_norm: bool, identity: bool, generator: torch.Generator
    ) -> None:
        super().__init__()
        if dim % heads:
            fits = [h for h in range(1, dim + 1) if dim % h == 0]
            raise InputError(
                f"encoder.heads is {heads}, which does not divide the token dimension {dim}; "
                f"choose one of {', '.join(map(str, fits))}."
            )
        self.dim = dim
        # Built without storage and filled below, so that no weight depends on the global generator or on a device.
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(
                dim, heads, FEEDFORWARD_FACTOR * dim, dropout=0.0, activation="relu",
                batch_first=True, norm_first=True, device="meta",
            )
            for _ in range(layers)
        )  # fmt: skip
        self.norm = nn.LayerNorm(dim, device="meta") if final_norm else nn.Identity()
        self.to_empty(device="cpu")
        self._fill(identity, generator)

    @torch.no_grad()
    def _fill(self, identity: bool, generator: torch.Generator) -> None:
        for name, parameter in self.named_parameters():
            if "norm" in name:
                parameter.fill_(1.0 if name.endswith("weight") else 0.0)
            elif parameter.dim() == 1:
                parameter.zero_()
            else:
                nn.init.xavier_uniform_(parameter, generator=generator)
        if identity:
            for block in self.blocks:
                block.self_attn.out_proj.weight.zero_()
                block.linear2.weight.zero_()

    def forward(self, tokens: Tensor, mask: Tensor | None = None) -> Tensor:
        """(B, T, dim) and (B, T) -> (B, T, dim). `mask=None` says that every token is real, and is a little faster."""
        _check_shapes(tokens, mask, self.dim)
        if mask is None:
            x = tokens
            for block in self.blocks:
                x = block(x)
            return self.norm(x)
        mask = mask.bool()
        padding = ~mask.unsqueeze(-1)  # (B, T, 1)
        x = tokens.masked_fill(padding, 0.0)
        # A softmax over no key is NaN in some kernels: a document without real tokens attends to its zeros instead.
        ignored = ~mask & mask.any(dim=1, keepdim=True)  # (B, T)
        for block in self.blocks:
            x = block(x, src_key_padding_mask=ignored)
        return self.norm(x).masked_fill(padding, 0.0)


class TokenMLP(nn.Module):
    """A small residual network on each token by itself, for tokens that are a document of their own (orbits).

        x <- x + W2 relu(W1 x + b1) + b2;  finally, if asked, LayerNorm(x)

    W2 and b2 start at zero, so before the norm it starts as the exact identity. There is no LayerNorm inside: with the
    few features of an orbit it would throw away how large a token is. Shapes, padding and generator as in
    `TransformerTokenEncoder`. Raises InputError in `forward` for tokens or a mask of another shape.
    """

    def __init__(self, dim: int, layers: int, final_norm: bool, generator: torch.Generator) -> None:
        super().__init__()
        self.dim = dim
        hidden = max(MLP_WIDTH, FEEDFORWARD_FACTOR * dim)
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.Linear(dim, hidden, device="meta"), nn.ReLU(), nn.Linear(hidden, dim, device="meta"))
            for _ in range(layers)
        )
        self.norm = nn.LayerNorm(dim, device="meta") if final_norm else nn.Identity()
        self.to_empty(device="cpu")
        with torch.no_grad():
            for first, _, last in self.blocks:
                nn.init.xavier_uniform_(first.weight, generator=generator)
                for zero in (first.bias, last.weight, last.bias):
                    zero.zero_()
            if final_norm:
                self.norm.weight.fill_(1.0)
                self.norm.bias.zero_()

    def forward(self, tokens: Tensor, mask: Tensor | None = None) -> Tensor:
        """(B, T, dim) and (B, T) -> (B, T, dim), 0 at the padding."""
        _check_shapes(tokens, mask, self.dim)
        padding = None if mask is None else ~mask.bool().unsqueeze(-1)  # B, T, 1
        x = tokens if padding is None else tokens.masked_fill(padding, 0.0)
        for block in self.blocks:
            x = x + block(x)
        x = self.norm(x)
        return x if padding is None else x.masked_fill(padding, 0.0)


class FrozenTokens(nn.Module):
    """No encoder: the tokens as they are, without parameters. Shapes as in `TransformerTokenEncoder`."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, tokens: Tensor, mask: Tensor | None = None) -> Tensor:
        """Returns the tokens themselves, 0 at the padding."""
        _check_shapes(tokens, mask, self.dim)
        return tokens if mask is None else tokens.masked_fill(~mask.bool().unsqueeze(-1), 0.0)


def build_encoder(
    config: EncoderConfig, dim: int, seed: int = 0, generator: torch.Generator | None = None
) -> TransformerTokenEncoder | TokenMLP | FrozenTokens:
    """The encoder that `config` describes, on the CPU in float32; move it with `.to(device)`.

    'transformer' starts from random weights; 'residual' is the same network with zeroed output projections, so it
    starts as the exact identity before the optional final LayerNorm; 'mlp' does so too and sees each token by itself
    (`heads` does not apply to it); 'none' is the identity and has no parameters, and `final_norm` does not apply to it.

    Weights come from `generator` (a CPU generator) or else from `seed`, and from nothing else: the same seed gives
    the same weights on every device and in every thread.

    Raises:
        InputError: dim is below 1, or heads does not divide it.
    """
    if dim < 1:
        raise InputError(f"The token dimension is {dim}; it must be at least 1.")
    if config.kind == "none":
        return FrozenTokens(dim)
    if generator is None:
        generator = torch.Generator(device="cpu").manual_seed(seed)
    if config.kind == "mlp":
        return TokenMLP(dim, config.layers, config.final_norm, generator)
    return TransformerTokenEncoder(
        dim, config.layers, config.heads, config.final_norm, identity=config.kind == "residual", generator=generator
    )


def _check_shapes(tokens: Tensor, mask: Tensor | None, dim: int) -> None:
    if tokens.dim() != 3 or tokens.shape[-1] != dim:
        raise InputError(f"The tokens have shape {tuple(tokens.shape)}; this encoder needs (B, T, {dim}).")
    if mask is not None and mask.shape != tokens.shape[:2]:
        raise InputError(
            f"The mask has shape {tuple(mask.shape)}; it must be {tuple(tokens.shape[:2])}, the tokens' first two."
        )
