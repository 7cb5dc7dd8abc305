"""``Cell.bprop``: honoured in both modes, with the errors, scopes and order recorded from MindSpore 2.10.0."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import harness as ms
from harness import Parameter, Tensor, context, nn, ops

X = Tensor(np.array([[1, 5, 3], [4, 2, 6]], np.float32))


class OwnGradient(nn.Cell):
    """x * x, with what ``backward`` gives as its gradient."""

    def __init__(self, backward: Any) -> None:
        super().__init__()
        self.backward = backward

    def construct(self, x: Tensor) -> Any:
        return x * x

    def bprop(self, x: Tensor, out: Tensor, dout: Tensor) -> Any:
        return self.backward(x, out, dout)


class Between(nn.Cell):
    def __init__(self, inner: nn.Cell) -> None:
        super().__init__()
        self.inner = inner

    def construct(self, x: Tensor) -> Any:
        return ops.sin(self.inner(ops.cos(x)))


@pytest.fixture(params=[context.GRAPH_MODE, context.PYNATIVE_MODE], ids=["graph", "pynative"], autouse=True)
def mode(request: pytest.FixtureRequest) -> Any:
    before = context.get_context("mode")
    context.set_context(mode=request.param)
    yield request.param
    context.set_context(mode=before)


def gradient(net: nn.Cell) -> np.ndarray:
    found: np.ndarray = ms.grad(net)(X).asnumpy()
    return found


def test_the_cells_own_gradient_counts() -> None:
    assert gradient(OwnGradient(lambda x, out, dout: (dout * 100,))).tolist() == [[100] * 3] * 2


def test_it_gets_arguments_result_and_gradient() -> None:
    net = Between(OwnGradient(lambda x, out, dout: (dout * x + out,)))
    x = np.cos(X.asnumpy().astype(np.float64))
    expected = (np.cos(x * x) * x + x * x) * -np.sin(X.asnumpy())
    np.testing.assert_allclose(gradient(net), expected, rtol=1e-5)


def test_parameters_of_such_a_cell_get_zeros() -> None:
    class Scaled(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.w = Parameter(Tensor(np.float32([1, 2, 3])), name="w")

        def construct(self, x: Tensor) -> Any:
            return x * self.w

        def bprop(self, x: Tensor, out: Tensor, dout: Tensor) -> Any:
            return (dout * 3,)

    net = Scaled()
    by_x, (by_w,) = ms.grad(net, 0, net.trainable_params())(X)
    assert by_w.asnumpy().tolist() == [0, 0, 0]
    assert by_x.asnumpy().tolist() == [[3] * 3] * 2


def test_unused_results_have_zero_gradients() -> None:
    class Two(nn.Cell):
        def construct(self, x: Tensor) -> Any:
            return x * 2, x * 3

        def bprop(self, x: Tensor, out: Any, dout: Any) -> Any:
            return (dout[0] + dout[1] * 5,)

    class Second(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.two = Two()

        def construct(self, x: Tensor) -> Any:
            return self.two(x)[1].sum()

    assert gradient(Second()).tolist() == [[5] * 3] * 2


def test_arguments_that_are_no_tensors() -> None:
    class Times(nn.Cell):
        def construct(self, x: Tensor, k: int) -> Any:
            return x * k

        def bprop(self, x: Tensor, k: int, out: Tensor, dout: Tensor) -> Any:
            return dout * 10 * k, 0

    class Three(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.times = Times()

        def construct(self, x: Tensor) -> Any:
            return self.times(x * 2, 3).sum()

    assert gradient(Three()).tolist() == [[60] * 3] * 2


def test_too_few_gradients(mode: int) -> None:
    class Product(nn.Cell):
        def construct(self, x: Tensor, y: Tensor) -> Any:
            return x * y

        def bprop(self, x: Tensor, y: Tensor, out: Tensor, dout: Tensor) -> Any:
            return (dout * y,)

    with pytest.raises(RuntimeError, match=r"Product.bprop gives 1 gradients, construct takes 2 arguments"):
        ms.grad(Product(), (0, 1))(X, X)


def test_no_tuple(mode: int) -> None:
    net = OwnGradient(lambda x, out, dout: dout * 7)
    if mode == context.PYNATIVE_MODE:
        assert gradient(net).tolist() == [[7] * 3] * 2
    else:
        with pytest.raises(TypeError, match="must give a tuple"):
            gradient(net)


def test_another_number_of_arguments() -> None:
    class Short(nn.Cell):
        def construct(self, x: Tensor) -> Any:
            return x * x

        def bprop(self, x: Tensor, dout: Tensor) -> Any:
            return (dout,)

    with pytest.raises(TypeError, match="takes the arguments of construct, then out and dout"):
        gradient(Short())


def test_a_parameter_inside(mode: int) -> None:
    w = Parameter(Tensor(np.float32([1, 2, 3])), name="w")
    net = OwnGradient(lambda x, out, dout: (dout * w,))
    if mode == context.PYNATIVE_MODE:
        assert gradient(net).tolist() == [[1, 2, 3]] * 2
    else:
        with pytest.raises(RuntimeError, match="cannot use a parameter, got 'w'"):
            gradient(net)


def test_another_shape(mode: int) -> None:
    larger = OwnGradient(lambda x, out, dout: (ops.ones((2, 2, 3), ms.float32),))
    smaller = OwnGradient(lambda x, out, dout: (dout.sum(),))
    if mode == context.GRAPH_MODE:
        assert gradient(larger).shape == (2, 2, 3)
        assert gradient(smaller).tolist() == 6
    else:
        assert gradient(larger).tolist() == [[2] * 3] * 2
        with pytest.raises(RuntimeError, match="accepted: that shape, or one that can be summed to it"):
            gradient(smaller)


def test_without_a_gradient_nothing_of_it_runs() -> None:
    net = Between(OwnGradient(lambda x, out, dout: 1 / 0))
    np.testing.assert_allclose(net(X).asnumpy(), np.sin(np.cos(X.asnumpy()) ** 2), rtol=1e-5)
