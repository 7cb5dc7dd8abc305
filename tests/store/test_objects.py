"""Compression: HDF5's own filters, with bounds."""

from __future__ import annotations

import tracemalloc
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import StoreError
from harness.store.layout.objects import MIN_BYTES, pack, unpack


@given(st.integers(1, 16), st.integers(0, 400), st.integers(0, 3))
def test_round_trip(itemsize: int, count: int, values: int) -> None:
    raw = np.random.default_rng(count).integers(0, values + 1, itemsize * count).astype(np.uint8)
    packed = pack(raw, itemsize)
    if packed is None:
        assert raw.size < MIN_BYTES or len(zlib.compress(raw.tobytes())) > raw.size // 2
    else:
        assert len(packed) <= raw.size * 9 // 10
        assert np.array_equal(unpack(packed, raw.size, itemsize), raw)


def test_noise_is_not_packed() -> None:
    noise = np.random.default_rng(0).integers(0, 256, 4096).astype(np.uint8)
    assert pack(noise, 4) is None


@pytest.mark.parametrize("claimed", [0, 100, 4095, 4097, 10**6])
def test_another_length_than_claimed_is_an_error(claimed: int) -> None:
    packed = zlib.compress(bytes(4096))
    with pytest.raises(StoreError, match=r"does not hold|cannot hold"):
        unpack(packed, claimed, 1)


def test_damage_is_an_error() -> None:
    packed = bytearray(zlib.compress(bytes(4096)))
    with pytest.raises(StoreError, match="does not hold"):
        unpack(bytes(packed[:-4]), 4096, 1)
    packed[-1] ^= 1
    with pytest.raises(StoreError, match="damaged"):
        unpack(bytes(packed), 4096, 1)


def test_a_bomb_is_not_inflated() -> None:
    bomb = zlib.compress(bytes(64 * 2**20))
    tracemalloc.start()
    with pytest.raises(StoreError, match="does not hold"):
        unpack(bomb, 1000, 4)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2**20
