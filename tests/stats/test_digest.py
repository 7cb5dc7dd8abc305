"""Digests: equal exactly where dtype, shape and bits are."""

from __future__ import annotations

import sys
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from harness import dtypes
from harness.errors import DtypeError
from harness.stats import DIGEST_BYTES, digest


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=str)
@pytest.mark.parametrize("shape", [(), (0,), (2, 0), (3, 4)])
def test_is_xxh3_of_header_and_bytes(dtype: dtypes.DType, shape: tuple[int, ...]) -> None:
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype.numpy)
    header = f"{dtype.name}({','.join(map(str, shape))})".encode()
    expected = xxhash.xxh3_128(header + array.tobytes()).digest()
    assert digest(array, dtype.name) == digest(array, dtype.lower) == expected
    assert len(expected) == DIGEST_BYTES


@given(hnp.arrays(np.uint16, hnp.array_shapes(max_dims=3, max_side=5)), st.data())
def test_layout_and_byte_order_do_not_matter(array: np.ndarray[Any, Any], data: st.DataObject) -> None:
    axes = data.draw(st.permutations(range(array.ndim)))
    twisted = array.transpose(axes)
    expected = digest(np.ascontiguousarray(twisted), "UInt16")
    assert digest(twisted, "UInt16") == expected
    assert digest(twisted.astype(">u2" if sys.byteorder == "little" else "<u2"), "UInt16") == expected


@given(hnp.arrays(np.uint8, st.integers(1, 40)), st.data())
def test_one_bit_changes_it(raw: np.ndarray[Any, Any], data: st.DataObject) -> None:
    bit = data.draw(st.integers(0, raw.size * 8 - 1))
    other = raw.copy()
    other[bit // 8] ^= 1 << (bit % 8)
    assert digest(raw, "UInt8") != digest(other, "UInt8")


def test_bits_count_not_values() -> None:
    zero, negative = np.zeros(1, np.float32), -np.zeros(1, np.float32)
    assert digest(zero, "Float32") != digest(negative, "Float32")
    quiet, payload = np.array([0x7FC00000, 0x7FC00001], np.uint32).view(np.float32).reshape(2, 1)
    assert digest(quiet, "Float32") != digest(payload, "Float32")


def test_shape_and_dtype_count() -> None:
    array = np.zeros(6, np.uint16)
    arrays = [
        (array, "UInt16"), (array.reshape(2, 3), "UInt16"), (array.reshape(3, 2), "UInt16"),
        (array.reshape(6, 1), "UInt16"), (array.view(np.int16), "Int16"), (array.view(np.float16), "Float16"),
        (array.view(ml_dtypes.bfloat16), "BFloat16"), (array.reshape(()) if array.size == 1 else array[0], "UInt16"),
    ]  # fmt: skip
    assert len({digest(np.asarray(a), name) for a, name in arrays}) == len(arrays)


def test_contiguous_arrays_are_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("copied")

    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    expected = digest(array, "Float32")
    monkeypatch.setattr(np, "ascontiguousarray", refuse)
    assert digest(array, "Float32") == expected


def test_dtype_must_fit() -> None:
    with pytest.raises(DtypeError, match="numpy dtype int64 was given as Int32"):
        digest(np.zeros(3, np.int64), "Int32")
