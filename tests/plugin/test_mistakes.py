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
        "import mindspore", "MindSpore is not installed here", "`from harness import nn, ops, Tensor`"),
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
        "msdump.train(*step((X, X)))", "each batch is a tuple (data, label)", "one batch alone is given as"),
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
    "32 no name": _in_test("msdump.check(X, 1)", "the name of a value is a printable text"),
    "33 no golden": _in_test(
        "msdump.run(Net(), X)", "no golden for run cpu/tensor", "root directory: /", "make it: msdump regen"),
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


@pytest.mark.parametrize("name", [*IN_TESTS, "11 drawn", "11 drawn all the same"])
def test_in_a_test(answers: dict[str, list[str]], name: str) -> None:
    is_short(answers[_function(name)], *(IN_TESTS[name].wanted if name in IN_TESTS else DRAWN))
