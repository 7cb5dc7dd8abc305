"""The messages at the head of an asynchronous dump file (``DumpData``), built in code.

Field names and numbers: MindSpore's public ``dump_data.proto``; the bytes its own tests write agree with them. Numbers
of fields that later releases of CANN add (attributes, spaces) are not public; readers skip them. The messages live in
a descriptor pool of their own, so that they cannot clash with another copy in the process.
"""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

PACKAGE = "harness.dump.asynchronous"

_FIELD = descriptor_pb2.FieldDescriptorProto
_SCALARS = {
    "int32": _FIELD.TYPE_INT32, "uint32": _FIELD.TYPE_UINT32, "uint64": _FIELD.TYPE_UINT64,
    "string": _FIELD.TYPE_STRING, "bytes": _FIELD.TYPE_BYTES,
}  # fmt: skip

# One row a field: "name number type", a leading * for repeated. The enums are plain numbers here (the same on the
# wire): which of them mean something is known by ``devices.formats``, and others must not be lost.
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


def _add_field(message: descriptor_pb2.DescriptorProto, row: str) -> None:
    name, number, kind = row.split()
    label = _FIELD.LABEL_REPEATED if name.startswith("*") else _FIELD.LABEL_OPTIONAL
    field = message.field.add(name=name.lstrip("*"), number=int(number), label=label)
    if kind in _SCALARS:
        field.type = _SCALARS[kind]
    else:
        field.type = _FIELD.TYPE_MESSAGE
        field.type_name = f".{PACKAGE}.{kind}"


def _build() -> dict[str, Any]:
    file = descriptor_pb2.FileDescriptorProto(name=f"{PACKAGE}.proto", package=PACKAGE, syntax="proto3")
    for name, rows in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for row in rows:
            _add_field(message, row)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{PACKAGE}.{name}")) for name in _MESSAGES
    }


CLASSES: dict[str, Any] = _build()
"""Message classes by name; typed as ``Any`` because they exist at run time only."""
