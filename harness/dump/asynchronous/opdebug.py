"""Overflow records (``Opdebug.Node_OpDebug.{task}.{stream}.{timestamp}``): bytes as a chip writes them, and as json.

Older chips give 2048 bytes with three sections; newer ones a magic word, a version and one list of an accelerator.
Sources: MindSpore's public reader of the former; msaccucmp 26.2.0, run on both. Integers are little endian.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from typing import Any

from harness.errors import TreeError

Record = dict[str, Any]
"""As the json shows it: integers, hexadecimal texts for addresses, nested."""

OP_TYPE = "Opdebug"
OP_NAME = "Node_OpDebug"
PREFIX = f"{OP_TYPE}.{OP_NAME}."

OLD_SIZE = 2048
_TASK = ("model_id", "stream_id", "task_id", "task_type", "pc_start", "para_base")
_CORE = ("kernel_code", "block_idx", "status")
# section, position of its task, position of its status, fields of the status
_SECTIONS = (
    ("DHA Atomic Add", 0, 512, ("status",)),
    ("L2 Atomic Add", 128, 768, ("status",)),
    ("AI Core", 256, 1024, _CORE),
)

MAGIC = 0x5A5A5A5A
ACC_TYPES = ("AIC", "AIV", "AICPU", "SDMA")
_HEAD = struct.Struct("<2I")
_ACC = struct.Struct("<4I")
_ACC_FIELDS = ("valid", "acc_type", "rsv", "data_len")
_CORES = (
    "model_id", "stream_id", "task_id", "task_type", "context_id", "thread_id", "pc_start", "para_base", "core_id",
    "block_id", "status",
)  # fmt: skip
_DATA = {
    "AIC": _CORES,
    "AIV": _CORES,
    "AICPU": ("model_id", "stream_id", "task_id", "task_type", "context_id", "cpu_id", "thread_id", "status"),
    "SDMA": (
        "model_id", "stream_id", "task_id", "task_type", "context_id", "thread_id", "src_addr", "dst_addr",
        "channel_id", "status",
    ),
}  # fmt: skip
_STATUS_WORDS = 4
"""Number of status words that cores report in version 1."""

_HEX = frozenset({"magic", "pc_start", "para_base", "kernel_code", "src_addr", "dst_addr"})
_WORD = 8


def is_record(file_name: str) -> bool:
    """Whether a file of this name holds overflow records."""
    return file_name.startswith(PREFIX)


def parse(data: bytes | memoryview, where: str) -> Record:
    """Reads a record of either layout.

    Args:
        data: the bytes of an output of the file.
        where: file and output, for messages.

    Raises:
        TreeError: it is neither.
    """
    if len(data) >= _HEAD.size and int.from_bytes(data[:4], "little") == MAGIC:
        return _parse_new(data, where)
    if len(data) != OLD_SIZE:
        raise TreeError(
            f"{where}: an overflow record starts with {MAGIC:#x} or has {OLD_SIZE} bytes; this one has {len(data)}"
        )
    record: Record = {}
    for section, task, status, fields in _SECTIONS:
        record[section] = _words(data, task, _TASK, where) | _words(data, status, fields, where)
    return record


def _words(data: bytes | memoryview, at: int, fields: Sequence[str], where: str) -> Record:
    end = at + _WORD * len(fields)
    if end > len(data):
        raise TreeError(f"{where}: an overflow record that ends at byte {len(data)}, before byte {end}")
    values = struct.unpack_from(f"<{len(fields)}Q", data, at)
    return {field: _shown(field, value) for field, value in zip(fields, values, strict=True)}


def _shown(field: str, value: int) -> int | str:
    return hex(value) if field in _HEX else value


def _parse_new(data: bytes | memoryview, where: str) -> Record:
    start = _HEAD.size + _ACC.size
    if len(data) < start:
        raise TreeError(f"{where}: an overflow record of {len(data)} bytes; the fields before its data have {start}")
    magic, version = _HEAD.unpack_from(data)
    acc: Record = dict(zip(_ACC_FIELDS, _ACC.unpack_from(data, _HEAD.size), strict=True))
    if acc["acc_type"] >= len(ACC_TYPES):
        raise TreeError(f"{where}: an overflow record of accelerator type {acc['acc_type']}; known are 0 to 3")
    acc["acc_type"] = ACC_TYPES[acc["acc_type"]]
    fields = _DATA[acc["acc_type"]]
    if _has_status_list(acc["acc_type"], version):
        acc["data"] = _words(data, start, fields[:-1], where)
        at = start + _WORD * (len(fields) - 1)
        acc["data"]["status"] = list(_words(data, at, [str(n) for n in range(_STATUS_WORDS)], where).values())
    else:
        acc["data"] = _words(data, start, fields, where)
    return {"magic": hex(magic), "version": version, "acc_list": acc}


def _has_status_list(acc_type: str, version: int) -> bool:
    return acc_type in ("AIC", "AIV") and version == 1


def build(record: Mapping[str, Any], where: str = "overflow record") -> bytes:
    """The bytes of a record; ``parse`` reads them back to the same.

    Args:
        record: as ``parse`` gives it; ``data_len`` may be left out.
        where: for messages.

    Raises:
        TreeError: a field is missing, or does not fit.
    """
    try:
        return _build_new(record) if "magic" in record else _build_old(record)
    except (KeyError, ValueError, TypeError, AttributeError, struct.error) as error:
        raise TreeError(f"{where}: no overflow record: {type(error).__name__}: {error}") from None


def _build_old(record: Mapping[str, Any]) -> bytes:
    data = bytearray(OLD_SIZE)
    for section, task, status, fields in _SECTIONS:
        values = record[section]
        struct.pack_into(f"<{len(_TASK)}Q", data, task, *(_number(values[field]) for field in _TASK))
        struct.pack_into(f"<{len(fields)}Q", data, status, *(_number(values[field]) for field in fields))
    return bytes(data)


def _build_new(record: Mapping[str, Any]) -> bytes:
    version, acc = record["version"], record["acc_list"]
    words: list[int] = []
    for field in _DATA[acc["acc_type"]]:
        value = acc["data"][field]
        given = value if field == "status" and _has_status_list(acc["acc_type"], version) else [value]
        words += map(_number, given)
    data = struct.pack(f"<{len(words)}Q", *words)
    head = _HEAD.pack(_number(record["magic"]), version)
    acc_type = ACC_TYPES.index(acc["acc_type"])
    return head + _ACC.pack(acc["valid"], acc_type, acc["rsv"], acc.get("data_len", len(data))) + data


def _number(value: int | str) -> int:
    return int(value, 16) if isinstance(value, str) else value


def to_json(record: Record, *, compact: bool = False) -> str:
    """The text of a record: four blanks as msaccucmp indents, or compact with sorted keys as MindSpore writes it."""
    if compact:
        return json.dumps(record, sort_keys=True, separators=(",", ":"))
    return json.dumps(record, indent=4)


def from_json(text: str | bytes, where: str) -> Record:
    """Reads ``to_json``'s text; ``TreeError`` if it is not a record."""
    try:
        record = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise TreeError(f"{where}: no json: {error}") from None
    if not isinstance(record, dict):
        raise TreeError(f"{where}: an overflow record is an object, got {type(record).__name__}")
    return parse(build(record, where), where)


def core_overflow(task_id: int, stream_id: int, model_id: int, status: int, *, old: bool) -> Record:
    """The record of a kernel on an AI core whose results overflowed; what an emulation does not have is 0.

    Args:
        task_id, stream_id, model_id: of the kernel.
        status: bits the chip sets.
        old: the layout of older chips.
    """
    ids = {"model_id": model_id, "stream_id": stream_id, "task_id": task_id}
    if old:
        empty = {**dict.fromkeys(_TASK, 0), "pc_start": hex(0), "para_base": hex(0)}
        core = {**empty, **ids, "kernel_code": hex(0), "block_idx": 0, "status": status}
        return {"DHA Atomic Add": {**empty, "status": 0}, "L2 Atomic Add": {**empty, "status": 0}, "AI Core": core}
    unknown = {"task_type": 0, "context_id": 65535, "thread_id": 65535}
    data = {**ids, **unknown, "pc_start": hex(0), "para_base": hex(0), "core_id": 0, "block_id": 0, "status": status}
    acc = {"valid": 1, "acc_type": "AIC", "rsv": 0, "data_len": _WORD * len(_CORES), "data": data}
    return {"magic": hex(MAGIC), "version": 0, "acc_list": acc}
