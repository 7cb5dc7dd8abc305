"""Small repositories whose tests have goldens: plain arrays, networks of the emulator's, modules of PyTorch's."""

from __future__ import annotations

_SIGNALS = """\
import numpy as np

from tools import normed, padded


def windows(x, size):
    y = np.lib.stride_tricks.sliding_window_view(padded(x, size - 1), size)
    return y.mean(axis=1)


def energy(x):
    y = x - x.mean()
    y = np.abs(y) ** 1.5
    return np.cumsum(y)


def spectrum(x):
    taper = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(len(x)) / (len(x) - 1))
    return np.abs(np.fft.rfft(x * taper))[1:]


def crossings(x, low=-0.25):
    above = x > low
    return np.flatnonzero(above[1:] != above[:-1])


def similar(a, b):
    a = normed(a)
    b = normed(b)
    return a @ b.T


def smoothed(x, weight):
    y = np.zeros_like(x)
    y[0] = x[0]
    for at in range(1, len(x)):
        y[at] = weight * x[at] + (1 - weight) * y[at - 1]
    return y
"""
_TOOLS = """\
import json
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent


def normed(x, eps=1e-6):
    length = np.sqrt((x * x).sum(axis=-1, keepdims=True))
    return x / (length + eps)


def padded(x, count):
    return np.concatenate([np.zeros(count), x])


def settings():
    return json.loads((HERE / "settings.json").read_text())


def prices():
    return np.loadtxt(HERE / "prices.csv", delimiter=",", skiprows=1)


def draws(count):
    return np.random.default_rng(17).normal(0.0, 1.5, count)
"""
_FINANCE = """\
import numpy as np

from tools import draws, prices, settings


def returns(table):
    return np.diff(np.log1p(table), axis=0)


def volatility(table):
    given = settings()
    scale = np.sqrt(given["days"])
    spread = returns(table).std(axis=0, ddof=1)
    return np.clip(spread * scale, given["low"], given["high"])


def weights(table):
    inverse = 1.0 / volatility(table)
    inverse = inverse / inverse.sum()
    return inverse.astype(np.float64)


def ranks(table):
    order = np.argsort(-table, axis=1)
    return order[:, :2]


def paths(count, start=100.0, drift=0.02):
    steps = draws(count) * 0.1 + drift
    return start * np.exp(np.cumsum(steps))


def report(table):
    return {"weights": weights(table), "mean": table.mean(axis=0), "best": table.max(axis=0) - table.min(axis=0)}


def whole():
    return prices()
"""
_ARRAY_TESTS = """\
import numpy as np
import pytest
from finance import paths, ranks, report, returns, volatility, whole
from signals import crossings, energy, similar, smoothed, spectrum, windows

X = np.sin(np.arange(24) * 0.7) + np.linspace(0, 1, 24)


def test_signals(msdump):
    msdump.check("windows", windows(X, 3))
    msdump.check("energy", energy(X))
    msdump.check("spectrum", spectrum(X))
    msdump.check("crossings", crossings(X))


@pytest.mark.parametrize("weight", [0.2, 0.6])
def test_smoothed(msdump, weight):
    msdump.check("smoothed", smoothed(X, weight))


class TestSimilar:
    def test_rows(self, msdump):
        rows = X.reshape(6, 4)
        msdump.check("similar", similar(rows, rows[::-1]))


def test_finance(msdump):
    table = whole()
    msdump.check("returns", returns(table))
    msdump.check("volatility", volatility(table))
    msdump.check("ranks", ranks(table))
    msdump.check("report", report(table))
    msdump.check("paths", paths(12))
"""
ARRAYS = {
    "src/signals.py": _SIGNALS, "src/tools.py": _TOOLS, "src/finance.py": _FINANCE,
    "tests/test_arrays.py": _ARRAY_TESTS,
    "src/settings.json": '{\n  "days": 252,\n  "low": 0.05,\n  "high": 2.5\n}\n',
    "src/prices.csv": "a,b,c\n" + "".join(f"{10 + i % 3}.5,{20 + i * 0.7:.2f},{7 + i * i % 5}.2\n" for i in range(9)),
    "pytest.ini": "[pytest]\npythonpath = src\ntestpaths = tests\n",
}  # fmt: skip

