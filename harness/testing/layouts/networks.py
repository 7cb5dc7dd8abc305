"""Networks that are trained in several layouts, the smallest that have what layouts cut: heads, gates, vocabularies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

#: rows of a batch, tokens of a row, and sizes
ROWS, TOKENS, WIDTH, HEADS, VOCABULARY = 8, 4, 8, 4, 24


class Gated(nn.Module):  # type: ignore[misc, unused-ignore]
    """A gated block with a residual, as large language models have it."""

    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.norm = nn.RMSNorm(WIDTH)
        self.gate, self.up = nn.Linear(WIDTH, 2 * WIDTH, bias=False), nn.Linear(WIDTH, 2 * WIDTH, bias=False)
        self.down = nn.Linear(2 * WIDTH, WIDTH, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        inner = self.norm(x)
        return x + self.dropout(self.down(functional.silu(self.gate(inner)) * self.up(inner)))


class Attention(nn.Module):  # type: ignore[misc, unused-ignore]
    """Attention with a matrix each for queries, keys, values; the number of heads follows from their width."""

    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.q, self.k, self.v = (nn.Linear(WIDTH, WIDTH) for _ in range(3))
        self.out = nn.Linear(WIDTH, WIDTH)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        inner = self.norm(x)
        heads = [each(inner).unflatten(-1, (-1, WIDTH // HEADS)).transpose(1, 2) for each in (self.q, self.k, self.v)]
        made = functional.scaled_dot_product_attention(*heads).transpose(1, 2).flatten(2)
        return x + self.dropout(self.out(made))


class Fused(nn.Module):  # type: ignore[misc, unused-ignore]
    """Attention with one matrix for queries, keys and values; ``share`` is the part of the heads that are here."""

    def __init__(self, dropout: float, share: int = 1) -> None:
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH // share)
        self.out = nn.Linear(WIDTH // share, WIDTH, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        heads = [each.unflatten(-1, (-1, WIDTH // HEADS)).transpose(1, 2) for each in self.qkv(x).chunk(3, -1)]
        return self.dropout(self.out(functional.scaled_dot_product_attention(*heads).transpose(1, 2).flatten(2)))


class Head(nn.Module):  # type: ignore[misc, unused-ignore]
    """Scores of tokens, by a weight that an embedding may share."""

    def __init__(self, rows: int = VOCABULARY) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(rows, WIDTH).normal_(0, 0.5))

    def forward(self, x: Tensor) -> Tensor:
        return functional.linear(x, self.weight)


def blocks(kind: str, seed: int, dropout: float = 0.0) -> nn.Sequential:
    """A network as a chain of blocks, which stages cut.

    Args:
        kind: one of ``KINDS``.
        seed: of its parameters.
        dropout: the probability in its dropout layers.
    """
    torch.manual_seed(seed)
    made: Mapping[str, Any] = {
        "mlp": lambda: [
            nn.Linear(WIDTH, 2 * WIDTH), nn.GELU(), nn.Dropout(dropout), nn.Linear(2 * WIDTH, WIDTH),
            nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 4),
        ],
        "gated": lambda: [nn.Linear(WIDTH, WIDTH), Gated(dropout), Gated(dropout), nn.Linear(WIDTH, 4)],
        "attention": lambda: [Attention(dropout), Gated(dropout), Attention(dropout), nn.Linear(WIDTH, 4)],
        "fused": lambda: [nn.LayerNorm(WIDTH), Fused(dropout), nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 4)],
        "language": lambda: [nn.Embedding(VOCABULARY, WIDTH), Gated(dropout), nn.RMSNorm(WIDTH), Head()],
        "convolution": lambda: [
            nn.Conv1d(TOKENS, 6, 3, padding=1), nn.GroupNorm(2, 6), nn.ReLU(), nn.Dropout(dropout),
            nn.Conv1d(6, 4, 3), nn.Flatten(), nn.Linear(4 * (WIDTH - 2), 4),
        ],
    }  # fmt: skip
    found = nn.Sequential(*made[kind]())
    if kind == "language":
        found[3].weight = found[0].weight
    return found


KINDS = ("mlp", "gated", "attention", "fused", "language", "convolution")


def batch(kind: str, seed: int, step: int) -> tuple[Tensor, Tensor]:
    """The rows of one step, and what the network should give for them."""
    draw = torch.Generator().manual_seed(1000 * seed + step)
    if kind == "language":
        tokens = torch.randint(VOCABULARY, (ROWS, TOKENS + 1), generator=draw)
        return tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()
    rows = torch.randn(ROWS, TOKENS, WIDTH, generator=draw)
    return rows, torch.randn(*((ROWS, 4) if kind == "convolution" else (ROWS, TOKENS, 4)), generator=draw)


def loss(found: Tensor, wanted: Tensor) -> Tensor:
    """The mean over all rows."""
    if wanted.dtype == torch.int64:
        return functional.cross_entropy(found.flatten(0, 1), wanted.flatten())
    return functional.mse_loss(found, wanted)
