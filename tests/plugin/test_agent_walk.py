"""An agent that has only ``AGENTS.md``: each fault planted in a copy of a small repository is told, with its file, its
line and its cause, by at most three of the commands that page names."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import NamedTuple

import pytest

from harness.cli import main

pytest_plugins = ["pytester"]

NET = """\
from harness import Tensor, float16, float32, nn, ops


class Block(nn.Cell):
    def __init__(self, size):
        super().__init__()
        self.norm = nn.LayerNorm((size,), epsilon=1e-5)
        self.query = nn.Dense(size, size)
        self.key = nn.Dense(size, size)
        self.value = nn.Dense(size, size)
        self.scale = size**-0.5

    def construct(self, x):
        y = self.norm(x)
        scores = ops.matmul(self.query(y), self.key(y).swapaxes(1, 2))
        weights = ops.softmax(scores * self.scale, axis=-1)
        return x + ops.matmul(weights, self.value(y))


class Head(nn.Cell):
    def __init__(self, size):
        super().__init__()
        self.first = nn.Dense(size, size)
        self.act = nn.ReLU()
        self.last = nn.Dense(size, 3, has_bias=True)
        self.low = -0.5
        self.high = 0.5

    def construct(self, x):
        y = self.act(self.first(x))
        y = ops.clamp(y, self.low, self.high)
        left = y[:, 1:]
        right = y[:, :-1]
        y = ops.concat((left - right, y), axis=1)
        y = ops.mean(y, axis=1)
        return self.last(y)


class Net(nn.Cell):
    def __init__(self, size):
        super().__init__()
        self.block = Block(size)
        self.head = Head(size)

    def construct(self, x):
        return self.head(self.block(x))


class Loss(nn.Cell):
    def construct(self, y, label):
        error = y - label
        return ops.mean(error * error)
"""
TESTS = """\
import numpy as np
from harness import nn
from net import Loss, Net

X = np.sin(np.arange(24, dtype=np.float32)).reshape(2, 3, 4)
Y = np.cos(np.arange(6, dtype=np.float32)).reshape(2, 3)


def test_net(msdump):
    msdump.run(Net(4), X)


def test_training(msdump):
    net = Net(4)
    params = net.trainable_params()
    optimizer = nn.Momentum(params, learning_rate=0.05, momentum=0.9)
    msdump.train(net, Loss(), optimizer, [(X, Y), (X, Y)])
"""
FEATURES = """\
import numpy as np


def windows(x, size):
    return np.lib.stride_tricks.sliding_window_view(x, size).mean(axis=1)


def scaled(x):
    return (x - x.mean()) / x.std()


def angles(x):
    return np.deg2rad(x)


def ordered(x):
    return np.sort(x)
"""
ARRAYS = """\
import numpy as np
from features import angles, ordered, scaled, windows

X = np.linspace(-90, 90, 13) ** 2 / 90


def test_features(msdump):
    msdump.check("windows", windows(X, 3))
    msdump.check("scaled", scaled(X))
    msdump.check("angles", angles(X))
    msdump.check("ordered", ordered(X[::-1]))
