"""Arguments survive a round trip through JSON, or are refused by name."""

from __future__ import annotations

import json
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from harness.backends.mindspore.forked_test import decoded
from harness.backends.mindspore.values import encoded
from harness.errors import UnsupportedError

DTYPES = st.one_of(
    arrays.boolean_dtypes(), arrays.integer_dtypes(endianness="?"), arrays.floating_dtypes(endianness="?"),
    arrays.complex_number_dtypes(endianness="?"),
)  # fmt: skip
ARRAYS = DTYPES.flatmap(lambda dtype: arrays.arrays(dtype, arrays.array_shapes(min_dims=0, min_side=0, max_side=3)))
LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.binary(),
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1).map(Path),
    ARRAYS, ARRAYS.filter(lambda array: array.size > 0).map(lambda array: array.ravel()[0]),
)  # fmt: skip
VALUES = st.recursive(
    LEAVES, lambda inner: st.one_of(st.lists(inner), st.lists(inner).map(tuple), st.dictionaries(st.text(), inner))
)


def same(left: Any, right: Any) -> bool:
    if type(left) is not type(right):
        return False
    if isinstance(left, (list, tuple)):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(value, right[name]) for name, value in left.items())
    if isinstance(left, (np.ndarray, np.generic)):
        return (left.dtype, left.shape, left.tobytes()) == (right.dtype, right.shape, right.tobytes())
    return left == right or (left != left and right != right)


@given(VALUES)
def test_a_value_comes_back(value: Any) -> None:
    assert same(decoded(json.loads(json.dumps(encoded(value)))), value)


class Few(IntEnum):
    ONE = 1


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (object(), "builtins.object"), (Few.ONE, "Few"), ({1: 2}, "builtins.dict"), ([{3}], "builtins.set"),
        (np.array([object()]), "numpy.ndarray"),
        (np.str_("x"), "numpy.str_"), (np.ma.array([1]), "MaskedArray"), (np.zeros(1, "M8[s]"), "ndarray"),
    ],
)  # fmt: skip
def test_another_is_refused(value: Any, kind: str) -> None:
    with pytest.raises(UnsupportedError, match=f"a .*{kind} cannot be given to another process: None, bool, int, "):
        encoded(value)
