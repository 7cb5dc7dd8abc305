"""Builds protobuf message types in code, from one row per field."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_FIELD = descriptor_pb2.FieldDescriptorProto
_SCALARS = {
    "int32": _FIELD.TYPE_INT32, "uint32": _FIELD.TYPE_UINT32, "int64": _FIELD.TYPE_INT64,
    "uint64": _FIELD.TYPE_UINT64, "bool": _FIELD.TYPE_BOOL, "float": _FIELD.TYPE_FLOAT,
    "double": _FIELD.TYPE_DOUBLE, "string": _FIELD.TYPE_STRING, "bytes": _FIELD.TYPE_BYTES,
}  # fmt: skip


def build(
    package: str,
    messages: Mapping[str, Iterable[str]],
    enums: Mapping[str, Mapping[str, int]] | None = None,
    syntax: str = "proto2",
) -> dict[str, Any]:
    """Builds message classes by name in a separate descriptor pool, so that they cannot clash with another copy of the
    file.

    Args:
        package: name of the protobuf package.
        messages: for each message its fields, ``"name number type"``; a leading ``*`` for repeated. A type that is not
            a scalar is a message; one with a leading ``#`` is an enum. ``packed`` behind repeated numbers packs them.
        enums: numbers by name.
        syntax: ``proto2`` or ``proto3``; in the latter repeated numbers are packed.

    Returns:
        ``Any``, because the classes exist at run time only.
    """
    file = descriptor_pb2.FileDescriptorProto(name=f"{package}.proto", package=package, syntax=syntax)
    for name, values in (enums or {}).items():
        enum = file.enum_type.add(name=name)
        for key, value in values.items():
            enum.value.add(name=key, number=value)
    for name, rows in messages.items():
        message = file.message_type.add(name=name)
        for row in rows:
            _add_field(message, row, package)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{package}.{name}")) for name in messages}


def _add_field(message: descriptor_pb2.DescriptorProto, row: str, package: str) -> None:
    name, number, kind, *packed = row.split()
    label = _FIELD.LABEL_REPEATED if name.startswith("*") else _FIELD.LABEL_OPTIONAL
    field = message.field.add(name=name.lstrip("*"), number=int(number), label=label)
    if kind in _SCALARS:
        field.type = _SCALARS[kind]
        if packed:
            field.options.packed = True
    else:
        field.type = _FIELD.TYPE_ENUM if kind.startswith("#") else _FIELD.TYPE_MESSAGE
        field.type_name = f".{package}.{kind.lstrip('#')}"