"""
FILES = {"net.py": NET, "tests/test_net.py": TESTS, "features.py": FEATURES, "tests/test_features.py": ARRAYS}


class Fault(NamedTuple):
    """A change of one file.

    Attributes:
        file, old, new: where, and what becomes what.
        cause: words that name it, any of which is enough.
        acts: the file and the text of the line where it acts, if that is another one: a setting where it is used,
            what a function outside of networks gives where a test hands it over.
    """

    file: str
    old: str
    new: str
    cause: tuple[str, ...]
    acts: tuple[str, str] | None = None


FAULTS = {
    "a scale": Fault("net.py", "size**-0.5", "size**-1.0", ("0.5 -> 0.25",), ("net.py", "scores * self.scale")),
    "another activation": Fault("net.py", "nn.ReLU()", "nn.GELU()", ("ReLU", "GeLU", "GELU")),
    "no bias": Fault(
        "net.py", "3, has_bias=True", "3, has_bias=False", ("BiasAdd", "bias"), ("net.py", "return self.last(y)")
    ),
    "an axis": Fault("net.py", "axis=-1)", "axis=1)", ("axis",)),
    "an epsilon": Fault("net.py", "epsilon=1e-5", "epsilon=1e-2", ("epsilon", "1e-05", "0.01")),
    "no residual": Fault("net.py", "return x + ops.matmul", "return ops.matmul", ("Add",)),
    "swapped operands": Fault("net.py", "left - right", "right - left", ("swap", "negat", "Sub")),
    "a sum for a mean": Fault(
        "net.py", "y = ops.mean(y, axis=1)", "y = ops.sum(y, dim=1)", ("ReduceMean", "ReduceSum", "times 5")
    ),
    "a bound": Fault("net.py", "self.high = 0.5", "self.high = 0.25", ("0.5 -> 0.25",), ("net.py", "ops.clamp")),
    "float16 on the way": Fault(
        "net.py",
        "y = self.norm(x)\n",
        "y = self.norm(x).astype(float16).astype(float32)\n",
        ("float16", "Float16", "Cast"),
    ),
    "a sign": Fault("net.py", "return x + ops", "return x - ops", ("Sub", "Add", "negat")),
    "parts swapped": Fault("net.py", "(left - right, y)", "(y, left - right)", ("order", "swap", "input", "moved")),
    "a slice": Fault("net.py", "left = y[:, 1:]", "left = y[:, :-1]", ("begin", "StridedSlice", "slice")),
    "twice": Fault(
        "net.py",
        "weights = ops.softmax(scores * self.scale, axis=-1)",
        "weights = ops.softmax(ops.softmax(scores * self.scale, axis=-1), axis=-1)",
        ("Softmax",),
    ),
    "weights": Fault(
        "net.py",
        "self.value = nn.Dense(size, size)",
        'self.value = nn.Dense(size, size, weight_init="ones")',
        ("weight",),
    ),
    "a wrong module": Fault("net.py", "self.value(y))", "self.key(y))", ("key", "value", "weight")),
    "a power": Fault("net.py", "error * error", "error * error * error", ("Mul",)),
    "an absolute value": Fault("net.py", "error = y - label", "error = ops.abs(y - label)", ("Abs",)),
    "a constant added": Fault("net.py", "return self.last(y)", "return self.last(y) + 0.001", ("Add", "0.001")),
    "a learning rate": Fault("tests/test_net.py", "learning_rate=0.05", "learning_rate=0.1", ("learning_rate",)),
    "a momentum": Fault("tests/test_net.py", "momentum=0.9", "momentum=0.8", ("momentum",)),
    "weight decay": Fault(
        "tests/test_net.py",
        "momentum=0.9",
        "momentum=0.9, weight_decay=0.1",
        ("weight_decay", "inserted: optimizer-Momentum"),
    ),
    "an optimizer": Fault(
        "tests/test_net.py",
        "nn.Momentum(params, learning_rate=0.05, momentum=0.9)",
        "nn.SGD(params, learning_rate=0.05)",
        ("SGD", "Momentum"),
    ),
    "data": Fault(
        "tests/test_net.py",
        "np.sin(np.arange(24",
        "np.cos(np.arange(24",
        ("input", "data", "x"),
        ("tests/test_net.py", "def test_net"),
    ),
    "no normalisation": Fault("net.py", "y = self.norm(x)\n", "y = x\n", ("LayerNorm",)),
    "degrees": Fault(
        "features.py", "np.deg2rad(x)", "x * 1.0", ("times 57.2957", "angles"), ("tests/test_features.py", "angles(X)")
    ),
    "another deviation": Fault(
        "features.py", "x.std()", "x.std(ddof=1)", ("times", "scaled"), ("tests/test_features.py", "scaled(X)")
    ),
    "not sorted": Fault(
        "features.py",
        "np.sort(x)",
        "x",
        ("order", "reversed", "permut", "ordered"),
        ("tests/test_features.py", "ordered(X"),
    ),
}
#: the page's commands: the gate, the candidates, an operator of a golden
GATE = ("-q", "--msdump", "tests")
_SEE = re.compile(r"See: (msdump show .*?)(?:   |$)", re.MULTILINE)


def place(fault: Fault, changed: str) -> tuple[str, int]:
    """File and line, from 1, that have to be told."""
    file, piece = fault.acts or (fault.file, fault.new)
    text = changed if file == fault.file else FILES[file]
    return file, text[: text.index(piece)].count("\n") + 1


def told(text: str, fault: Fault, file: str, number: int) -> bool:
    """Whether a command's text has file, line and cause."""
    lines = text.splitlines()
    causes = "\n".join(line for line in lines if line.lstrip().lower().startswith(("cause", "first")))
    return bool(re.search(rf"{re.escape(file)}:{number}\b", text)) and any(each in causes for each in fault.cause)


@pytest.fixture(scope="module")
def goldens() -> dict[str, bytes]:
    """The goldens of the repository, made by the first test that asks."""
    return {}


@pytest.fixture
def repository(gate: pytest.Pytester, goldens: dict[str, bytes]) -> Path:
    for name, text in FILES.items():
        (gate.path / name).parent.mkdir(exist_ok=True)
        (gate.path / name).write_text(text)
    (gate.path / "pytest.ini").write_text("[pytest]\npythonpath = .\ntestpaths = tests\n")
    if not goldens:
        gate.runpytest("--msdump-regen").assert_outcomes(passed=3)
        goldens.update(
            {str(each.relative_to(gate.path)): each.read_bytes() for each in (gate.path / "golden").rglob("*.*")}
        )
    for name, content in goldens.items():
        (gate.path / name).parent.mkdir(parents=True, exist_ok=True)
        (gate.path / name).write_bytes(content)
    return gate.path


@pytest.mark.long
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_told(
    name: str, repository: Path, gate: pytest.Pytester, capsys: pytest.CaptureFixture[str]
) -> None:
    fault = FAULTS[name]
    path = repository / fault.file
    text = FILES[fault.file]
    assert text.count(fault.old) == 1
    changed = text.replace(fault.old, fault.new)
    path.write_text(changed)
    result = gate.runpytest(*GATE)
    assert result.ret == 1
    said, where = result.stdout.str(), place(fault, changed)
    for command in (["review", "--list"], _shown(said)):
        if not told(said, fault, *where):
            capsys.readouterr()
            main(command)
            said += capsys.readouterr().out
    assert told(said, fault, *where), said


def _shown(said: str) -> list[str]:
    """The command that a failure names to see more."""
    see = _SEE.search(said)
    assert see is not None
    return shlex.split(see[1])[1:]
