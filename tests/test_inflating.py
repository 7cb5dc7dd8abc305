"""Compressed data from elsewhere."""

from __future__ import annotations

import io
import tracemalloc
import zipfile
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import StoreError
from harness.inflating import inflate, member


@given(st.binary(max_size=2000), st.integers(1, 50))
def test_what_was_deflated_is_inflated(data: bytes, times: int) -> None:
    whole = data * times
    assert inflate(zlib.compress(whole), len(whole), "x", StoreError) == whole


@given(st.binary(min_size=1, max_size=500), st.data())
def test_anything_else_is_an_error(data: bytes, draw: st.DataObject) -> None:
    packed = bytearray(zlib.compress(data))
    packed[draw.draw(st.integers(0, len(packed) - 1))] ^= draw.draw(st.integers(1, 255))
    try:
        found = inflate(bytes(packed), len(data), "x", StoreError)
    except StoreError:
        return
    assert found == data


@pytest.mark.parametrize("size", [0, 99, 101, 10**12])
def test_another_size_is_an_error(size: int) -> None:
    with pytest.raises(StoreError, match="x: "):
        inflate(zlib.compress(b"a" * 100), size, "x", StoreError)


def test_a_bomb_is_not_inflated() -> None:
    packed = zlib.compress(b"\0" * (1 << 26))
    tracemalloc.start()
    try:
        with pytest.raises(StoreError):
            inflate(packed, 1000, "x", StoreError)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def archive(data: bytes, **changed: int) -> tuple[zipfile.ZipFile, zipfile.ZipInfo]:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("a", data)
    opened = zipfile.ZipFile(file)
    (info,) = opened.infolist()
    for name, value in changed.items():
        setattr(info, name, value)
    return opened, info


def test_members_have_the_size_the_archive_says() -> None:
    data = bytes(range(256)) * 5000
    assert b"".join(member(*archive(data), "z", StoreError)) == data
    with pytest.raises(StoreError, match="cannot hold"):
        list(member(*archive(data, file_size=1 << 40), "z", StoreError))
    with pytest.raises(StoreError, match="z: 'a': "):
        list(member(*archive(data, file_size=len(data) + 1), "z", StoreError))
    with pytest.raises(StoreError, match="z: 'a': "):
        list(member(*archive(data, compress_type=99), "z", StoreError))
    with pytest.raises(StoreError, match="z: 'a': "):
        list(member(*archive(data, CRC=1), "z", StoreError))
