"""Records of event files: framing, check sums, damage."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from harness.errors import CheckpointError
from harness.framework.train.summary.records import RecordFile, framed, masked_crc, read
from harness.framework.train.summary.values import bins_for, histogram


def test_check_sums_are_those_of_the_standard() -> None:
    """The check value of CRC-32C (RFC 3720): of "123456789" it is E3069283; then masked."""
    plain = 0xE3069283
    assert masked_crc(b"123456789") == ((plain >> 15 | plain << 17) + 0xA282EAD8) & 0xFFFFFFFF


@given(st.lists(st.binary(max_size=40), max_size=5))
def test_records_come_back(payloads: list[bytes]) -> None:
    assert list(read(b"".join(map(framed, payloads)), "x")) == payloads


@given(st.binary(min_size=1, max_size=40), st.data())
def test_a_changed_byte_is_found(payload: bytes, data: st.DataObject) -> None:
    whole = bytearray(framed(payload))
    at = data.draw(st.integers(0, len(whole) - 1))
    whole[at] ^= data.draw(st.integers(1, 255))
    with pytest.raises(CheckpointError, match="x: "):
        list(read(bytes(whole), "x"))


@given(st.binary(min_size=1, max_size=40), st.data())
def test_a_cut_file_is_found(payload: bytes, data: st.DataObject) -> None:
    whole = framed(payload)
    with pytest.raises(CheckpointError):
        list(read(whole[: data.draw(st.integers(1, len(whole) - 1))], "x"))


def test_two_files_of_one_second_have_names_of_their_own(tmp_path: Path) -> None:
    files = [RecordFile(tmp_path, "_MS", 0) for _ in range(2)]
    for file in files:
        assert file.path is None
        file.add(b"one")
        file.add(b"two")
        file.close()
    names = os.listdir(tmp_path)
    assert len(names) == 2
    for name in names:
        path = tmp_path / name
        assert list(read(path.read_bytes(), name)) == [b"one", b"two"]
        assert stat.S_IMODE(path.stat().st_mode) == 0o400


@given(hnp.arrays(np.float32, hnp.array_shapes(max_dims=2), elements=st.floats(width=32)))
def test_a_histogram_counts_every_element(array: np.ndarray) -> None:
    with np.errstate(all="ignore"):
        found = histogram(array)
    invalid = found.nan_count + found.pos_inf_count + found.neg_inf_count
    assert found.count == array.size
    valid = array.size - invalid
    assert len(found.buckets) in (0, bins_for(valid))
    if valid and np.abs(array[np.isfinite(array)]).max() < 1e30:
        assert sum(bucket.count for bucket in found.buckets) == valid


def test_bins_are_as_many_as_measured() -> None:
    assert [bins_for(count) for count in (0, 2, 5, 6, 10, 11, 880, 881, 10**6)] == [1, 2, 2, 3, 3, 2, 89, 90, 90]
