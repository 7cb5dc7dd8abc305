"""TensorFloat-32 has the mantissa of float16: a run's bits tell which of the two it was, or both are named."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from harness.devices.rounding import rounding
from harness.explain import Explanation
from harness.testing.faults.kernels import KernelKind, Strike
from harness.testing.faults.roads import captured
from tests.explain.computed_again import holds, watched
from tests.explain.drawn_programs import Program, Step
from tests.explain.runs import explained

BOTH = "its inputs are rounded to float16 or TensorFloat-32, which do the same here"
#: values whose last kept bit is decided by a tie: to even, and away from zero
TIES = (1 + np.arange(12) * 2.0**-10 + 2.0**-11).reshape(3, 4).astype(np.float32)
DATA: dict[str, Callable[[Any], Any]] = {
    "usual": lambda x: x, "small": lambda x: x * np.float32(1e-6), "large": lambda x: x * np.float32(1e6),
    "ties": lambda _x: TIES,
}  # fmt: skip


def _through(name: str) -> KernelKind:
    def inputs(_random: Any, _call: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
        apply = rounding(name).apply
        return tuple(apply(a) if isinstance(a, np.ndarray) and at < 2 else a for at, a in enumerate(args))

    return KernelKind(name, frozenset(), inputs=inputs)


def _explained(name: str, data: str, op: str = "product") -> tuple[Explanation, bool | None]:
    program = replace(Program(1, 3, (Step(op),)), data=DATA[data])
    golden = captured(program)  # type: ignore[arg-type]
    operator = "Default/MatMul-op0" if op == "product" else "Default/Mul-op0"
    strike = Strike(_through(name), operator, 0, 0)
    made = explained(golden, captured(program, strike))  # type: ignore[arg-type]
    told = json.loads(json.dumps(made.to_json()))
    proven = told["cause"] is not None and told["cause"]["proven"]
    return made, holds(told, watched(program), watched(program, strike.fresh())) if proven else None


@pytest.mark.parametrize(
    ("name", "data", "text"),
    [
        ("tf32", "usual", BOTH),
        ("float16", "usual", BOTH),
        ("tf32", "small", "its inputs are rounded to TensorFloat-32"),
        ("float16", "small", "its inputs are rounded to float16"),
        ("tf32", "large", "its inputs are rounded to TensorFloat-32"),
        ("tf32", "ties", "its inputs are rounded to TensorFloat-32"),
        ("float16", "ties", "its inputs are rounded to float16"),
        ("bfloat16", "usual", "its inputs are rounded to bfloat16"),
    ],
)
def test_the_type_of_a_matrix_unit(name: str, data: str, text: str) -> None:
    made, held = _explained(name, data)
    assert made.cause is not None
    assert (made.cause.text, held) == (text, True)


def test_only_products_are_computed_by_a_matrix_unit() -> None:
    made, held = _explained("float16", "usual", "scaled")
    assert made.cause is not None
    assert "TensorFloat-32" not in made.cause.text
    assert held
