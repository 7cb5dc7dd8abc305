"""The messages at the head of an asynchronous dump file (``DumpData``), built in code.

Field names and numbers: MindSpore's public ``dump_data.proto``; the bytes its own tests write agree with them. Numbers
of fields that later releases of CANN add (attributes, spaces) are not public; readers skip them.
"""

from __future__ import annotations

from typing import Any

from harness.messages import build

# The enums are plain numbers here (the same on the wire): ``devices.formats`` knows the valid ones, and others must not
# be lost.
_MESSAGES = {
    "Shape": ("*dim 1 uint64",),
    "OriginalOp": ("name 1 string", "output_index 2 uint32", "data_type 3 int32", "format 4 int32"),
    "OpOutput": (
        "data_type 1 int32", "format 2 int32", "shape 3 Shape", "original_op 4 OriginalOp", "data 5 bytes",
        "size 6 uint64", "original_shape 7 Shape", "sub_format 8 int32",
    ),
    "OpInput": (
        "data_type 1 int32", "format 2 int32", "shape 3 Shape", "data 4 bytes", "size 5 uint64",
        "original_shape 6 Shape", "sub_format 7 int32",
    ),
    "OpBuffer": ("buffer_type 1 int32", "data 2 bytes", "size 3 uint64"),
    "DumpData": (
        "version 1 string", "dump_time 2 uint64", "*output 3 OpOutput", "*input 4 OpInput", "*buffer 5 OpBuffer",
        "op_name 6 string",
    ),
}  # fmt: skip


CLASSES: dict[str, Any] = build("harness.dump.asynchronous", _MESSAGES, syntax="proto3")
"""Message classes by name; typed as ``Any`` because they exist at run time only."""
