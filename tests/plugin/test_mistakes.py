"""First mistakes in the body of a test, by number: 1 to 15 are what new users met, the others came after.

Each is answered by at most six lines that say what to do, without a frame of ours. ``test_mistakes_outside.py`` has the
mistakes that are made elsewhere; the two are one list.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import pytest

pytest_plugins = ["pytester"]
HEAD = """
import numpy as np
import pytest
from harness import Tensor, float32, nn, ops
from hypothesis import given, settings, HealthCheck, strategies as st

X = np.ones((2, 4), np.float32)

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(4, 2)

    def construct(self, x):
        return self.fc(x)

class Odd(nn.Cell):
    def construct(self, x):
        return x.nothing()

class Forward(nn.Cell):
    def forward(self, x):
        return x

class Careless(nn.Cell):
    def __init__(self):
        self.fc = nn.Dense(4, 2)

class OwnError(nn.Cell):
    def construct(self, x):
        return {"mine": x}["theirs"]

class Asks(nn.Cell):
    def construct(self, x):
        return np.tanh(x)

class Axis(nn.Cell):
    def construct(self, x):
        return ops.sum(x, dim=5)

def step(batches):
    net = Net()
    return net, nn.MSELoss(), nn.SGD(net.trainable_params()), batches
"""


class InTest(NamedTuple):
    """A mistake in the body of a test, and what its message has to say."""

    body: str
    wanted: tuple[str, ...]


def _in_test(body: str, *wanted: str) -> InTest:
    return InTest(body, wanted)


IN_TESTS = {
    "06 a wrong shape": _in_test(
        "msdump.run(Net(), np.ones((2, 3), np.float32))", "inner dimensions 3 and 4 differ", "float32[2, 3]"),
    "06 import mindspore": _in_test(
        "import mindspore", "MindSpore is not installed here", "`from harness import nn, ops, Tensor`",
        "run -m pytest --msdump` unchanged tests"),
    "12 no array": _in_test('msdump.check("a", object())', "'a' is of type object; accepted are numpy arrays"),
    "16 a text": _in_test(
        'msdump.run(Net(), "text")', "given: msdump.run(Net, str)", "cells take tensors, numpy arrays"),
    "17 a list": _in_test("msdump.run(Net(), [[1.0, 2.0]])", "given: msdump.run(Net, list)", "Tensor([...], float32)"),
    "18 too few": _in_test("msdump.run(Net())", "missing a required argument: 'x'", "given: msdump.run(Net)"),
    "19 objects": _in_test(
        "msdump.run(Net(), np.array([object()]))", "an input of dtype object cannot become a Tensor"),
    "20 a method": _in_test("msdump.run(Odd(), 1.0)", "no attribute 'nothing'", "return x.nothing()"),
    "21 no network": _in_test("msdump.run(None, 1.0)", "a cell, a module or a function is accepted, got NoneType"),
    "22 no step": _in_test("msdump.run(Net(), X, steps=0)", "steps must be an int of at least 1, got 0"),
    "23 no batch": _in_test("msdump.train(*step([]))", "at least one batch is needed"),
    "24 no label": _in_test("msdump.train(*step([X]))", "each batch is a tuple (data, label), got ndarray[2, 4]"),
    "25 one batch": _in_test(
        "msdump.train(*step((X, X)))", "each batch is a tuple (data, label)", "a single batch is given as"),
    "25 steps of a training": _in_test(
        "msdump.train(*step([(X, X)]), steps=2)", "unexpected argument 'steps'", "[batch] * 3 makes three"),
    "26 a fault nowhere": _in_test(
        'with msdump.inject("Nothing"): msdump.run(Net(), X)', "no operator 'Nothing' ran; nearest"),
    "27 nothing run": _in_test("pass", "called none of msdump.run, msdump.train and msdump.check"),
    "28 eager": _in_test(
        "msdump.run(lambda: ops.add(Tensor([1.0]), Tensor([2.0])))", "dumped no tensor", "an nn.Cell"),
    "29 a name twice": _in_test(
        'msdump.check("a", 1); msdump.check("a", 1)', "'a' was handed over before in this test; give it another"),
    "30 strings": _in_test(
        'msdump.check("a", np.array(["b"]))', "is an array of dtype <U1; dtypes that can be kept are"),
    "31 an empty list": _in_test('msdump.check("a", [])', "'a' holds nothing to compare"),
    "32 no name": _in_test(
        "msdump.check(X, 1)", "is a printable text, got ndarray; msdump.check(name, value)"),
    "33 no golden": _in_test(
        "msdump.run(Net(), X)", "no golden for run cpu/tensor", "root directory: /", "make it: msdump regen"),
    "42 a class": _in_test("msdump.run(Net, X)", "Net is a class; give an instance, Net(...)"),
    "43 the output": _in_test("msdump.run(Net()(Tensor(X)))", "got Tensor; msdump.run(network, x) calls it with x"),
    "44 no super": _in_test("msdump.run(Careless(), X)", "call super().__init__() before", "self.fc = nn.Dense(4, 2)"),
    "45 forward": _in_test("msdump.run(Forward(), X)", "does not define the method 'construct'"),
    "46 an array in construct": _in_test("msdump.run(Asks(), X)", "dumped no tensor"),
    "47 a tolerance here": _in_test(
        "msdump.run(Net(), X, tolerance=1e-3)", "msdump.run(network, *inputs, steps=1, **named)", "tolerance=1e-3)",
        "belong to the marker: @pytest.mark.msdump("),
    "48 a backend here": _in_test('msdump.run(Net(), X, backend="gpu")', "belong to the marker: @pytest.mark.msdump("),
    "49 rtol": _in_test('msdump.check("a", X, rtol=1)', "msdump.check(name, value)", "belong to the marker"),
    "50 by name": _in_test("msdump.run(Net(), X, y=X)", "keyword argument 'y'", "given: msdump.run(Net"),
    "51 an empty name": _in_test('msdump.check("", X)', "the name of a value is a printable text, got ''"),
    "52 no value": _in_test("msdump.check(X)", "it is called as msdump.check(name, value)"),
    "53 a slip": _in_test('msdump.chekc("a", 1)', "did you mean msdump.check? it has run, train, check, inject"),
    "54 called itself": _in_test("msdump(Net(), X)", "it is called as msdump.run(network, *inputs, steps=1, **named)"),
    "55 no optimizer": _in_test(
        "msdump.train(Net(), [(X, X)])", "it is called as msdump.train(network, loss, optimizer, batches, **how)"),
    "56 class of a loss": _in_test(
        "msdump.train(Net(), nn.MSELoss, None, [(X, X)])", "MSELoss is a class; give an instance, MSELoss(...)",
        "given: msdump.train(Net, the class MSELoss, NoneType, [(ndarray float32[2, 4], ndarray float32[2, 4]), ...])"),
    "57 class of an optimizer": _in_test(
        "msdump.train(Net(), nn.MSELoss(), nn.SGD, [(X, X)])", "SGD is a class; give an instance, SGD(...)"),
    "58 no loss": _in_test(
        "msdump.train(Net(), None, None, [(X, X)])", "the loss is a cell or a function, got NoneType"),
    "59 labels of a wrong shape": _in_test(
        "msdump.train(*step([(X, X[:, :3])]))", "shapes [2, 2], [2, 3] do not broadcast", "given: msdump.train(Net, "),
    "60 float64": _in_test(
        "msdump.run(Net(), np.ones((2, 4)))", "got Float64, Float32", "float64[2, 4]", "x.astype(np.float32)"),
    "61 a generator": _in_test("msdump.run(Net(), (X for _ in X))", "given: msdump.run(Net, generator)", "cells take"),
    "62 a dict": _in_test('msdump.run(Net(), {"x": X})', "given: msdump.run(Net, dict)", "cells take tensors"),
    "63 None": _in_test("msdump.run(Net(), None)", "must be of another type (Tensor), got None", "return self.fc(x)"),
    "64 too many": _in_test("msdump.run(Net(), X, X)", "too many positional arguments", "given: msdump.run(Net, "),
    "65 nothing given": _in_test('msdump.check("a", None)', "'a' holds nothing to compare: None"),
    "66 an iterator": _in_test('msdump.check("a", iter(X))', "'a' is of type iterator; accepted are numpy arrays"),
    "67 a masked array": _in_test('msdump.check("a", np.ma.array(X))', "is a masked array; hand over what counts"),
    "68 as a bool": _in_test("assert msdump.run(Net(), X) == 0", "is ambiguous; use .all() or .any()"),
    "69 cells in a list": _in_test("msdump.run([Net()], X)", "a cell, a module or a function is accepted, got list"),
    "70 their own error": _in_test(
        "msdump.run(OwnError(), X)", "KeyError: 'theirs'", '{"mine": x}["theirs"]', "given: msdump.run(OwnError"),
    "71 a layer of other devices": _in_test(
        "nn.EmbeddingExt(4, 2)", "nn.EmbeddingExt is a name of MindSpore's that", "nn.Embedding"),
    "72 an axis too far": _in_test(
        "msdump.run(Axis(), X)", "ReduceSum(Float32[2, 4], (Int64), Bool, Bool): axis 5 is out of range"),
    "73 texts alone": _in_test('msdump.check("a", "text")', "found: 1 text, compared with nothing", "msdump regen"),
}  # fmt: skip
PROPERTY = """
@given(st.integers())
def test_11_drawn(msdump, n):
    msdump.run(Net(), X)

