"""TFRecord files: rows, orders, schemas and refusals are those recorded from MindSpore 2.10.0.

``tests/data/dataset/tfrecord.json`` is what ``tests/interop/tfrecord_facts.py`` wrote under it.
"""

from __future__ import annotations

import gzip
import json
import struct
import subprocess
import sys
import zlib
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.crc import masked_crc
from harness.errors import StateError
from harness.framework import dataset as ds
from tests.subprocesses import ROOT

RECORDED = ROOT / "tests" / "data" / "dataset" / "tfrecord.json"
#: a ``tf.train.Example`` with ``i`` of one int64, 3
EXAMPLE = bytes.fromhex("0a0c0a0a0a01691205") + bytes.fromhex("1a030a0103")


@pytest.mark.long
def test_facts(tmp_path: Path) -> None:
    script, out = ROOT / "tests" / "interop" / "tfrecord_facts.py", tmp_path / "facts.json"
    command = [sys.executable, "-m", "harness.cli", "run", str(script), str(out)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found, recorded = json.loads(out.read_text()), json.loads(RECORDED.read_text())
    assert len(recorded) > 200
    assert list(found) == list(recorded)
    assert {name: value for name, value in found.items() if value != recorded[name]} == {}


def record(payload: bytes, length: int | None = None) -> bytes:
    head = struct.pack("<Q", len(payload) if length is None else length)
    return head + struct.pack("<I", masked_crc(head)) + payload + bytes(4)


def read(path: Path, **more: object) -> list[int]:
    return [int(row["i"][0]) for row in ds.TFRecordDataset(str(path), shuffle=False, **more).create_dict_iterator(1)]


def test_reads(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(record(EXAMPLE) * 2)
    assert read(tmp_path / "a") == [3, 3]


def test_operations_of_datasets_follow(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(record(EXAMPLE) * 4)
    rows = ds.TFRecordDataset(str(tmp_path / "a")).shuffle(2).repeat(2).batch(8)
    assert [row["i"].shape for row in rows.create_dict_iterator(1)] == [(8, 1)]


@pytest.mark.parametrize("compression", ["", "GZIP", "ZLIB"])
def test_a_length_beyond_the_file_is_refused_before_it_is_read(tmp_path: Path, compression: str) -> None:
    pack = {"": bytes, "GZIP": gzip.compress, "ZLIB": zlib.compress}[compression]
    (tmp_path / "a").write_bytes(pack(record(EXAMPLE) + record(b"abc", 1 << 50)))
    with pytest.raises(StateError, match="ends inside record 1"):
        read(tmp_path / "a", compression_type=compression)


def test_a_float_column_does_not_become_ints(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(record(EXAMPLE))
    schema = ds.Schema()
    schema.add_column("i", "float32")
    with pytest.raises(StateError, match="int64_list, which cannot become float32"):
        read(tmp_path / "a", schema=schema)


@given(at=st.integers(0, 80), byte=st.integers(0, 255), compression=st.sampled_from(["", "GZIP", "ZLIB"]))
def test_a_damaged_file_gives_rows_or_one_error(
    tmp_path_factory: pytest.TempPathFactory, at: int, byte: int, compression: str
) -> None:
    path = tmp_path_factory.mktemp("damaged") / "a"
    pack = {"": bytes, "GZIP": gzip.compress, "ZLIB": zlib.compress}[compression]
    data = bytearray(pack(record(EXAMPLE) * 3))
    data[at % len(data)] = byte
    path.write_bytes(data)
    with_it = ds.TFRecordDataset(str(path), shuffle=False, compression_type=compression)
    with suppress(StateError):
        assert len(list(with_it.create_dict_iterator(1, output_numpy=True))) <= 3
