"""Gradients agree with central differences, in float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from harness import Tensor, grad, ops
from harness.framework.ops import taken

pytestmark = pytest.mark.usefixtures("every_dtype")


@pytest.fixture(autouse=True)
def _any_dtype(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slopes are taken in float64, which not every operator takes from users."""
    monkeypatch.setattr(taken, "TAKEN", {})


#: calls, each with inputs away from what has no slope
CASES: dict[str, tuple[Callable[..., Any], int]] = {
    "add": (lambda x, y: x + y, 2), "sub": (lambda x, y: x - y, 2), "mul": (lambda x, y: x * y, 2),
    "div": (lambda x, y: x / y, 2), "realdiv": (lambda x, y: ops.RealDiv()(x, y), 2), "pow": (lambda x, y: x**y, 2),
    "mod": (lambda x, y: (2.0137 * x) % y, 2),
    "floor_mod": (lambda x, y: ops.floor_mod(2.0137 * x, y), 2),
    "fmod": (lambda x, y: ops.fmod(-2.0137 * x, y), 2), "clamps": (lambda x, y: ops.clamp(x, y - 0.3, y + 0.3), 2),
    "prelu": (lambda x, y: ops.prelu(x - 1, y.reshape((3,))), 2),
    "muls": (lambda x: 3 * x, 1), "divs": (lambda x: x / 3, 1), "over": (lambda x: 3 / x, 1),
    "minus": (lambda x: 3 - x, 1), "square": (lambda x: x**2, 1), "exponent": (lambda x: 2**x, 1),
    "atan2": (ops.atan2, 2), "maximum": (ops.maximum, 2), "minimum": (ops.minimum, 2),
    "select": (lambda x, y: ops.select(x > 1, x * x, y), 2),
    "clamp": (lambda x: ops.clamp(x, 0.6, 1.3), 1), "clip": (lambda x: ops.clip_by_value(x, 0.6, 1.3), 1),
    "addn": (lambda x, y: ops.addn([x, x, y * x]), 2), "leaky_relu": (lambda x: ops.leaky_relu(x - 1, 0.1), 1),
    "relu6": (lambda x: ops.relu6(5 * x), 1), "silu": (ops.silu, 1), "gelu": (ops.gelu, 1),
    "gelu_tanh": (lambda x: ops.gelu(x, "tanh"), 1), "elu": (lambda x: ops.elu(x - 1), 1),
    "celu": (lambda x: ops.celu(x - 1, 2.0), 1),
    "softplus": (lambda x: ops.softplus(x, 2, 2.5), 1), "logsigmoid": (ops.logsigmoid, 1),
    "sum": (lambda x: ops.sum(x * x, 1), 1), "mean": (lambda x: (x * x).mean((0, 2), True), 1),
    "amax": (lambda x: ops.amax(x, 1), 1), "amin": (lambda x: ops.amin(x, (0, 2)), 1),
    "max": (lambda x: x.max(), 1), "min": (lambda x: x.min(), 1), "max_axis": (lambda x: ops.max(x, 2)[0], 1),
    "min_axis": (lambda x: ops.min(x, 0, True)[0], 1), "prod": (lambda x: ops.prod(x), 1),
    "prod_axis": (lambda x: ops.prod(x, 1), 1), "reduce_prod": (lambda x: ops.ReduceProd()(x, (0, 2)), 1),
    "std": (lambda x: ops.std(x, 1), 1), "std_unbiased": (lambda x: ops.std(x, (0, 2), 1, True), 1),
    "std_method": (lambda x: x.std(2), 1), "var": (lambda x: x.var(), 1),
    "logsumexp": (lambda x: ops.logsumexp(x, 1), 1),
    "norm": (ops.norm, 1), "cumsum": (lambda x: ops.cumsum(x, 1) * x, 1),
    "cumsum_back": (lambda x: ops.CumSum(True, True)(x, 0) * x, 1), "cumprod": (lambda x: ops.cumprod(x, 2), 1),
    "topk": (lambda x: ops.topk(x, 2)[0] ** 2, 1), "topk_small": (lambda x: ops.topk(x, 2, 1, False)[0] ** 2, 1),
    **{name: (getattr(ops, name), 1) for name in (
        "abs", "cos", "cosh", "erf", "erfc", "exp", "expm1", "fast_gelu", "log", "log10", "log1p", "log2", "neg",
        "reciprocal", "rsqrt", "sigmoid", "sin", "sinh", "softsign", "sqrt", "square", "tan", "tanh", "atan", "asinh",
        "hardswish", "hardsigmoid", "mish",
    )},
    "asin": (lambda x: ops.asin(x / 3), 1), "acos": (lambda x: ops.acos(x / 3), 1),
    "atanh": (lambda x: ops.atanh(x / 3), 1),
    "acosh": (lambda x: ops.acosh(x + 1), 1),
}  # fmt: skip


