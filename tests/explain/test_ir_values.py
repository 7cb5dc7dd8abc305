"""Values in a graph's text are read back unchanged."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from harness import dtypes
from harness.explain.ir_values import Unreadable, attributes, value
from harness.graph.ir_values import attributes as printed
from harness.graph.ir_values import value_text

_PLAIN = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**40), 2**40), st.sampled_from([0.5, 1e-05, 0.1, 3.0, -2.5]),
    st.text(st.characters(categories=["L", "N"]), max_size=8), st.sampled_from([dtypes.float32, dtypes.bool_]),
)  # fmt: skip
_VALUES = st.recursive(_PLAIN, lambda inner: st.lists(inner, max_size=4).map(tuple), max_leaves=6)


@given(_VALUES)
def test_what_is_printed_is_read(given_value: Any) -> None:
    assert value(value_text(given_value)) == given_value


@given(st.dictionaries(st.from_regex(r"[a-z_]{1,9}", fullmatch=True), _PLAIN, max_size=5))
def test_attributes_are_read(attrs: dict[str, Any]) -> None:
    assert attributes(f" primitive_attrs: {printed(attrs)} cnode_attrs: {{x: I64(1)}}") == attrs


@given(st.text(max_size=60))
def test_any_text_gives_a_value(text: str) -> None:
    value(text)
    attributes(text)


def test_tensors() -> None:
    for array in (
        np.array([1, 2, 3], np.int64),
        np.array([[1.5, 2]], np.float32),
        np.array([True, False]),
        np.float32(3),
    ):
        read = value(value_text(np.asarray(array)))
        assert read.dtype == np.asarray(array).dtype
        np.testing.assert_array_equal(read, array)


def test_what_the_text_leaves_out_is_not_made_up() -> None:
    long = value(value_text(np.zeros(64, np.float32)))
    assert isinstance(long, Unreadable)
    assert long == Unreadable(long.text) != Unreadable("other")
