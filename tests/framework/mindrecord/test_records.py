"""MindRecord files: a round trip keeps all rows; the layout is MindSpore's (its own bytes, measured); damage is an
error."""

from __future__ import annotations

import shutil
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import HarnessError, SettingError, SettingTypeError, StateError
from harness.framework import dataset as ds
from harness.framework.mindrecord import FileWriter
from harness.framework.mindrecord.layout import HEADER, PAGE, pack_integers, unpack_integers

pytest.importorskip("msgpack")

SCHEMA: dict[str, Any] = {
    "name": {"type": "string"}, "label": {"type": "int32"}, "data": {"type": "bytes"}, "f": {"type": "float64"},
    "v": {"type": "float32", "shape": [2, -1]}, "i": {"type": "int64", "shape": [-1]},
}  # fmt: skip


def rows(count: int) -> list[dict[str, Any]]:
    return [
        {"name": f"x{i}", "label": i - 2, "data": bytes([i + 1] * (i + 1)), "f": i / 7,
         "v": np.full((2, 3), i, np.float32), "i": np.array([i, -(2 ** (6 * i))])}
        for i in range(count)
    ]  # fmt: skip


@pytest.fixture
def files(tmp_path: Path) -> str:
    writer = FileWriter(str(tmp_path / "a.mr"), 2)
    writer.add_schema(SCHEMA, "six kinds")
    writer.add_index(["label"])
    writer.write_raw_data(rows(4))
    writer.write_raw_data(rows(5)[4:])
    assert writer.commit() == "SUCCESS"
    return str(tmp_path / "a.mr")


def read(dataset: Any) -> list[dict[str, Any]]:
    return list(dataset.create_dict_iterator(num_epochs=1, output_numpy=True))


def test_rows_come_back(files: str) -> None:
    for given_files in (files + "0", [files + "0", files + "1"]):
        found = read(ds.MindDataset(given_files, shuffle=False))
        assert [list(row) for row in found] == [["data", "f", "i", "label", "name", "v"]] * 5
        for row, wanted in zip(found, rows(5), strict=True):
            assert (row["name"], row["label"], row["f"]) == (wanted["name"], wanted["label"], wanted["f"])
            assert bytes(row["data"][0]) == wanted["data"]
            np.testing.assert_array_equal(row["v"], wanted["v"])
            np.testing.assert_array_equal(row["i"], wanted["i"])
            assert (row["label"].dtype, row["v"].dtype, row["i"].dtype) == (np.int32, np.float32, np.int64)


def test_columns_and_parts(files: str) -> None:
    dataset = ds.MindDataset(files + "0", columns_list=["label"], shuffle=False, num_shards=2, shard_id=1)
    assert [int(row["label"]) for row in read(dataset)] == [-1, 1, -2]
    with pytest.raises(SettingError, match="no columns"):
        ds.MindDataset(files + "0", columns_list=["nothing"])
    with pytest.raises(SettingError, match="does not exist"):
        ds.MindDataset(files + "9")


@pytest.mark.parametrize(
    ("values", "packed"),
    [
        ([0], "000000010000"), ([1, 2], "00000002000102"), ([127, -1, 128], "00000003047fff8000"),
        ([40000, -40000], "00000002a0409c0000c063ffff"), ([2**40], "00000001c00000000000010000"),
        ([-128, -129], "0000000210807fff"), ([300, -300], "00000002502c01d4fe"),
    ],
)  # fmt: skip
def test_integers_are_packed_as_mindspore_packs_them(values: list[int], packed: str) -> None:
    assert pack_integers(np.array(values, np.int64)).hex() == packed
    assert unpack_integers(bytes.fromhex(packed), np.int64).tolist() == values


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=20))
def test_integers_come_back(values: list[int]) -> None:
    assert unpack_integers(pack_integers(np.array(values, np.int64)), np.int64).tolist() == values


@given(st.binary(max_size=40))
def test_any_bytes_are_integers_or_refused(data: bytes) -> None:
    try:
        unpack_integers(data, np.int64)
    except StateError:
        return


def test_the_layout_is_a_header_and_pages(files: str) -> None:
    data = Path(files + "0").read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    assert data[8 : 8 + length].startswith(b'{"header_size": 16777216')
    assert struct.unpack("<Q", data[HEADER : HEADER + 8])[0] < 200
    assert data[HEADER + PAGE + 8] == 0x83
    assert struct.unpack(">Q", data[HEADER + 8 : HEADER + 16])[0] == 1


def test_what_does_not_fit_is_named(tmp_path: Path, files: str) -> None:
    writer = FileWriter(str(tmp_path / "b.mr"))
    with pytest.raises(StateError, match="add_schema comes before"):
        writer.write_raw_data([])
    for content, error in (({}, SettingTypeError), ({"a": {"type": "int8"}}, SettingError), ({"a": 3}, SettingError)):
        with pytest.raises(error):
            writer.add_schema(content)
    writer.add_schema(SCHEMA)
    for row, word in (({}, "lacks"), ({**rows(1)[0], "label": "x"}, "label"), ({**rows(1)[0], "name": 3}, "name")):
        with pytest.raises(SettingError, match=word):
            writer.write_raw_data([row])
    with pytest.raises(SettingError, match="not a column of numbers"):
        writer.add_index(["data"])
    again = FileWriter(files, 2)
    again.add_schema(SCHEMA)
    with pytest.raises(StateError, match="exists"):
        again.commit()


@pytest.mark.parametrize("damage", ["empty", "text", "cut", "no index", "index", "other index"])
def test_damage_is_told(damage: str, files: str, tmp_path: Path) -> None:
    target = Path(files + "0")
    index = Path(files + "0.db")
    if damage == "empty":
        target.write_bytes(b"")
    elif damage == "text":
        target.write_bytes(b"not a record" * 100)
    elif damage == "cut":
        target.write_bytes(target.read_bytes()[: HEADER + 20])
    elif damage == "no index":
        index.unlink()
    elif damage == "index":
        index.write_bytes(b"no database")
    else:
        shutil.copy(files + "1.db", index)
        target.write_bytes(target.read_bytes()[:HEADER] + bytes(PAGE))
    with pytest.raises(HarnessError, match="MindRecord"):
        read(ds.MindDataset(files + "0", shuffle=False))
