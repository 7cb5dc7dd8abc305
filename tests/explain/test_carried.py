"""Rounding that an operator before it made, and that a cancelled sum makes large, is told as that."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from harness import GRAPH_MODE, Tensor, nn, ops, set_context
from harness.backends import BACKENDS
from harness.capture import Capture
from harness.compare import Tolerances, check
from harness.explain import Evidence, block, explain
from harness.framework.runtime import session


class Cancelled(nn.Cell):
    """A product, less nearly the same."""

    def __init__(self, factors: Any) -> None:
        super().__init__()
        self.factors = Tensor(factors)

    def construct(self, x: Any, y: Any) -> Any:
        return ops.matmul(x, self.factors) - y


class Rounds:
    """Another device: each element of a product is off by a unit in the last place."""

    def before(self, launch: Any, iteration: int) -> None:
        """Nothing."""

    def after(self, launch: Any, iteration: int, results: tuple[Any, ...]) -> tuple[Any, ...]:
        if launch.operator.name != "MatMul":
            return results
        return (np.nextafter(results[0], np.float32(np.inf)),)


def captured(seed: int, fault: Any) -> Capture:
    rng = np.random.default_rng(seed)
    x, factors = rng.normal(size=(3, 4)).astype(np.float32), rng.normal(size=(4, 2)).astype(np.float32)
    y = np.float32(x.astype(np.float64) @ factors)

    def program() -> None:
        set_context(mode=GRAPH_MODE)
        if fault is not None:
            session.current().faults.append(fault)
        Cancelled(factors)(Tensor(x), Tensor(y))

    return BACKENDS.get("cpu").run(program, network="cancelled")


@pytest.mark.parametrize("seed", range(4))
def test_a_cancelled_sum_is_not_called_narrower(seed: int) -> None:
    one, other = captured(seed, None), captured(seed, Rounds())
    comparison = check(one, other, Tolerances.parse((1e-5, 0)))
    sides = [Evidence(each.records, lambda each=each: each.artefacts) for each in (one, other)]
    found = explain(comparison, *sides, "another device")
    assert found.cause is not None
    assert found.cause.check is not None
    assert (found.cause.kind, found.cause.check.exact) == ("carried", True), found.cause
    assert "Sub-op" in block(found)
