"""Gradients in PyNative mode: the function runs at every call, and may look at what it computes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from harness import Tensor, context, dtypes, get_grad, grad, nn, ops, value_and_grad
from harness.errors import TraceError
from harness.framework.runtime.session import current


@pytest.fixture(autouse=True)
def pynative() -> Iterator[None]:
    mode = context.get_context("mode")
    context.set_context(mode=context.PYNATIVE_MODE)
    yield
    context.set_context(mode=mode)


def tensor(*values: float) -> Tensor:
    return Tensor(np.array(values, np.float32))


def test_state_of_python_counts_at_every_call() -> None:
    calls = []

    def function(x: Tensor) -> Tensor:
        calls.append(1)
        return x.sum() * len(calls)

    gradient = value_and_grad(function)
    assert [float(gradient(tensor(1, 2))[0]) for _ in range(3)] == [3, 6, 9]


def test_values_decide_and_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    def function(x: Tensor) -> Tensor:
        total, rounds = x.sum(), 0
        while total < 20:
            total = total * 2
            rounds += 1
        print("rounds", rounds, f"{float(total):.1f}", total)
        if total.asnumpy() > 30:
            return total * 3
        return total

    value, gradient = value_and_grad(function)(tensor(1, 2))
    assert (float(value), gradient.asnumpy().tolist()) == (24, [8, 8])
    assert capsys.readouterr().out == "rounds 3 24.0 24.0\n"
    assert value_and_grad(function)(tensor(9, 9))[1].asnumpy().tolist() == [6, 6]


def test_branches_and_loops_take_one_way() -> None:
    def function(x: Tensor) -> Tensor:
        y = ops.cond(x.sum() > 2, lambda: x * 5, lambda: x)
        return ops.while_loop(lambda s: s.sum() < 100, lambda s: s * s, y).sum()

    assert value_and_grad(function)(tensor(1, 2))[1].asnumpy().tolist() == [50, 100]


def test_shapes_that_values_decide() -> None:
    seen = []

    def function(x: Tensor) -> Tensor:
        kept = ops.masked_select(x, x > 1)
        seen.append(kept.shape)
        return kept.sum()

    value_and_grad(function)(tensor(1, 2, 3))
    assert seen == [(2,)]


def test_a_program_is_kept_while_the_trace_is_the_same() -> None:
    factor = [2.0]
    gradient = value_and_grad(lambda x: (x * factor[0]).sum())
    gradient(tensor(1))
    programs = current().hidden.programs  # type: ignore[union-attr]
    key = next(reversed(programs))
    first = programs[key]
    gradient(tensor(5))
    assert programs[key] is first
    factor[0] = 3.0
    assert float(gradient(tensor(5))[1]) == 3
    assert programs[key] is not first


def test_random_operators_go_on() -> None:
    factor = [1.0]
    drop = nn.Dropout(p=0.5).set_train()
    gradient = value_and_grad(lambda x: drop(x * factor[0]).sum())
    masks = []
    for at in range(3):
        factor[0] = 1.0 + at
        masks.append(gradient(Tensor(np.ones(64, np.float32)))[1].asnumpy() == 0)
    assert not np.array_equal(masks[0], masks[1])
    assert not np.array_equal(masks[1], masks[2])


def test_what_is_drawn_at_random_is_known_later() -> None:
    drop = nn.Dropout(p=0.5).set_train()
    with pytest.raises(TraceError, match=r"test_eager_gradients.py:\d+ .*draws random numbers"):
        value_and_grad(lambda x: drop(x) if drop(x).sum() > 1 else x)(tensor(1, 2))


def test_what_was_changed_is_known_later() -> None:
    weight = nn.Dense(1, 1, weight_init="ones", bias_init="zeros").weight

    def function(x: Tensor) -> Tensor:
        ops.assign(weight, weight * 2)
        return x if weight.sum() > 1 else x * 2

    with pytest.raises(TraceError, match="was changed before"):
        value_and_grad(function)(tensor(1))
    assert weight.dtype is dtypes.float32


def test_a_number_of_numpy_on_the_left_has_no_gradient_and_is_refused() -> None:
    def after(x: Tensor) -> Tensor:
        return (x * np.float64(2)).sum()

    def before(x: Tensor) -> Tensor:
        return (np.float64(2) * x).sum()

    assert grad(after)(Tensor([1.0, 2.0])).asnumpy().tolist() == [2, 2]
    with pytest.raises(TraceError, match=r"a result that is a numpy float64: .* Write float\(number\) \* tensor"):
        grad(before)(Tensor([1.0, 2.0]))


@pytest.mark.parametrize("result", [3, 2.5, "text", None, (2,)], ids=repr)
def test_what_is_no_tensor_has_no_slope(result: Any) -> None:
    assert grad(lambda x: result)(Tensor([1.0, 2.0])).asnumpy().tolist() == [0, 0]
    assert grad(lambda x: (x * x, result))(Tensor([1.0, 2.0])).asnumpy().tolist() == [2, 4]


def test_a_gradient_by_its_name_or_position() -> None:
    net = nn.Dense(2, 1)
    found = grad(net, 0, net.trainable_params(), return_ids=True)(Tensor([[1.0, 2.0]]))
    assert get_grad(found, net.weight).asnumpy().tolist() == [[1, 2]]
    assert get_grad(found, 0).shape == (1, 2)
    with pytest.raises(RuntimeError, match="no gradient for 1"):
        get_grad(found, 1)
    with pytest.raises(TypeError, match="must be an int or a Parameter"):
        get_grad(found, "weight")  # type: ignore[arg-type]


def test_each_operator_of_half_precision_rounds_its_result() -> None:
    """In a graph a sum keeps the float32 that a product was computed in; in PyNative mode it takes float16."""
    rng = np.random.RandomState(50)
    layer = nn.Dense(64, 10).to_float(dtypes.float16)
    layer.weight.set_data(Tensor(rng.randn(10, 64).astype(np.float32)))
    layer.bias.set_data(Tensor(rng.randn(10).astype(np.float32)))
    x = Tensor(rng.randn(16, 64).astype(np.float32))
    alone = layer(x)
    under, _ = value_and_grad(layer, 0)(x)
    assert under.dtype is dtypes.float16
    np.testing.assert_array_equal(under.asnumpy(), alone.asnumpy())
