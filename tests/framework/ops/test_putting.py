"""Values put at places, chosen among tensors, and bytes read as another dtype, against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes

from harness import Tensor, dtypes, ops
from tests.framework.ops.test_indexing import numbers


@given(st.data())
def test_index_put_is_numpys_assignment(data: st.DataObject) -> None:
    shape = data.draw(array_shapes(min_dims=1, max_dims=3, max_side=4))
    count = data.draw(st.integers(1, len(shape)))
    index = [np.array(data.draw(st.lists(st.integers(0, n - 1), min_size=2, max_size=2))) for n in shape[:count]]
    x, added = numbers(shape), data.draw(st.booleans())
    expected = x.asnumpy().copy()
    if added:
        np.add.at(expected, tuple(index), np.float32(5))
    else:
        expected[tuple(index)] = 5
    found = x.index_put(tuple(map(Tensor, index)), Tensor([5.0]), accumulate=added)
    np.testing.assert_array_equal(found.asnumpy(), expected)
    np.testing.assert_array_equal(x.asnumpy(), numbers(shape).asnumpy())


@given(st.data())
def test_masked_scatter_is_numpys_place(data: st.DataObject) -> None:
    shape = data.draw(array_shapes(min_dims=1, max_dims=3, max_side=4))
    size = int(np.prod(shape))
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size))).reshape(shape)
    source = np.arange(size, dtype=np.float32) + 100
    expected = numbers(shape).asnumpy().copy()
    expected[mask] = source[: mask.sum()]
    found = numbers(shape).masked_scatter(Tensor(mask), Tensor(source))
    np.testing.assert_array_equal(found.asnumpy(), expected)
    if mask.any():
        with pytest.raises(ValueError, match="elements are needed"):
            numbers(shape).masked_scatter(Tensor(mask), Tensor(source[: mask.sum() - 1]))


@given(st.lists(st.integers(-5, 7), min_size=1, max_size=5), st.sampled_from(["clip", "wrap"]), st.booleans())
def test_choose_is_numpys(index: list[int], mode: Any, tensors: bool) -> None:
    choices = [np.arange(len(index), dtype=np.float32) + 10 * k for k in range(3)] if tensors else [10, 20, 30]
    given_ = [Tensor(c) for c in choices] if tensors else choices
    found = Tensor(np.array(index)).choose(given_, mode=mode)
    np.testing.assert_array_equal(found.asnumpy(), np.choose(index, choices, mode=mode))


@pytest.mark.parametrize("dtype", ["int32", "int16", "uint8", "float64", "float32"])
def test_view_of_a_dtype_has_the_bytes(dtype: str) -> None:
    x = numbers((2, 4))
    found = x.view(dtypes.by_name(dtype))
    np.testing.assert_array_equal(found.asnumpy(), x.asnumpy().view(dtype))
    with pytest.raises(ValueError, match="no whole number"):
        numbers((2, 3)).view(dtypes.float64)


def test_index_add_is_in_place_in_both_forms() -> None:
    index, rows = Tensor(np.array([0, 2, 0], np.int32)), Tensor([9.0, 8.0, 7.0])
    forms: list[Any] = [
        lambda x: x.index_add(index, rows, 0),
        lambda x: x.index_add(0, index, rows),
        lambda x: x.index_add(indices=index, y=rows, axis=0),
        lambda x: ops.index_add(x, index, rows, 0),
    ]
    for form in forms:
        x = Tensor([1.0, 2.0, 3.0])
        assert form(x).tolist() == x.tolist() == [17.0, 2.0, 11.0]
    x = Tensor([1.0, 2.0, 3.0])
    assert x.index_add(0, index, rows, alpha=2).tolist() == [33.0, 2.0, 19.0]
