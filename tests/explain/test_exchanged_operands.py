"""Operands that are exchanged: the operator takes each in place of the other, and did not move."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from harness import Parameter, Tensor, nn, ops
from harness.backends.align import lay_beside
from harness.compare.identities import Identities
from harness.compare.policy import Party, judge
from harness.explain import Explanation, Subject, side_of
from harness.explain import explained as explained_by
from tests.explain.runs import captured

OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "Sub": lambda a, b: a - b, "Div": lambda a, b: a / b, "Less": lambda a, b: a < b, "MatMul": ops.matmul,
    "Concat": lambda a, b: ops.concat((a, b), 1), "Pow": ops.pow, "Atan2": ops.atan2,
}  # fmt: skip
MAKERS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "none": lambda x, y, w: (x, y), "one": lambda x, y, w: (ops.tanh(x), y),
    "equal": lambda x, y, w: (ops.exp(x), ops.exp(y)),
    "other": lambda x, y, w: (ops.exp(x), ops.tanh(y)), "chain": lambda x, y, w: (ops.exp(x), ops.tanh(ops.exp(x))),
    "long": lambda x, y, w: (ops.tanh(ops.exp(x)), ops.exp(ops.tanh(y))),
    "weight": lambda x, y, w: (x, w), "weight beside": lambda x, y, w: (w, ops.exp(x)),
}  # fmt: skip


class Net(nn.Cell):
    def __init__(self, operator: str, maker: str, exchanged: bool) -> None:
        super().__init__()
        self.operator, self.maker, self.exchanged = OPERATORS[operator], MAKERS[maker], exchanged
        self.w = Parameter(Tensor(np.linspace(0.6, 1.9, 9, dtype=np.float32).reshape(3, 3)), name="w")

    def construct(self, x: Any, y: Any) -> Any:
        a, b = self.maker(x, y, self.w)
        return ops.tanh(ops.cast(self.operator(b, a) if self.exchanged else self.operator(a, b), a.dtype))


def explained(operator: str, maker: str) -> Explanation:
    made = np.random.default_rng(7)
    given = [Tensor(np.asarray(made.uniform(0.5, 2, (3, 3)), np.float32)) for _ in range(2)]
    captures = [captured(partial(Net(operator, maker, each), *given)) for each in (False, True)]
    parties = [Party(c, c.backend, c.mode, c.emulated, identities=Identities.of(c.operators)) for c in captures]
    judged = judge(*parties, "exact", lay=lay_beside)
    explanation = explained_by(judged, Subject("net", "golden"), *map(side_of, captures))
    assert explanation is not None
    return explanation


@pytest.mark.parametrize("maker", MAKERS)
def test_exchanged_operands_are_told(maker: str) -> None:
    for operator in sorted(OPERATORS)[list(MAKERS).index(maker) % 2 :: 2]:
        found = explained(operator, maker)
        assert found.cause is not None
        assert found.origin is not None
        assert found.cause.certainty.proven, found.cause.text
        assert f"/{operator}-op" in found.origin.operator
        taken = found.cause.text.split(" takes ")[1]
        one, other = (each.partition(" as ")[0].split(" in place of ") for each in taken.split(", and "))
        assert one == other[::-1], found.cause.text
        assert one[0] != one[1], found.cause.text
