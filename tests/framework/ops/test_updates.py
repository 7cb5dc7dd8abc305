"""Operators that update parameters, against the formulas of the papers in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from harness import Parameter, Tensor, ops
from harness.errors import ShapeError


def parameters(count: int) -> list[Parameter]:
    """Parameters of shape (2, 3) with distinct values."""
    return [Parameter(Tensor((np.arange(6).reshape(2, 3) * 0.3 + i + 0.1).astype(np.float32))) for i in range(count)]


def wide(*tensors: Any) -> list[np.ndarray[Any, Any]]:
    """Copies in float64."""
    return [t.asnumpy().astype(np.float64) for t in tensors]


GRADIENT = Tensor((np.arange(6).reshape(2, 3) - 2.5).astype(np.float32))


@pytest.mark.parametrize("nesterov", [False, True])
def test_apply_momentum(nesterov: bool) -> None:
    variable, moved = parameters(2)
    (v, m), (g,) = wide(variable, moved), wide(GRADIENT)
    out = ops.ApplyMomentum(use_nesterov=nesterov, gradient_scale=2.0)(variable, moved, 0.5, GRADIENT, 0.75)
    m = m * 0.75 + 2 * g
    v = v - 0.5 * m  # with nesterov too: as the real kernel
    near(moved, m)
    near(variable, v)
    near(out, v)


@pytest.mark.parametrize("nesterov", [False, True])
@pytest.mark.parametrize("momentum", [0.0, 0.75])
def test_sgd_starts_with_the_gradient_itself(nesterov: bool, momentum: float) -> None:
    weight, accum = parameters(2)
    stat = Parameter(Tensor(np.ones((2, 3), np.float32)))
    primitive = ops.SGD(0.0 if nesterov else 0.25, 0.125, nesterov)
    for first in (True, False):
        (w, a), (g,) = wide(weight, accum), wide(GRADIENT)
        primitive(weight, GRADIENT, 0.5, accum, momentum, stat)
        g = g + 0.125 * w
        if momentum:
            a = g if first else momentum * a + (1 if nesterov else 0.75) * g
            g = g + momentum * a if nesterov else a
            near(accum, a)
            np.testing.assert_array_equal(stat.asnumpy(), 0)
        near(weight, w - 0.5 * g)


@pytest.mark.parametrize("nesterov", [False, True])
def test_adam_corrects_its_bias(nesterov: bool) -> None:
    weight, first, second = parameters(3)
    (w, m, v), (g,) = wide(weight, first, second), wide(GRADIENT)
    outs = ops.Adam(use_nesterov=nesterov)(weight, first, second, 0.81, 0.998, 0.1, 0.9, 0.999, 1e-8, GRADIENT)
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
    step = 0.9 * m + 0.1 * g if nesterov else m
    w = w - 0.1 * np.sqrt(1 - 0.998) / (1 - 0.81) * step / (np.sqrt(v) + 1e-8)
    for got, expected, out in zip((weight, first, second), (w, m, v), outs, strict=True):
        near(got, expected, 1e-5)
        near(out, expected, 1e-5)


def test_adam_with_weight_decay_has_no_bias_correction() -> None:
    weight, first, second = parameters(3)
    (w, m, v), (g,) = wide(weight, first, second), wide(GRADIENT)
    ops.AdamWeightDecay()(weight, first, second, 0.1, 0.9, 0.999, 1e-6, 0.01, GRADIENT)
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
    near(weight, w - 0.1 * (m / (np.sqrt(v) + 1e-6) + 0.01 * w), 1e-5)
    near(first, m)
    near(second, v)


def test_assignment_in_place() -> None:
    (weight,) = parameters(1)
    (w,) = wide(weight)
    ops.assign_add(weight, GRADIENT)
    near(weight, w + GRADIENT.asnumpy())
    ops.assign_sub(weight, GRADIENT)
    ops.assign(weight, GRADIENT)
    np.testing.assert_array_equal(weight.asnumpy(), GRADIENT.asnumpy())


def test_other_shapes_are_refused() -> None:
    (weight,) = parameters(1)
    other = Parameter(Tensor([1.0]))
    with pytest.raises(ShapeError, match="must have the parameter's shape"):
        ops.assign(weight, other)
    with pytest.raises(ShapeError, match="argument 0 must have the gradient's shape"):
        ops.ApplyMomentum()(weight, weight, 0.1, other, 0.9)
    with pytest.raises(ShapeError, match="argument 2 must have the gradient's shape"):
        ops.AdamWeightDecay()(weight, weight, other, 0.1, 0.9, 0.999, 1e-6, 0.01, GRADIENT)


def near(got: Any, expected: np.ndarray[Any, Any], rtol: float = 2e-6) -> None:
    """Asserts float32 values near those of the formula (scalars were rounded to float32)."""
    np.testing.assert_allclose(got.asnumpy(), expected, rtol=rtol, atol=1e-6)
