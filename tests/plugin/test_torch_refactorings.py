"""Refactorings inside modules hold at granularity ``modules`` in the golden's own environment; faults there do not."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from tests.plugin.test_torch_modules import _loaded as _loaded

pytest_plugins = ["pytester"]

NET = """
import math
import os
import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

HOW = os.environ.get("HOW", "")

class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(12, 12) for _ in range(3))
        self.drop = nn.Dropout(0.0)

    def forward(self, x, mask):
        if HOW == "order":
            v, k, q = self.v(x), self.k(x), self.q(x)
        else:
            q, k, v = self.q(x), self.k(x), self.v(x)
        if HOW == "fused":
            return F.scaled_dot_product_attention(q, k, v, attn_mask=mask), None
        scores = torch.einsum("bqd,bkd->bqk", q, k) if HOW == "einsum" else q @ k.transpose(1, 2)
        scores = scores * (0.2 if HOW == "scale" else 1 / math.sqrt(12))
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf) if mask.dtype == torch.bool else scores + mask
        weights = self.drop(scores.softmax(-1))
        return weights @ v, weights

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention, self.norm = Attention(), nn.LayerNorm(12)
        self.head = nn.Sequential(nn.Linear(12, 24), nn.GELU(), nn.Linear(24, 3))

    def forward(self, x):
        mask = torch.ones(5, 5, dtype=torch.bool).tril(1 if HOW == "mask" else 0)
        if HOW == "floats":
            mask = torch.zeros(1, 5, 5).masked_fill(~mask, -torch.inf)
        x = x + self.attention(x, mask)[0]
        x = x if HOW == "no norm" else self.norm(x)
        if HOW == "again":
            return checkpoint(self.head, x, use_reentrant=False)
        if HOW in ("walked", "skipped"):
            for each in (self.head if HOW == "walked" else [self.head[0], self.head[2]]):
                x = each(x)
            return x
        if HOW == "split":
            one, _, two = self.head
            return F.gelu(x @ one.weight.t() + one.bias) @ two.weight.t() + two.bias
        return self.head(x)

@pytest.mark.msdump(backends="torch", granularity="modules")
def test_training(msdump):
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    batches = [(torch.randn(2, 5, 12), torch.randn(2, 5, 3)) for _ in range(2)]
    msdump.train(net, nn.MSELoss(), optimizer, batches)
"""


def test_at_modules(gate: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    gate.makepyfile(test_net=NET)
    gate.runpytest("--msdump-regen").assert_outcomes(passed=1)
    for how in ("order", "fused", "einsum", "floats", "again", "walked", "split"):
        monkeypatch.setenv("HOW", how)
        result = gate.runpytest("--msdump")
        result.assert_outcomes(passed=1)
        if how == "fused":
            result.stdout.fnmatch_lines(["compared *; * slots could not be compared, of which * accepted; *"])
            # other bits, indeed
            gate.runpytest("--msdump", "--msdump-tolerance=exact").assert_outcomes(failed=1)
    for how, told in (
        ("scale", "attention/"),
        ("mask", "Default/forward-op0"),
        ("no norm", "norm/"),
        ("skipped", "head.1/"),
    ):
        monkeypatch.setenv("HOW", how)
        result = gate.runpytest("--msdump")
        result.assert_outcomes(failed=1)
        result.stdout.fnmatch_lines([f"First divergence: iteration 0, {told}*"])
