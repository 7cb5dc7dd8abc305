"""``tf.train.Example``: the records of TFRecord files, as rows of arrays.

Source: the published ``example.proto``; types and shapes of MindSpore 2.10.0, measured
(``tests/interop/tfrecord_facts.py``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from harness.errors import StateError
from harness.framework.dataset.base import Array
from harness.framework.dataset.schema import Column
from harness.messages import build

_MESSAGES = build(
    "harness.framework.dataset.examples",
    {
        "Example": ("features 1 Features",),
        "Features": ("*feature 1 Entry",),
        "Entry": ("key 1 string", "value 2 Feature"),
        "Feature": ("bytes_list 1 BytesList", "float_list 2 FloatList", "int64_list 3 Int64List"),
        "BytesList": ("*value 1 bytes",),
        "FloatList": ("*value 1 float",),
        "Int64List": ("*value 1 int64",),
    },
    syntax="proto3",
)
#: the type of a column that no schema names
_INFERRED = {"bytes_list": "uint8", "float_list": "float32", "int64_list": "int64"}
#: types that a list of each kind can become
_ACCEPTED = {
    "bytes_list": ("uint8", "string"),
    "float_list": ("float16", "float32", "float64"),
    "int64_list": ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"),
}


def features(record: bytes, where: str) -> dict[str, Any]:
    """The features of a record by name; ``StateError`` if it is no ``tf.train.Example``."""
    try:
        example = _MESSAGES["Example"].FromString(record)
    except DecodeError:
        raise StateError(f"TFRecordDataset: {where} is no tf.train.Example") from None
    return {entry.key: entry.value for entry in example.features.feature}


def _list(feature: Any, name: str, where: str) -> tuple[str, Any]:
    """The kind of a feature's list, and its values; ``StateError`` unless it has exactly one list."""
    given = [kind for kind in ("int64_list", "bytes_list", "float_list") if feature.HasField(kind)]
    if len(given) != 1:
        raise StateError(f"TFRecordDataset: {where}: column {name!r} has {len(given)} lists of values, one is needed")
    return given[0], getattr(feature, given[0]).value


def inferred(record: dict[str, Any], wanted: Sequence[str], where: str) -> list[Column]:
    """The columns of a first row: ``wanted``, or all by name.

    Raises:
        StateError: there is no such column, or it has no values.
    """
    names = list(wanted) or sorted(record)
    if missing := [name for name in names if name not in record]:
        raise StateError(f"TFRecordDataset: {where}: there is no column {missing[0]!r}; there are {sorted(record)}")
    return [Column(name, _INFERRED[_list(record[name], name, where)[0]], None) for name in names]


def value(record: dict[str, Any], column: Column, where: str, padded: bool) -> Array:
    """A column's array.

    Args:
        record: the features of a row.
        column: what the schema says, or the first row.
        where: the record, for messages.
        padded: whether texts that become bytes are filled up to the longest with spaces: where no schema is given.

    Raises:
        StateError: the row lacks it, or it has another type or shape.
    """
    if column.name not in record:
        raise StateError(f"TFRecordDataset: {where}: there is no column {column.name!r}; there are {sorted(record)}")
    kind, given = _list(record[column.name], column.name, where)
    if column.type not in _ACCEPTED[kind]:
        raise StateError(
            f"TFRecordDataset: {where}: column {column.name!r} holds a {kind}, which cannot become {column.type}; "
            f"it can become {', '.join(_ACCEPTED[kind])}"
        )
    array = _array(kind, given, column, where, padded)
    return _shaped(array, len(given), column, where)


def _array(kind: str, given: Any, column: Column, where: str, padded: bool) -> Array:
    if kind != "bytes_list":
        wide = np.array(given, np.float32 if kind == "float_list" else np.int64)
        with np.errstate(over="ignore"):
            return wide.astype(column.type)
    if column.type == "uint8":
        width = max(map(len, given), default=0) if padded else 0
        if padded and len(given) and not width:
            raise StateError(f"TFRecordDataset: {where}: column {column.name!r} holds only empty texts")
        return np.frombuffer(b"".join(text.ljust(width) for text in given), np.uint8).copy()
    try:
        return np.array([text.decode() for text in given], np.str_)
    except UnicodeDecodeError:
        raise StateError(f"TFRecordDataset: {where}: column {column.name!r} is not UTF-8") from None


def _shaped(array: Array, count: int, column: Column, where: str) -> Array:
    """``array`` in the column's shape; ``count``: how many values the list has."""
    if column.shape is None:
        return array.reshape(()) if column.rank == 0 and array.size == 1 else array
    known = math.prod(n for n in column.shape if n != -1)
    unknown = column.shape.count(-1)
    told = f"TFRecordDataset: {where}: column {column.name!r} of {array.size} values cannot have the shape"
    if unknown > 1 or min(column.shape, default=0) < -1:
        raise StateError(f"{told} {list(column.shape)}: only one extent may be unknown")
    if unknown and (not known or count % known or count < known != 1):
        raise StateError(f"{told} {list(column.shape)}")
    if unknown and array.dtype == np.uint8 and array.size != count:
        return array  # MindSpore judges the number of texts, and gives their bytes as they are
    if not unknown and array.size != known:
        raise StateError(f"{told} {list(column.shape)}")
    return array.reshape(column.shape)
