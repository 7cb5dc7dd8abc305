"""Element types that are converted before they are written."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.devices.saved import as_saved, pack_int4, split_int4
from harness.errors import DtypeError


def test_every_bfloat16_is_its_bits_shifted() -> None:
    patterns = np.arange(1 << 16, dtype=np.uint16).reshape(16, -1)
    saved = as_saved(patterns.view(ml_dtypes.bfloat16))
    assert saved.dtype == np.float32
    assert saved.shape == patterns.shape
    assert np.array_equal(saved.view(np.uint32), patterns.astype(np.uint32) << 16)
    assert as_saved(np.array(1.5, ml_dtypes.bfloat16)).shape == ()


def test_other_dtypes_are_written_as_they_are() -> None:
    array = np.arange(4, dtype=np.float16)
    assert as_saved(array) is array


def test_low_half_first_with_its_sign() -> None:
    assert split_int4(np.array([0x21, 0xF8], np.uint8)).tolist() == [1, 2, -8, -1]


@given(st.lists(st.integers(-8, 7)).map(lambda v: v[: len(v) // 2 * 2]))
def test_int4_round_trip(values: list[int]) -> None:
    array = np.array(values, np.int8)
    assert split_int4(pack_int4(array)).tolist() == values
    assert split_int4(pack_int4(array).view(np.int8)).tolist() == values


@pytest.mark.parametrize("bad", [np.zeros(3, np.int8), np.zeros((2, 2), np.int8), np.zeros(2, np.int16),
                                 np.array([8, 0], np.int8), np.array([-9, 0], np.int8)])  # fmt: skip
def test_what_cannot_be_packed(bad: np.ndarray) -> None:
    with pytest.raises(DtypeError, match="int4"):
        pack_int4(bad)


@pytest.mark.parametrize("bad", [np.zeros(3, np.int16), np.zeros((2, 2), np.int8)])
def test_what_is_no_packed_int4(bad: np.ndarray) -> None:
    with pytest.raises(DtypeError, match="packed int4 is one dimension of bytes"):
        split_int4(bad)
