"""The store that stays open between tests: one file, as long as it is the same one."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from harness.errors import StoreError
from harness.gate.stores import Opened
from harness.records import Record, SlotKey
from harness.store import RunData, RunId, update

RUN = RunId("cpu", "tensor")


def _write(path: Path, value: float) -> None:
    array = np.full(64, value, np.float32)
    key = SlotKey(0, 0, 0, "Default/Add-op0", 0, "output", 0)
    update(path, "net", {RUN: RunData([Record(key, "Add", "Float32", (64,), values=array)])})


def _value(opened: Opened, path: Path) -> float:
    array = next(iter(opened.open(path).run(*RUN).records())).load()
    assert array is not None
    return float(array[0])


def test_a_file_is_opened_once_and_its_tensors_are_read_once(tmp_path: Path) -> None:
    path, opened = tmp_path / "a.h5", Opened()
    _write(path, 1.0)
    store = opened.open(path)
    assert opened.open(path) is store
    first, second = (next(iter(store.run(*RUN).records())).load() for _ in range(2))
    assert first is second
    assert first is not None
    assert not first.flags.writeable
    opened.close()
    assert store.closed
    opened.close()


def test_another_file_closes_the_one_before(tmp_path: Path) -> None:
    one, other, opened = tmp_path / "a.h5", tmp_path / "b.h5", Opened()
    _write(one, 1.0)
    _write(other, 2.0)
    store = opened.open(one)
    assert _value(opened, other) == 2.0
    assert store.closed
    assert _value(opened, one) == 1.0
    opened.close()


def test_what_is_written_anew_is_read_anew(tmp_path: Path) -> None:
    path, opened = tmp_path / "a.h5", Opened()
    _write(path, 1.0)
    assert _value(opened, path) == 1.0
    _write(path, 2.0)
    assert _value(opened, path) == 2.0
    opened.close()


def test_damage_done_in_place_is_found(tmp_path: Path) -> None:
    path, opened = tmp_path / "a.h5", Opened()
    _write(path, 1.0)
    assert _value(opened, path) == 1.0
    before = os.stat(path)
    path.write_bytes(path.read_bytes()[:100])
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(StoreError):
        _value(opened, path)
    opened.close()


def test_no_file_is_an_error_each_time(tmp_path: Path) -> None:
    opened = Opened()
    for _ in range(2):
        with pytest.raises(FileNotFoundError):
            opened.open(tmp_path / "none.h5")
