"""The entries of ``dump.json`` for a tensor."""

from __future__ import annotations

import json
import zlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from harness import dtypes
from harness.dtypes import DType
from harness.dump.msprobe.entries import KEYS, crc32, describe_tensor
from harness.dump.msprobe.fields import SUMMARY_ITEMS

ITEMS = [item for item in SUMMARY_ITEMS if item != "hash"]


def test_a_plain_tensor() -> None:
    array = np.array([[3.0, -4.0], [0.0, 0.0]], np.float32)
    assert describe_tensor(array, dtypes.float32) == {
        "type": "mindspore.Tensor", "dtype": "Float32", "shape": [2, 2], "Max": 3.0, "Min": -4.0, "Mean": -0.25,
        "Norm": 5.0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("array", "dtype", "numbers"),
    [
        (np.array([True, False]), dtypes.bool_, (True, False, None, None)),
        (np.array(-7, np.int32), dtypes.int32, (-7, -7, -7, -7)),
        (np.array([3 + 4j, 0], np.complex64), dtypes.complex64, (5.0, 0.0, 2.5, 5.0)),
        (np.array([2, 4], np.uint8), dtypes.uint8, (4.0, 2.0, 3.0, 20**0.5)),
        (np.array([300.0, 300.0], np.float16), dtypes.float16, (300.0, 300.0, 300.0, float(np.float16(300 * 2**0.5)))),
    ],
)
def test_numbers_by_kind(array: Any, dtype: DType, numbers: tuple[Any, ...]) -> None:
    found = describe_tensor(array, dtype)
    assert tuple(found[key] for key in KEYS.values()) == numbers
    assert [type(found[key]) for key in KEYS.values()] == [type(number) for number in numbers]


def test_precision() -> None:
    array = np.array([60000.0, 60000.0], np.float16)
    assert describe_tensor(array, dtypes.float16)["Norm"] == float("inf")
    assert describe_tensor(array, dtypes.float16, high=True)["Norm"] == (2 * 60000.0**2) ** 0.5


def test_the_hash_is_a_crc_of_float32() -> None:
    array = np.array([1.5, -2.0], dtypes.bfloat16.numpy)
    assert crc32(array, dtypes.bfloat16) == f"{zlib.crc32(array.astype(np.float32).tobytes()):08x}"
    assert describe_tensor(array, dtypes.bfloat16, ["md5"]).keys() == {"type", "dtype", "shape", "md5"}


def test_counts() -> None:
    array = np.array([-1, 0, 2, np.nan, np.inf, -np.inf], np.float32)
    found = describe_tensor(array, dtypes.float32, ITEMS)
    assert {item: found[item] for item in ITEMS if item not in KEYS and item != "md5"} == {
        "count": 6, "negative zero count": 2, "positive zero count": 2, "nan count": 1, "negative inf count": 1,
        "positive inf count": 1, "zero count": 1,
    }  # fmt: skip
    assert np.isnan(found["Max"])


@given(st.data(), st.booleans())
def test_any_tensor_can_be_told_as_json(data: Any, high: bool) -> None:
    dtype = data.draw(st.sampled_from(dtypes.ALL))
    shape = data.draw(hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3))
    bits = data.draw(st.binary(min_size=64 * 16, max_size=64 * 16))
    count = int(np.prod(shape))
    array = np.frombuffer(bits, np.uint8)[: count * dtype.itemsize]
    if dtype.kind == "b":
        array = array % 2
    array = array.copy().view(dtype.numpy).reshape(shape)
    found = describe_tensor(array, dtype, ITEMS, high=high)
    assert found.keys() >= {KEYS.get(item, item) for item in ITEMS}
    read = json.loads(json.dumps(found))
    assert read.keys() == found.keys()
    assert read["shape"] == list(shape)
