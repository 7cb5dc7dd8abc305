"""Hooks of cells, tensors and parameters; expected results were measured with MindSpore 2.10.0 in both modes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from harness import Tensor, context, grad, nn
from harness.errors import SettingTypeError, UnsupportedError


class Net(nn.Cell):
    """The sum of a ReLU of a Dense layer of ones."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Dense(3, 2, weight_init="ones", bias_init="zeros")
        self.relu = nn.ReLU()

    def construct(self, x: Tensor) -> Tensor:
        return self.relu(self.fc(x)).sum()


@pytest.fixture(params=[context.GRAPH_MODE, context.PYNATIVE_MODE], ids=["graph", "pynative"])
def mode(request: pytest.FixtureRequest) -> Iterator[int]:
    before = context.get_context("mode")
    context.set_context(mode=request.param)
    yield request.param
    context.set_context(mode=before)


def data() -> Tensor:
    return Tensor(np.array([[1, 2, 3]], np.float32))


def pre(_cell: Any, inputs: Any) -> Any:
    return (inputs[0] * 2,)


def post(_cell: Any, _inputs: Any, output: Any) -> Any:
    return output + 1


def back_pre(_cell: Any, grads: Any) -> Any:
    return (grads[0] * 3,)


def back(_cell: Any, grads: Any, _outputs: Any) -> Any:
    return (grads[0] * 10,)


@pytest.mark.parametrize(
    ("name", "hook", "value", "slope"),
    [
        ("register_forward_pre_hook", pre, 24, 4),
        ("register_forward_hook", post, 14, 2),
        ("register_backward_pre_hook", back_pre, 12, 6),
        ("register_backward_hook", back, 12, 20),
    ],
)
def test_hooks_of_a_cell(mode: int, name: str, hook: Any, value: float, slope: float) -> None:
    net = Net()
    handle = getattr(net.fc, name)(hook)
    assert float(net(data())) == value
    assert grad(net)(data()).asnumpy().tolist() == [[slope] * 3]
    handle.remove()
    handle.remove()
    # A graph keeps the hooks it was compiled with (measured).
    assert float(net(data())) == (12 if mode == context.PYNATIVE_MODE else value)
    assert grad(net)(data()).asnumpy().tolist() == [[2] * 3]


def test_a_backward_hook_sees_both_gradients(mode: int) -> None:
    seen: list[Any] = []
    net = Net()
    net.fc.register_backward_hook(lambda cell, given, out: seen.append((given[0].shape, out[0].shape)))
    grad(net)(data())
    assert seen == [((1, 3), (1, 2))]


def test_a_backward_hook_is_called_where_arguments_have_no_gradient(mode: int) -> None:
    seen: list[Any] = []
    net = Net()
    net.fc.register_backward_hook(lambda cell, given, out: seen.append((given, out[0].shape)))
    grad(net, None, net.trainable_params())(data())
    assert seen == [((None,), (1, 2))]


def test_values_are_shown_in_pynative_mode(capsys: pytest.CaptureFixture[str]) -> None:
    before = context.get_context("mode")
    context.set_context(mode=context.PYNATIVE_MODE)
    net = Net()
    net.fc.register_backward_hook(lambda cell, given, out: print(given[0].asnumpy().tolist()))
    grad(net)(data())
    context.set_context(mode=before)
    assert capsys.readouterr().out == "[[2.0, 2.0, 2.0]]\n"


def test_order_and_keywords() -> None:
    seen: list[str] = []
    net = Net()
    net.relu.register_forward_pre_hook(lambda cell, args: seen.append("first"))
    net.relu.register_forward_pre_hook(
        lambda cell, args, kwargs: seen.append(str(kwargs)), prepend=True, with_kwargs=True
    )
    net.relu(data())
    assert seen == ["{}", "first"]


def test_a_hook_that_is_always_called() -> None:
    seen: list[str] = []
    net = Net()
    net.fc.register_forward_hook(lambda cell, args, out: seen.append(str(out)), always_call=True)
    with pytest.raises(ValueError, match="dimensions"):
        net.fc(Tensor(np.ones((2, 5), np.float32)))
    assert seen == ["None"]


def test_hooks_of_tensors_and_parameters() -> None:
    before = context.get_context("mode")
    context.set_context(mode=context.PYNATIVE_MODE)

    def function(a: Tensor, b: Tensor) -> Tensor:
        z = a * b
        handle = z.register_hook(lambda slope: slope * 2)
        y = (z * b).sum()
        w = a * 5
        w.register_hook(lambda slope: slope * 100).remove()
        del handle
        return y + w.sum()

    one, two = Tensor(np.array([1], np.float32)), Tensor(np.array([2], np.float32))
    assert [g.asnumpy().tolist() for g in grad(function, (0, 1))(one, two)] == [[13], [6]]
    net = Net()
    handle = net.fc.weight.register_hook(lambda slope: slope * 10)
    assert grad(net, None, net.fc.weight)(data()).asnumpy().tolist() == [[10, 20, 30]] * 2
    handle.remove()
    assert grad(net, None, net.fc.weight)(data()).asnumpy().tolist() == [[1, 2, 3]] * 2
    context.set_context(mode=before)


def test_what_would_have_no_effect_is_refused() -> None:
    with pytest.raises(UnsupportedError, match=r"test_hooks.py:\d+"):
        data().register_hook(lambda slope: slope)
    with pytest.raises(SettingTypeError, match="callable"):
        Net().register_forward_hook(3)  # type: ignore[arg-type]
