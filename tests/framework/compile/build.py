"""Compiles functions and cells in a session of their own, and runs MindSpore-style scripts in this process."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import harness
from harness import context, nn, ops
from harness.framework.runtime import session
from harness.framework.tensor import Parameter, Tensor
from harness.graph import Const, Graph, Node
from harness.graph.form import form_of
from harness.recording import Graph as RecordedGraph
from harness.recording import Observer


class Graphs(Observer):
    """Keeps every graph that is compiled, in MindSpore's form."""

    def __init__(self) -> None:
        self.found: list[Graph] = []

    def graph_declared(self, graph: RecordedGraph) -> None:
        self.found.append(form_of(graph))


@contextmanager
def graph_mode() -> Iterator[None]:
    """Cells run as graphs within the block; the context is afterwards what it was."""
    before = context.get_context("mode")
    context.set_context(mode=context.GRAPH_MODE)
    try:
        yield
    finally:
        context.set_context(mode=before)


@contextmanager
def compiled() -> Iterator[list[Graph]]:
    """A session of its own in graph mode; gives the graphs compiled in it so far, in the order of their ids."""
    watcher = Graphs()
    with graph_mode(), session.fresh([watcher], hooked=False):
        yield watcher.found


class Net(nn.Cell):
    """A cell that computes ``function(self, *inputs)``, with parameters ``w`` and ``v`` and two equal constants."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.w = Parameter(Tensor(np.ones((2, 3), np.float32)), name="w")
        self.v = Parameter(Tensor(np.ones((2, 3), np.float32)), name="v")
        self.c = Tensor(np.full((2, 3), 3, np.float32))
        self.d = Tensor(np.full((2, 3), 3, np.float32))
        self.function = function

    def construct(self, *inputs: Any) -> Any:
        return self.function(self, *inputs)


def graph_of(function: Callable[..., Any], *inputs: Any) -> Graph:
    """The graph of a ``Net`` that computes ``function``."""
    with compiled() as graphs:
        Net(function)(*inputs)
    assert len(graphs) == 1
    return graphs[0]


def kernels(graph: Graph) -> list[str]:
    """Primitives of the kernels, in printed order."""
    return [node.op for node in graph.nodes if node.kernel]


def only(graph: Graph, op: str) -> Node:
    """The one node of primitive ``op``."""
    (node,) = [node for node in graph.nodes if node.op == op]
    return node


def constants(node: Node) -> list[Any]:
    """Values of a node's constant arguments, arrays as lists."""
    found = [i.value for i in node.inputs if isinstance(i, Const)]
    return [value.tolist() if isinstance(value, np.ndarray) else value for value in found]


def floats(*shape: int, start: float = 0.5) -> Tensor:
    """A float32 tensor of rising values."""
    count = int(np.prod(shape, dtype=int))
    return Tensor((np.arange(count, dtype=np.float32) * 0.25 + start).reshape(shape))


def play(script: Path) -> None:
    """Runs a script whose ``import mindspore`` means the harness."""
    names = {"mindspore": harness, "mindspore.nn": nn, "mindspore.ops": ops}
    with mock.patch.dict(sys.modules, names), graph_mode():
        exec(compile(script.read_text(), str(script), "exec"), {"__name__": script.stem})
