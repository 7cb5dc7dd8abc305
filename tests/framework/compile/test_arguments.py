"""A gradient within a graph is that of the function in its arguments alone, whatever else reaches it; in PyNative mode
it is that of objects (``tests/data/programs/gradients_of_one_tensor.txt``).

The expected values are computed by hand; MindSpore 2.10.0 gives them, too (measured for each form).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import Tensor, nn, ops, set_context
from tests.examples import examples

X = np.array([1.0, 2.0, 3.0], np.float32)
#: an argument, by what it is of x: the value and the function
ARGUMENTS: dict[str, Callable[[Any], Any]] = {
    "x": lambda x: x, "2x": lambda x: x * 2, "x + 1": lambda x: x + 1, "x x": lambda x: x * x,
}  # fmt: skip


class Net(nn.Cell):
    """Calls a function of its input."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        super().__init__()
        self.function = function

    def construct(self, x: Any) -> Any:
        return self.function(x)


@pytest.fixture(params=[0, 1], ids=["graph", "pynative"])
def _mode(request: pytest.FixtureRequest) -> None:
    set_context(mode=request.param)


@pytest.fixture
def _graphs() -> None:
    set_context(mode=0)


def gradients(function: Callable[[Any], Any]) -> Any:
    """What ``function`` of a traced ``X`` gives, as numpy arrays."""
    found = Net(function)(Tensor(X))
    return [each.asnumpy() for each in found] if isinstance(found, tuple) else found.asnumpy()


def power(x: Any, exponent: int) -> Any:
    """x to a power, by products alone."""
    result = x * 0 + 1
    for _ in range(exponent):
        result = result * x
    return result


@pytest.mark.long
@pytest.mark.usefixtures("_graphs")
@examples(10, 200)
@given(
    names=st.lists(st.sampled_from(sorted(ARGUMENTS)), min_size=2, max_size=2),
    exponents=st.tuples(*[st.integers(0, 3)] * 3),
)
def test_of_powers(names: list[str], exponents: tuple[int, int, int]) -> None:
    i, j, k = exponents

    def grads(x: Any) -> Any:
        def function(a: Any, b: Any) -> Any:
            return power(a, i) * power(b, j) * power(x, k)

        return ops.grad(function, (0, 1))(*(ARGUMENTS[name](x) for name in names))

    a, b = (ARGUMENTS[name](X) for name in names)
    expected = [i * a ** max(i - 1, 0) * b**j * X**k, j * b ** max(j - 1, 0) * a**i * X**k]
    np.testing.assert_allclose(gradients(grads), expected, rtol=1e-5)


@pytest.mark.usefixtures("_graphs")
def test_of_a_gradient() -> None:
    def twice(x: Any) -> Any:
        return ops.grad(lambda a: ops.grad(lambda b: b * b * a * x)(a))(x)

    # b b a x has the gradient 2 b a x, at b = a: 2 a a x, of which 4 a x is the gradient.
    np.testing.assert_allclose(gradients(twice), 4 * X * X)


@pytest.mark.usefixtures("_graphs")
def test_of_what_a_partial_function_and_a_helper_hold() -> None:
    def held(x: Any) -> Any:
        def helper(a: Any) -> Any:
            return a * x

        return ops.grad(partial(lambda b, a: a * b, x))(x) + ops.grad(lambda a: helper(a))(x)

    np.testing.assert_allclose(gradients(held), 2 * X)


@pytest.mark.usefixtures("_mode")
def test_of_directions() -> None:
    def directions(x: Any) -> Any:
        _, along = ops.jvp(lambda a, b: a * b, (x, x * 2), (x, x))
        _, back = ops.vjp(lambda a, b: a * b, x, x * 2)
        return along, *back(x)

    for found, expected in zip(gradients(directions), (3 * X * X, 2 * X * X, X * X), strict=True):
        np.testing.assert_allclose(found, expected)
