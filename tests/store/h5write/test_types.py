"""Datatypes: libhdf5 reads each as the one h5py would have made."""

from __future__ import annotations

from typing import Any

import h5py
import numpy as np
import pytest

from harness import dtypes
from harness.errors import StoreError
from harness.store.h5write.types import datatype
from harness.store.schema import INDEX_DTYPE

EVERY = [d.numpy for d in dtypes.ALL if d.name != "BFloat16"]


def decoded(dtype: np.dtype[Any], *, utf8: bool = False) -> Any:
    return h5py.h5t.decode(b"\x03\x00" + datatype(dtype, utf8=utf8))


@pytest.mark.parametrize("dtype", [*EVERY, INDEX_DTYPE, np.dtype("V16"), np.dtype("S7")], ids=str)
def test_equal_to_h5pys(dtype: np.dtype[Any]) -> None:
    assert decoded(dtype).dtype == dtype
    if dtype.kind != "S":  # h5py pads strings in another way
        assert decoded(dtype).equal(h5py.h5t.py_create(dtype, logical=True))


def test_strings() -> None:
    for utf8, charset in ((False, h5py.h5t.CSET_ASCII), (True, h5py.h5t.CSET_UTF8)):
        kind = decoded(np.dtype("S300"), utf8=utf8)
        assert (kind.get_size(), kind.get_cset(), kind.get_strpad()) == (300, charset, h5py.h5t.STR_NULLPAD)
        assert not kind.is_variable_str()


def test_enumerations_keep_their_names() -> None:
    names = {"output": 1, "input": 0, "minus": -5}
    kind = decoded(h5py.enum_dtype(names, "i2"))
    assert h5py.check_enum_dtype(kind.dtype) == names


@pytest.mark.parametrize("size", [255, 256, 65_535, 65_536])
def test_compounds_of_every_offset_width(size: int) -> None:
    dtype = np.dtype([("first", f"V{size - 9}"), ("second", "u1"), ("last", "<f8")])
    assert dtype.itemsize == size
    assert decoded(dtype).dtype == dtype


@pytest.mark.parametrize("dtype", ["O", "U3", "M8[s]", np.longdouble], ids=str)
def test_what_a_store_has_no_use_for(dtype: Any) -> None:
    with pytest.raises(StoreError, match="holds no arrays of numpy dtype"):
        datatype(np.dtype(dtype))
