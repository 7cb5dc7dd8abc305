"""Sliding windows, and constants that name dtypes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from harness import dtypes
from harness.framework.ops import window
from harness.framework.ops.constants import TYPE_IDS, type_of, type_tensor

PAIR = st.tuples(st.integers(1, 3), st.integers(1, 3))
PADS = st.tuples(*[st.integers(0, 2)] * 4)
SIZE = st.tuples(st.integers(1, 7), st.integers(1, 7))


@given(SIZE, PAIR, PAIR, PADS, PAIR)
def test_putting_windows_back_is_the_adjoint_of_taking_them(
    size: window.Pair, kernel: window.Pair, stride: window.Pair, pads: window.Pads, dilation: window.Pair
) -> None:
    out = window.out_size(size, kernel, stride, pads, dilation)
    assume(min(out) > 0)
    random = np.random.default_rng(0)
    x = random.integers(-5, 5, (2, *size)).astype(float)
    taken = window.windows(window.pad(x, pads), kernel, stride, dilation)
    assert taken.shape == (2, *kernel, *out)
    parts = random.integers(-5, 5, taken.shape).astype(float)
    back = window.unwindow(parts, size, stride, pads, dilation)
    assert back.shape == x.shape
    assert np.sum(taken * parts) == np.sum(x * back)


@given(st.integers(1, 20), st.integers(1, 5), st.integers(1, 4), st.integers(1, 3))
def test_same_padding_gives_one_window_a_stride(size: int, kernel: int, stride: int, dilation: int) -> None:
    before, after = window.same_padding(size, kernel, stride, dilation)
    assert 0 <= before <= after <= before + 1
    pads = (before, after, 0, 0)
    assert window.out_size((size, 1), (kernel, 1), (stride, 1), pads, (dilation, 1))[0] == -(-size // stride)


def test_negative_padding_cuts() -> None:
    x = np.arange(12.0).reshape(3, 4)
    np.testing.assert_array_equal(window.pad(x, (-1, 0, 0, -2)), x[1:, :2])


@pytest.mark.parametrize("name", TYPE_IDS)
def test_numbers_of_dtypes_lead_back(name: str) -> None:
    assert type_of(type_tensor(dtypes.by_name(name)).asnumpy()) is dtypes.by_name(name)