_NET = """\
from harness import Tensor, float32, nn, ops

from layers import Block, Gate
from setup import SETTINGS


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        size = SETTINGS["size"]
        self.conv = nn.Conv2d(1, size, 3, padding=1, pad_mode="pad")
        self.norm = nn.BatchNorm2d(size)
        self.act = nn.ReLU()
        self.pool = nn.MaxPool2d(2, 2)
        self.block = Block(size)
        self.gate = Gate(size)
        self.head = nn.Dense(size, SETTINGS["classes"])

    def construct(self, x):
        y = self.act(self.norm(self.conv(x)))
        y = self.pool(y)
        y = ops.mean(y, axis=3)
        y = y.swapaxes(1, 2)
        y = self.block(y)
        y = self.gate(y)
        y = ops.mean(y, axis=1)
        return self.head(y) / 2.0


class Loss(nn.Cell):
    def construct(self, y, label):
        error = y - label
        penalty = ops.abs(error) * 0.1
        return ops.mean(error * error + penalty)
"""
_LAYERS = """\
from harness import nn, ops


class Block(nn.Cell):
    def __init__(self, size):
        super().__init__()
        self.norm = nn.LayerNorm((size,), epsilon=1e-5)
        self.query = nn.Dense(size, size)
        self.key = nn.Dense(size, size)
        self.value = nn.Dense(size, size, has_bias=False)
        self.scale = size**-0.5

    def construct(self, x):
        y = self.norm(x)
        scores = ops.matmul(self.query(y), self.key(y).swapaxes(1, 2)) * self.scale
        weights = ops.softmax(scores, axis=-1)
        return x + ops.matmul(weights, self.value(y))


class Gate(nn.Cell):
    def __init__(self, size):
        super().__init__()
        self.first = nn.Dense(size, size)
        self.second = nn.Dense(size, size)
        self.low = -0.75

    def construct(self, x):
        left = ops.sigmoid(self.first(x))
        right = ops.tanh(self.second(x))
        y = left * right
        y = ops.clamp(y, self.low, 0.75)
        y = ops.concat((y[:, 1:], y[:, :1]), axis=1)
        return x - y
"""
_SETUP = """\
import json
from pathlib import Path

import numpy as np

SETTINGS = json.loads((Path(__file__).parent / "settings.json").read_text())


def images(count):
    return np.sin(np.arange(count * 64, dtype=np.float32) * 0.37).reshape(count, 1, 8, 8)


def labels(count):
    return np.cos(np.arange(count * 3, dtype=np.float32)).reshape(count, 3)
"""
_NET_TESTS = """\
from harness import nn
from net import Loss, Net
from setup import SETTINGS, images, labels


def test_forward(msdump):
    msdump.run(Net().set_train(False), images(2))


def test_training(msdump):
    net = Net()
    optimizer = nn.Momentum(net.trainable_params(), learning_rate=SETTINGS["rate"], momentum=0.9)
    msdump.train(net, Loss(), optimizer, [(images(2), labels(2)), (images(2) * 0.5, labels(2))])
"""
NETWORKS = {
    "net.py": _NET, "layers.py": _LAYERS, "setup.py": _SETUP, "tests/test_net.py": _NET_TESTS,
    "settings.json": '{\n  "size": 4,\n  "classes": 3,\n  "rate": 0.05\n}\n',
    "pytest.ini": "[pytest]\npythonpath = .\ntestpaths = tests\n",
}  # fmt: skip

_MODEL = """\
import torch
from torch import nn
from torch.nn import functional as F

from model.parts import Attention, scaled


class Model(nn.Module):
    def __init__(self, size=8):
        super().__init__()
        self.embed = nn.Linear(4, size)
        self.attention = Attention(size, 2)
        self.norm = nn.LayerNorm(size, eps=1e-5)
        self.first = nn.Linear(size, 2 * size)
        self.second = nn.Linear(2 * size, size)
        self.head = nn.Linear(size, 3)

    def forward(self, x):
        y = self.embed(x)
        y = y + self.attention(self.norm(y))
        z = F.gelu(self.first(y))
        y = y + self.second(z)
        y = scaled(y, 0.5)
        y = y[:, 1:].mean(dim=1)
        return F.softmax(self.head(y), dim=-1)


def loss_of(y, label):
    error = y - label
    return (error * error).sum() + 0.01 * error.abs().mean()
"""
_PARTS = """\
import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, size, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(size, 3 * size)
        self.out = nn.Linear(size, size)

    def forward(self, x):
        n, t, c = x.shape
        q, k, v = (each.reshape(n, t, self.heads, -1).transpose(1, 2) for each in self.qkv(x).chunk(3, dim=-1))
        scores = q @ k.transpose(2, 3) / (c // self.heads) ** 0.5
        mask = torch.ones(t, t).tril().bool()
        scores = scores.masked_fill(~mask, -1e9)
        y = scores.softmax(dim=-1) @ v
        return self.out(y.transpose(1, 2).reshape(n, t, c))


def scaled(x, by):
    x = torch.clamp(x, -2.0, 2.0)
    return x * by + 0.125
"""
_TORCH_TESTS = """\
import numpy as np
import pytest
import torch
from model.net import Model, loss_of

pytestmark = pytest.mark.msdump(backends="torch")


def batch(count):
    x = np.sin(np.arange(count * 20, dtype=np.float32) * 0.3).reshape(count, 5, 4)
    return torch.from_numpy(x), torch.eye(3)[torch.arange(count) % 3]


def made():
    torch.manual_seed(3)
    return Model()


def test_forward(msdump):
    msdump.run(made().eval(), batch(2)[0])


def test_training(msdump):
    model = made()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    msdump.train(model, loss_of, optimizer, [batch(3), batch(3)])
"""
TORCH = {
    "src/model/__init__.py": "", "src/model/net.py": _MODEL, "src/model/parts.py": _PARTS,
    "tests/test_model.py": _TORCH_TESTS, "pytest.ini": "[pytest]\npythonpath = src\ntestpaths = tests\n",
}  # fmt: skip
REPOSITORIES = {"arrays": ARRAYS, "networks": NETWORKS, "torch": TORCH}
