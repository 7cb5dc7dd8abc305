"""Sums before reductions: in graphs of cells alone (beside the real one: ``tests/interop/ranks/sums.py``)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from harness import Tensor, jit, nn, ops
from tests.framework.compile.build import compiled

X, Y, Z = (Tensor(np.array([at + 1.0, 2.0, -3.0], np.float32)) for at in range(3))
HALF = Tensor(0.5)


def mean(x: Any) -> Any:
    return ops.Mul()(ops.AllReduce()(x), HALF)


def used_again(x: Any, y: Any, z: Any) -> Any:
    product = mean(x)
    return ops.AddN()((product, z)), product, product + 1


CALLS: dict[str, tuple[Callable[[Any, Any, Any], Any], list[str]]] = {
    "one": (lambda x, y, z: ops.AddN()((z, mean(x))), ["AddN", "AllReduce", "Mul"]),
    "factors": (lambda x, y, z: ops.Mul()(ops.AddN()((z, mean(x))), HALF), ["AddN", "AllReduce", "Mul"]),
    "twice": (lambda x, y, z: ops.AddN()((mean(x), mean(x))), ["AddN", "AllReduce", "Mul", "AllReduce", "Mul"]),
    "three": (lambda x, y, z: ops.AddN()((z, mean(x), y)), ["AllReduce", "Mul", "AddN"]),
    "again": (used_again, ["AddN", "AllReduce", "Mul", "AllReduce", "Mul", "Add"]),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_cell_adds_before_it_reduces_and_a_function_does_not(name: str) -> None:
    call, expected = CALLS[name]

    class Net(nn.Cell):
        def construct(self, x: Any, y: Any, z: Any) -> Any:
            return call(x, y, z)

    with compiled() as graphs:
        found, plain = Net()(X, Y, Z), jit(call)(X, Y, Z)
    of_cell, of_function = ([node.op for node in graph.execution_order] for graph in graphs)
    assert of_cell == expected
    assert of_function.index("AllReduce") < of_function.index("AddN")
    total = found[0] if isinstance(found, tuple) else found
    assert (total.asnumpy() != (plain[0] if isinstance(plain, tuple) else plain).asnumpy()).any() == (name != "three")
