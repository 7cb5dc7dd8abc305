"""``Print`` writes what the real MindSpore wrote, byte for byte."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

import harness
from harness import context, nn, ops
from harness.framework.runtime import session
from harness.framework.tensor import Tensor
from tests.interop import print_facts

RECORDED = json.loads(print_facts.DATA.read_text(encoding="utf-8"))


@pytest.fixture
def _graph_mode():
    before = context.get_context("mode")
    context.set_context(mode=context.GRAPH_MODE)
    with session.fresh(hooked=False):
        yield
    context.set_context(mode=before)


@pytest.mark.parametrize("mode", ["graph", "pynative"])
def test_recorded_cases(mode: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mindspore", harness)
    before = context.get_context("mode")
    try:
        with session.fresh(hooked=False):
            print_facts.main(["graph", "pynative"].index(mode))
    finally:
        context.set_context(mode=before)
    found = print_facts.parsed(capsys.readouterr().out)
    assert found.keys() == RECORDED[mode].keys()
    for name, text in RECORDED[mode].items():
        assert found[name].rstrip("\n") == text.rstrip("\n"), name


class Shows(nn.Cell):
    def __init__(self, value=None):
        super().__init__()
        self.print = ops.Print()
        self.value = value

    def construct(self, x):
        self.print(x if self.value is None else self.value)
        return x + 1


def shown(capsys, value, x=None):
    Shows(value)(Tensor([1.0]) if x is None else x)
    return capsys.readouterr().out


@pytest.mark.usefixtures("_graph_mode")
def test_what_mindspore_prints_as_garbage(capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(capsys, None, Tensor(np.array(65, np.int8))) == "65\n"
    assert shown(capsys, ()) == "()\n"
    assert shown(capsys, Tensor(np.zeros((0, 3), np.float32))) == "()\n"


@pytest.mark.usefixtures("_graph_mode")
def test_python_s_print_is_its_own_outside_of_graphs(capsys: pytest.CaptureFixture[str]) -> None:
    class Prints(nn.Cell):
        def __init__(self, **settings):
            super().__init__()
            self.settings = settings

        def construct(self, x):
            print("x is", x, **self.settings)
            return x + 1

    one = Prints()
    for _ in range(2):
        one(Tensor([1.0]))
    lines = "x is\nTensor(shape=[1], dtype=Float32, value=[ 1.00000000e+00])\n"
    assert capsys.readouterr().out == lines * 2
    print("a", "b", sep="-")
    assert capsys.readouterr().out == "a-b\n"
    with pytest.raises(RuntimeError, match="print in a graph takes no sep"):
        Prints(sep="-")(Tensor([1.0]))
    print("still", "there")
    assert capsys.readouterr().out == "still there\n"


def test_outside_of_graphs_it_gives_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert ops.Print()("a", Tensor([1])) is None
    assert ops.print_() is None
    assert capsys.readouterr().out == "a\nTensor(shape=[1], dtype=Int64, value= [1])\n"
