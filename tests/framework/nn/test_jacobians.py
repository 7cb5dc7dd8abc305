"""Jacobians have the shapes, values and refusals that MindSpore 2.10.0 had for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from harness import Tensor, context, float16, float32, int32, jacfwd, jacrev, ops
from harness.errors import CallError, HarnessError, SettingError, SettingTypeError

X, Y = Tensor([[1.0, 2.0], [3.0, 4.0]]), Tensor([1.0, -2.0])


def product(x: Tensor, y: Tensor) -> Tensor:
    return x * x * y


def two(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    return x * y, (x + y).sum()


def three(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return x * x, y, x.sum()


def cubes(x: Tensor) -> Tensor:
    return (x**3).sum()


def sine(x: Tensor) -> Tensor:
    return ops.sin(x) * 2


def flat(found: Any) -> Any:
    """Tuples as they are, of each tensor its shape and what is not 0 of it."""
    if isinstance(found, tuple):
        return tuple(map(flat, found))
    assert found.dtype is float32
    values = found.asnumpy().ravel()
    return list(found.shape), [round(float(each), 3) for each in values[values != 0]]


OF_X = [2, 2, 2, 2], [2.0, -8.0, 6.0, -16.0]
OF_Y = [2, 2, 2], [1.0, 4.0, 9.0, 16.0]
#: what calls gave, forwards and backwards, in both modes
RECORDED: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "one argument": (lambda j: j(product)(X, Y), OF_X),
    "the other": (lambda j: j(product, 1)(X, Y), OF_Y),
    "both": (lambda j: j(product, (0, 1))(X, Y), (OF_X, OF_Y)),
    "one in a tuple": (lambda j: j(product, (0,))(X, Y), OF_X),
    "two results": (
        lambda j: j(two)(X, Y), (([2, 2, 2, 2], [1.0, -2.0, 1.0, -2.0]), ([2, 2], [1.0, 1.0, 1.0, 1.0])),
    ),
    "two results of both": (
        lambda j: j(two, (0, 1))(X, Y),
        (
            (([2, 2, 2, 2], [1.0, -2.0, 1.0, -2.0]), ([2, 2, 2], [1.0, 2.0, 3.0, 4.0])),
            (([2, 2], [1.0, 1.0, 1.0, 1.0]), ([2], [2.0, 2.0])),
        ),
    ),
    "the first of three": (
        lambda j: j(three, 0, True)(X, Y),
        (([2, 2, 2, 2], [2.0, 4.0, 6.0, 8.0]), (([2], [1.0, -2.0]), ([], [10.0]))),
    ),
    "of a number": (lambda j: j(cubes)(Y), ([2], [3.0, 12.0])),
    "by a number": (lambda j: j(sine)(Tensor(0.5)), ([], [1.755])),
    "more axes": (lambda j: j(sine)(X.reshape(1, 2, 2)), ([1, 2, 2, 1, 2, 2], [1.081, -0.832, -1.98, -1.307])),
    "second order": (lambda j: j(jacrev(cubes))(Y), ([2, 2], [6.0, -12.0])),
    "second order forwards": (lambda j: j(jacfwd(cubes))(Y), ([2, 2], [6.0, -12.0])),
}  # fmt: skip
REFUSED: dict[str, tuple[Callable[[Any], Any], type[HarnessError]]] = {
    "no such argument": (lambda j: j(product, 2)(X, Y), SettingError),
    "below 0": (lambda j: j(product, -1)(X, Y), SettingError),
    "twice": (lambda j: j(product, (0, 0))(X, Y), SettingError),
    "None": (lambda j: j(product, None)(X, Y), SettingTypeError),
    "no bool": (lambda j: j(product, 0, 3)(X, Y), SettingTypeError),
    "no function": (lambda j: j(3)(X), CallError),
    "a number": (lambda j: j(product)(X, 2.0), SettingTypeError),
    "float16": (lambda j: j(sine)(X.astype(float16)), SettingTypeError),
    "int32": (lambda j: j(product)(X.astype(int32), Y.astype(int32)), SettingTypeError),
    "nothing else": (lambda j: j(sine, has_aux=True)(X), SettingError),
}


@pytest.fixture(params=[context.PYNATIVE_MODE, context.GRAPH_MODE], ids=["pynative", "graph"], autouse=True)
def mode(request: pytest.FixtureRequest) -> Any:
    before = context.get_context("mode")
    context.set_context(mode=request.param)
    yield
    context.set_context(mode=before)


@pytest.mark.parametrize("jacobian", [jacrev, jacfwd])
@pytest.mark.parametrize("name", RECORDED)
def test_jacobians_are_those_recorded(name: str, jacobian: Any) -> None:
    call, expected = RECORDED[name]
    assert flat(call(jacobian)) == expected


@pytest.mark.parametrize("jacobian", [jacrev, jacfwd])
@pytest.mark.parametrize("name", REFUSED)
def test_calls_are_refused(name: str, jacobian: Any) -> None:
    call, error = REFUSED[name]
    with pytest.raises(error):
        call(jacobian)


def test_no_arguments() -> None:
    with pytest.raises(SettingTypeError):
        jacrev(product)()
    with pytest.raises(SettingError):
        jacfwd(product)()


def test_values() -> None:
    np.testing.assert_allclose(jacrev(ops.matmul, 1)(X, Y).asnumpy(), X.asnumpy())
