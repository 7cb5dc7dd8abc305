"""The checksum of HDF5's metadata: libhdf5 is the judge."""

from __future__ import annotations

import struct
from pathlib import Path

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.store.h5write.lookup3 import _MANY, _SHORT, checksum, checksums

NAMES = {"one": [b"a"], "two": [b"ab"], "long": [b"long name " * 20], "many": [b"%d" % n for n in range(50)]}


@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
def test_libhdf5_made_the_same(tmp_path: Path, names: list[bytes]) -> None:
    """Every block of a file libhdf5 wrote: superblock and object headers end with the checksum of what is before."""
    path = tmp_path / "x.h5"
    with h5py.File(path, "w", libver="latest") as file:
        for name in names:
            file.attrs[name.decode()] = np.arange(3)
    raw = path.read_bytes()
    blocks = [raw[:48]]
    at = raw.find(b"OHDR")
    while at >= 0:
        blocks.append(raw[at : at + header_length(raw[at:])])
        at = raw.find(b"OHDR", at + 4)
    assert len(blocks) > 1
    for block in blocks:
        assert checksum(block[:-4]) == struct.unpack("<I", block[-4:])[0]


def header_length(raw: bytes) -> int:
    """Bytes of the object header ``raw`` begins with."""
    flags = raw[5]
    at = 6 + (16 if flags & 0x20 else 0) + (4 if flags & 0x10 else 0)
    width = 1 << (flags & 3)
    return at + width + int.from_bytes(raw[at : at + width], "little") + 4


@given(st.binary(max_size=60), st.integers(_MANY, _MANY + 4))
def test_many_at_once_are_the_same_as_one_by_one(string: bytes, count: int) -> None:
    strings = [bytes([n]) + string for n in range(count)] + [string]
    assert checksums(strings) == [checksum(s) for s in strings]


@given(st.binary(min_size=1, max_size=40), st.data())
def test_one_bit_changes_it(string: bytes, data: st.DataObject) -> None:
    bit = data.draw(st.integers(0, len(string) * 8 - 1))
    other = bytearray(string)
    other[bit // 8] ^= 1 << bit % 8
    assert checksum(bytes(other)) != checksum(string)
    assert checksum(string + b"\0") != checksum(string)


@pytest.mark.parametrize("size", [_SHORT - 1, _SHORT, _SHORT + 1])
def test_a_remembered_checksum_is_the_computed_one(size: int) -> None:
    string = bytes(range(256)) * (size // 256 + 1)
    string = string[:size]
    together = checksums([string] * _MANY)
    assert set(together) == {checksum(string)} == {checksum(string)}  # the second time, remembered or not
