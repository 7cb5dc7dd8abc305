"""Pooling, batch normalization and sums against what defines them: the same bits, also of NaN, ties and zeros."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.framework.ops import numerics, window
from harness.framework.ops.operators.max_pool import MaxPool, MaxPoolGrad

Array = np.ndarray[Any, np.dtype[Any]]
#: few, so that windows hold equal ones
VALUES = np.array([-np.inf, -1.5, -1, -0.0, 0.0, 0.5, 1, 3, np.inf, np.nan])


@st.composite
def pools(draw: st.DrawFn) -> tuple[Any, Array, int]:
    """A call of a pooling operator, its input, and a seed."""
    shape = tuple(draw(st.integers(1, most)) for most in (2, 3, 7, 7))
    kernel = tuple(draw(st.integers(1, min(3, size))) for size in shape[2:])
    stride = tuple(draw(st.integers(1, 3)) for _ in range(2))
    mode = draw(st.sampled_from(["VALID", "SAME"]))
    attrs = {"kernel_size": (1, 1, *kernel), "strides": (1, 1, *stride), "pad_mode": mode}
    seed = draw(st.integers(0, 2**32 - 1))
    most = draw(st.sampled_from([len(VALUES), len(VALUES) - 1]))
    x = VALUES[np.random.default_rng(seed).integers(0, most, shape)]
    call = SimpleNamespace(shape=lambda _at: shape, attrs=attrs)
    return call, x.astype(draw(st.sampled_from([np.float16, np.float32, np.float64]))), seed


def geometry(call: Any, x: Array) -> tuple[Array, tuple[int, int], tuple[int, int, int, int]]:
    """The windows of an input in float64, the stride and the pads."""
    kernel, stride = call.attrs["kernel_size"][2:], call.attrs["strides"][2:]
    pads = window.same_pads(x.shape[2:], kernel, stride) if call.attrs["pad_mode"] == "SAME" else (0, 0, 0, 0)
    view = window.windows(window.pad(x.astype(np.float64), pads, -np.inf), kernel, stride)
    return view.reshape(*view.shape[:2], -1, *view.shape[4:]), stride, pads


def bits(x: Array) -> bytes:
    return np.ascontiguousarray(x.astype(np.float64)).tobytes()


@given(pools())
def test_the_later_value_wins_unless_the_earlier_one_is_larger(given_: tuple[Any, Array, int]) -> None:
    call, x, _seed = given_
    values, _stride, _pads = geometry(call, x)
    best = values[:, :, 0]
    for at in range(values.shape[2]):
        best = np.where(best > values[:, :, at], best, values[:, :, at])
    assert bits(MaxPool.kernel(None, call, x)) == bits(best)  # type: ignore[arg-type]


@given(pools())
def test_a_gradient_goes_to_the_first_maximum(given_: tuple[Any, Array, int]) -> None:
    call, x, seed = given_
    values, stride, pads = geometry(call, x)
    winner = np.where(np.isnan(values), -np.inf, values).argmax(axis=2)
    dout = np.random.default_rng(seed).standard_normal(winner.shape).astype(x.dtype)
    places = np.arange(values.shape[2]).reshape(-1, 1, 1)
    parts = np.where(places == winner[:, :, None], dout.astype(np.float64)[:, :, None], 0.0)
    kernel = call.attrs["kernel_size"][2:]
    wanted = window.unwindow(parts.reshape(*parts.shape[:2], *kernel, *parts.shape[3:]), x.shape[2:], stride, pads)
    found = MaxPoolGrad.kernel(None, call, x, x, dout)  # type: ignore[arg-type]
    assert bits(found) == bits(wanted)


@given(st.lists(st.integers(0, 6), min_size=1, max_size=4), st.data())
def test_a_sum_is_that_of_the_axes_moved_to_the_front(shape: list[int], data: st.DataObject) -> None:
    axes = data.draw(st.lists(st.sampled_from(range(len(shape))), min_size=1, unique=True))
    rest = [a for a in range(len(shape)) if a not in axes]
    x = np.random.default_rng(data.draw(st.integers(0, 99))).standard_normal(shape)
    moved = x.transpose([*axes, *rest]).reshape(-1 if x.size else 0, *(shape[a] for a in rest)) if x.size else None
    found = numerics.total(x, tuple(axes))
    assert found.shape == tuple(shape[a] for a in rest)
    if moved is not None:
        assert found.tobytes() == numerics.fold(moved).tobytes()
    else:
        assert not found.any()


@pytest.mark.parametrize("count", [1, 2, 3, 12, 13, 48])
def test_a_long_first_axis_is_halved_before_anything_is_moved(count: int) -> None:
    x = np.random.default_rng(count).standard_normal((count, 5, 6, 7))
    moved = x.transpose(0, 2, 3, 1).reshape(-1, 5)
    assert numerics.total(x, (0, 2, 3)).tobytes() == numerics.fold(moved).tobytes()
