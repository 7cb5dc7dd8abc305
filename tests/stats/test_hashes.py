"""MD5 and SHA1 of a tensor's bytes, against hashlib."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.stats.hashes import SHA1_CHUNK, md5, sha1


@pytest.mark.parametrize("size", [0, 1, SHA1_CHUNK - 1, SHA1_CHUNK, SHA1_CHUNK + 1, 2 * SHA1_CHUNK, 2 * SHA1_CHUNK + 1])
@pytest.mark.parametrize("dtype", [np.bool_, np.float16, np.float64])
def test_sha1_is_chunked_by_elements(size: int, dtype: type) -> None:
    array = (np.arange(size) % 7).astype(dtype)
    chunks = [array[at : at + SHA1_CHUNK].tobytes() for at in range(0, size, SHA1_CHUNK)]
    joined = "".join(hashlib.sha1(chunk).hexdigest() for chunk in chunks).encode()
    expected = hashlib.sha1(array.tobytes() if size <= SHA1_CHUNK else joined).hexdigest()
    assert sha1(array) == expected


@given(st.lists(st.integers(-5, 5), min_size=4, max_size=4), st.sampled_from(["<i2", ">i2", "<f4", ">f8"]))
def test_bytes_are_little_endian_in_c_order(values: list[int], dtype: str) -> None:
    array = np.array(values, dtype).reshape(2, 2).T
    raw = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<")).tobytes()
    assert md5(array) == hashlib.md5(raw).hexdigest()
    assert sha1(array) == hashlib.sha1(raw).hexdigest()
