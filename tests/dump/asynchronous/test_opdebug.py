"""Overflow records of both layouts, both ways."""

from __future__ import annotations

import json
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.dump.asynchronous import opdebug
from harness.dump.asynchronous.opdebug import build, core_overflow, from_json, parse, to_json
from harness.errors import TreeError

WORD = st.integers(0, 2**64 - 1)


@given(st.binary(min_size=2048, max_size=2048))
def test_old_records_are_read_back(data: bytes) -> None:
    record = parse(data, "f")
    again = build(record)
    assert parse(again, "f") == record
    assert len(again) == len(data)
    # Every byte that a field stands in is the same.
    for start, words in ((0, 6), (128, 6), (256, 6), (512, 1), (768, 1), (1024, 3)):
        assert again[start : start + 8 * words] == data[start : start + 8 * words]


def words_of(acc_type: int, version: int) -> int:
    status_list = acc_type in (0, 1) and version == 1
    return {0: 11, 1: 11, 2: 8, 3: 10}[acc_type] + (3 if status_list else 0)


@given(st.data(), st.integers(0, 3), st.sampled_from([0, 1, 7]))
def test_new_records_are_read_back_bit_for_bit(data: st.DataObject, acc_type: int, version: int) -> None:
    words = data.draw(st.lists(WORD, min_size=words_of(acc_type, version), max_size=words_of(acc_type, version)))
    content = struct.pack("<6I", opdebug.MAGIC, version, 1, acc_type, 5, 8 * len(words))
    content += struct.pack(f"<{len(words)}Q", *words)
    record = parse(content, "f")
    assert build(record) == content
    assert record["acc_list"]["acc_type"] == ("AIC", "AIV", "AICPU", "SDMA")[acc_type]
    for compact in (False, True):
        assert from_json(to_json(record, compact=compact), "f") == record


def test_addresses_are_hexadecimal() -> None:
    record = parse(struct.pack("<6Q", 1, 2, 3, 4, 0x1008005B0000, 6) + bytes(2000), "f")
    assert record["DHA Atomic Add"]["pc_start"] == "0x1008005b0000"
    assert record["AI Core"]["kernel_code"] == "0x0"
    assert list(record) == ["DHA Atomic Add", "L2 Atomic Add", "AI Core"]


def test_json_as_each_tool_writes_it() -> None:
    record = core_overflow(1, 2, 3, 32, old=True)
    assert to_json(record) == json.dumps(record, indent=4)
    assert to_json(record, compact=True) == json.dumps(record, sort_keys=True, separators=(",", ":"))


@pytest.mark.parametrize("old", [True, False])
def test_a_record_names_its_kernel(old: bool) -> None:
    record = parse(build(core_overflow(57, 563, 514, 32, old=old)), "f")
    core = record["AI Core"] if old else record["acc_list"]["data"]
    assert (core["task_id"], core["stream_id"], core["model_id"], core["status"]) == (57, 563, 514, 32)


HEAD = struct.pack("<2I", opdebug.MAGIC, 0)
BAD: dict[str, bytes] = {
    "empty": b"", "short": b"\0" * 2047, "long": b"\0" * 2049, "magic alone": HEAD, "half a head": HEAD[:5],
    "no data": HEAD + struct.pack("<4I", 1, 0, 0, 88),
    "accelerator 4": HEAD + struct.pack("<4I", 1, 4, 0, 88) + bytes(88),
    "a word too few": HEAD + struct.pack("<4I", 1, 0, 0, 88) + bytes(80),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_damaged_records(name: str) -> None:
    with pytest.raises(TreeError, match=r"^f: an overflow record"):
        parse(BAD[name], "f")


def without(record: dict[str, Any], *keys: str) -> dict[str, Any]:
    part = record
    for key in keys[:-1]:
        part = part[key]
    del part[keys[-1]]
    return record


OLD, NEW = core_overflow(1, 2, 3, 4, old=True), core_overflow(1, 2, 3, 4, old=False)
TEXTS: dict[str, str] = {
    "no json": "{",
    "no object": "[]",
    "deep": "[" * 100_000,
    "no section": to_json({"AI Core": {}}),
    "no field": to_json(without(core_overflow(1, 2, 3, 4, old=True), "AI Core", "status")),
    "no number": to_json(OLD | {"AI Core": OLD["AI Core"] | {"status": "x"}}),
    "a list": to_json(OLD | {"AI Core": []}),
    "too large": to_json(OLD | {"AI Core": OLD["AI Core"] | {"status": 2**64}}),
    "negative": to_json(NEW | {"version": -1}),
    "no accelerator": to_json(NEW | {"acc_list": NEW["acc_list"] | {"acc_type": "GPU"}}),
    "another magic": to_json(NEW | {"magic": "0x1"}),
}


@pytest.mark.parametrize("name", TEXTS)
def test_json_that_is_no_record(name: str) -> None:
    with pytest.raises(TreeError, match=r"^f: "):
        from_json(TEXTS[name], "f")


def test_names_of_records() -> None:
    assert opdebug.is_record("Opdebug.Node_OpDebug.57.563.1623124369613541")
    assert not opdebug.is_record("Conv2D.Conv2D-op0.1.2.1623124369613541")