def values(seed: int, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Distinct values in (0.4, 1.6), none near 1 or a bound the cases use."""
    order = np.random.Generator(np.random.PCG64(seed)).permutation(int(np.prod(shape)))
    return (0.41 + 1.13 * order / len(order)).reshape(shape)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", CASES)
def test_agrees_with_differences(name: str) -> None:
    function, count = CASES[name]
    shapes = [(2, 3, 2), (3, 1)][:count]
    arrays = [values(3 + i, shape) for i, shape in enumerate(shapes)]

    def total(*args: Any) -> Any:
        out = function(*args)
        weight = Tensor(np.cos(np.arange(int(np.prod(out.shape)), dtype=np.float64)).reshape(out.shape))
        return ops.sum(out * weight)

    grads = grad(total, tuple(range(count)))(*(Tensor(a) for a in arrays))
    for at, got in enumerate(grads if isinstance(grads, tuple) else (grads,)):
        expected = differences(total, arrays, at)
        np.testing.assert_allclose(got.asnumpy(), expected, rtol=2e-6, atol=2e-8)


def differences(total: Callable[..., Any], arrays: list[np.ndarray[Any, Any]], at: int) -> np.ndarray[Any, Any]:
    """Slope of ``total`` along each element of ``arrays[at]``."""
    step = 1e-6
    out = np.zeros_like(arrays[at])
    for index in np.ndindex(out.shape):
        ends = []
        for side in (step, -step):
            moved = [a.copy() for a in arrays]
            moved[at][index] += side
            ends.append(float(total(*(Tensor(a) for a in moved))))
        out[index] = (ends[0] - ends[1]) / (2 * step)
    return out


@pytest.mark.parametrize(
    "shapes", [((2, 3), (3,)), ((1, 3), (2, 1)), ((4, 1, 3), (2, 1)), ((), (2, 3)), ((1, 1, 1), (2, 3))]
)
def test_broadcast_gradients_have_the_operands_shapes(shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    x, y = (Tensor(np.full(s, 2.0, np.float32)) for s in shapes)
    dx, dy = grad(lambda a, b: a * b, (0, 1))(x, y)
    out = np.broadcast_shapes(*shapes)
    for got, shape in ((dx, shapes[0]), (dy, shapes[1])):
        assert got.shape == shape
        np.testing.assert_array_equal(got.asnumpy(), 2 * np.prod(out) / max(1, np.prod(shape)))


def test_a_tie_shares_the_gradient() -> None:
    x = Tensor(np.array([1.0, 2.0], np.float32))
    dx, dy = grad(ops.maximum, (0, 1))(x, Tensor(np.array([1.0, 3.0], np.float32)))
    np.testing.assert_array_equal(dx.asnumpy(), [0.5, 0.0])
    np.testing.assert_array_equal(dy.asnumpy(), [0.5, 1.0])


def test_the_product_of_all_keeps_mindspores_mistake() -> None:
    x = Tensor(np.array([[2.0, 3.0]], np.float32))
    np.testing.assert_array_equal(grad(lambda a: ops.ReduceProd()(a))(x).asnumpy(), [[1.0, 1.0]])
    np.testing.assert_array_equal(grad(lambda a: ops.prod(a))(x).asnumpy(), [[3.0, 2.0]])
