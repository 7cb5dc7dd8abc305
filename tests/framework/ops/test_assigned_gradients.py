"""Gradients through assignments (MindSpore 2.10.0 CPU, measured in both modes)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import harness as ms
from harness import Parameter, Tensor, ops

GIVEN = [2.0, 2.0, 2.0]
#: name -> gradients of the result by both arguments; of the result times the value, by the value and by the parameter
RECORDED = {
    "Assign": ([[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]], [[2.0, 2.0, 2.0], [2.0, 2.0, 2.0]]),
    "AssignAdd": ([[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]], [[4.0, 5.0, 6.0], [2.0, 2.0, 2.0]]),
    "AssignSub": ([[1.0, 1.0, 1.0], [-1.0, -1.0, -1.0]], [[-4.0, -3.0, -2.0], [2.0, 2.0, 2.0]]),
}


def values() -> Tensor:
    return Tensor(np.arange(3).astype(np.float32))


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
@pytest.mark.parametrize("name", RECORDED)
def test_recorded(name: str, mode: int) -> None:
    before = ms.get_context("mode")
    ms.set_context(mode=mode)
    try:
        assign = getattr(ops, name)()
        direct = ms.grad(lambda x, y: assign(x, y), (0, 1))(values(), Tensor(GIVEN))
        found = []
        for weights in (False, True):
            weight = Parameter(values(), name="weight")

            def net(y: Any, weight: Any = weight) -> Any:
                return assign(weight, y) * y

            slope = ms.grad(net, None, [weight]) if weights else ms.grad(net)
            got = slope(Tensor(GIVEN))
            found.append(got[0] if isinstance(got, tuple) else got)
    finally:
        ms.set_context(mode=before)
    expected, through = RECORDED[name]
    assert [each.asnumpy().tolist() for each in direct] == expected
    assert [each.asnumpy().tolist() for each in found] == through
