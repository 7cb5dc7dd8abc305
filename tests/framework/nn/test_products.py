"""Products of Jacobians with vectors: structure and values are MindSpore 2.10.0's (measured)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from harness import Tensor, context, framework, nn
from harness.errors import UnsupportedError

X = Tensor(np.array([[1.0, 2.0], [3.0, 4.0]], np.float32))
Y = Tensor(np.array([[2.0, 0.5], [1.0, 3.0]], np.float32))


@pytest.fixture(autouse=True, params=[context.GRAPH_MODE, context.PYNATIVE_MODE])
def mode(request: pytest.FixtureRequest) -> Iterator[None]:
    before = context.get_context("mode")
    context.set_context(mode=request.param)
    yield
    context.set_context(mode=before)


def plain(value: Any) -> Any:
    return [plain(v) for v in value] if isinstance(value, tuple) else value.asnumpy().tolist()


def dense() -> Any:
    return nn.Dense(2, 2, weight_init="ones", bias_init="ones")


def test_gradients_from_what_is_given() -> None:
    out, back = framework.vjp(lambda a: a**3, X)
    assert plain(back(Y)) == [[[6.0, 6.0], [27.0, 144.0]]]
    out, back = framework.vjp(lambda a: (a**2, a * 3), X)
    assert plain(out) == [[[1.0, 4.0], [9.0, 16.0]], [[3.0, 6.0], [9.0, 12.0]]]
    assert plain(back(Y, X)) == [[[7.0, 8.0], [15.0, 36.0]]]


def test_what_is_not_differentiated_is_given_too() -> None:
    _out, back, aux = framework.vjp(lambda a: (a * 2, a * 3, a * 4), X, has_aux=True)
    assert plain(back(Y)) == [[[4.0, 1.0], [2.0, 6.0]]]
    assert plain(aux) == [[[3.0, 6.0], [9.0, 12.0]], [[4.0, 8.0], [12.0, 16.0]]]
    assert plain(framework.vjp(lambda a: (a * 2, a * 3), X, has_aux=True)[2]) == [[3.0, 6.0], [9.0, 12.0]]


def test_weights() -> None:
    of_inputs, of_weight = [[[2.5, 2.5], [4.0, 4.0]]], [[5.0, 8.0], [9.5, 13.0]]
    net = dense()
    assert plain(framework.vjp(net, X, weights=net.weight)[1](Y)) == [of_inputs, of_weight]
    net = dense()
    assert plain(framework.vjp(net, X, weights=net.trainable_params())[1](Y)) == [of_inputs, [of_weight, [3.0, 3.5]]]


def test_changes_along_a_direction() -> None:
    assert plain(framework.jvp(lambda a: a**3, X, Y)) == [[[1.0, 8.0], [27.0, 64.0]], [[6.0, 6.0], [27.0, 144.0]]]
    _out, change = framework.jvp(lambda a, b: a * b, (X, Y), (Y, X))
    np.testing.assert_array_equal(change.asnumpy(), X.asnumpy() ** 2 + Y.asnumpy() ** 2)
    with pytest.raises(ValueError, match="structure"):
        framework.jvp(lambda a: a, X, (X, Y))
    with pytest.raises(UnsupportedError):
        framework.jvp(lambda a: (a, a), X, Y)