@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers())
def test_11_drawn_all_the_same(msdump, n):
    msdump.run(Net(), X)
"""


DRAWN = ("@given draws other examples", "function_scoped_fixture")


def _function(name: str) -> str:
    return "test_" + name.replace(" ", "_")


@pytest.fixture(scope="module")
def once() -> dict[str, list[str]]:
    """What the session of ``answers`` says, by test; the first that asks runs it."""
    return {}


@pytest.fixture
def answers(gate: pytest.Pytester, once: dict[str, list[str]]) -> dict[str, list[str]]:
    """The lines pytest prints for each test of ``IN_TESTS`` and ``PROPERTY``."""
    if not once:
        tests = [f"def {_function(name)}(msdump):\n    {body}\n" for name, (body, _) in IN_TESTS.items()]
        gate.makepyfile(test_mistakes="\n".join([HEAD, *tests, PROPERTY]))
        once.update(failures(gate.runpytest("--msdump").stdout.str()))
    return once


def failures(output: str) -> dict[str, list[str]]:
    """The lines pytest prints for each failing test."""
    output = output.partition("= FAILURES =")[2].partition("= msdump =")[0]
    parts = re.split(r"^_+ (test_\w+)\[\S+\] _+$", output, flags=re.MULTILINE)
    # the last one is followed by the line that heads the next section
    texts = (re.sub(r"\n=+$", "", text.strip()) for text in parts[2::2])
    return {name: text.splitlines() for name, text in zip(parts[1::2], texts, strict=True)}


def is_short(lines: list[str], *wanted: str) -> None:
    """At most six lines, all that is wanted among them, no frame of ours and no traceback."""
    text = "\n".join(lines)
    assert 0 < len(lines) <= 6, text
    assert all(each in text for each in wanted), text
    assert not re.search(r"(harness|pytest_msdump)/\S+\.py:\d+: ", text), text
    assert "Traceback" not in text


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", [*IN_TESTS, "11 drawn", "11 drawn all the same"])
def test_in_a_test(answers: dict[str, list[str]], name: str) -> None:
    is_short(answers[_function(name)], *(IN_TESTS[name].wanted if name in IN_TESTS else DRAWN))
