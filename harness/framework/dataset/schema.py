"""``Schema``: names, types and shapes of the columns that a dataset reads.

Source: MindSpore 2.10.0, measured (``tests/interop/tfrecord_facts.py``).
"""

from __future__ import annotations

import json
import os
from typing import Any, NamedTuple

from harness import dtypes
from harness.errors import SettingError, SettingTypeError, StateError
from harness.reading import parse_json, read_bytes

#: bytes of a schema's file, at most
_LARGEST = 1 << 24
_TYPES = ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
          "float16", "float32", "float64", "string")  # fmt: skip
_FIELDS = ("columns", "datasetType", "numRows")


class Text:
    """``mindspore.string``: the type of texts."""

    name = "string"

    def __str__(self) -> str:
        return "String"

    def __repr__(self) -> str:
        return "mindspore.string_"


string = Text()


class Column(NamedTuple):
    """A column: its name, its type (``int32``, ``string``), its shape (-1: whatever fits; None for one axis), and the
    ``rank`` and ``shape`` that a JSON text states."""

    name: str
    type: str
    shape: tuple[int, ...] | None
    rank: int | None = None
    stated: bool = True


def _kind(de_type: Any) -> str:
    """The name of a MindSpore dtype or a text's type; ``SettingTypeError`` for what no column can be."""
    name = de_type.lower if isinstance(de_type, dtypes.DType) else getattr(de_type, "name", de_type)
    if not isinstance(name, str) or name not in _TYPES:
        raise SettingTypeError(f"Schema: a column's type must be one of {', '.join(_TYPES)}, got {de_type!r}")
    return name


class Schema:
    """Columns of a dataset.

    Args:
        schema_file: a JSON file of ``columns``, and perhaps ``datasetType`` and ``numRows``.
    """

    def __init__(self, schema_file: str | None = None) -> None:
        self.columns: list[Column] = []
        self.dataset_type = ""
        self.num_rows = 0
        self.schema_file = schema_file or ""
        if schema_file is None:
            return
        if not isinstance(schema_file, (str, os.PathLike)):
            raise SettingTypeError(f"Schema: schema_file must be a path, got {schema_file!r}")
        if not os.path.isfile(schema_file):
            raise SettingError(f"Schema: there is no file {os.fspath(schema_file)!r}")
        data = read_bytes(schema_file, _LARGEST, StateError)
        self.from_json(parse_json(data, os.fspath(schema_file), StateError))

    def add_column(self, name: str, de_type: Any, shape: list[int] | None = None) -> None:
        """Adds a column; ``SettingTypeError`` for a bad name, type or shape."""
        if not isinstance(name, str):
            raise SettingTypeError(f"Schema.add_column: name must be a str, got {name!r}")
        if shape is not None and (not isinstance(shape, list) or not all(type(n) is int for n in shape)):
            raise SettingTypeError(f"Schema.add_column: shape must be a list of ints, got {shape!r}")
        self.columns.append(Column(name, _kind(de_type), None if shape is None else tuple(shape)))

    def parse_columns(self, columns: Any) -> None:
        """Takes these columns in place of what it has: a list of ``{"name", "type", "shape"}``, or a dict of them by
        name. A column without a shape is one value.

        Raises:
            StateError: a name or type is missing, or one is unknown.
        """
        if isinstance(columns, dict):
            given = [(name, columns[name]) for name in sorted(columns)]
        elif isinstance(columns, (list, tuple)):
            given = [(row.get("name") if isinstance(row, dict) else None, row) for row in columns]
        else:
            raise StateError(f"Schema: columns must be a list or a dict, got {columns!r}")
        self.columns = [_column(name, row) for name, row in given]

    def from_json(self, json_obj: Any) -> None:
        """Takes ``columns``, ``datasetType`` and ``numRows`` of an object; ``StateError`` for anything else."""
        if not isinstance(json_obj, dict) or "columns" not in json_obj:
            raise StateError("Schema: an object with columns is needed")
        if unknown := [name for name in json_obj if name not in _FIELDS]:
            raise StateError(f"Schema: unknown field {unknown[0]!r}; there are {', '.join(_FIELDS)}")
        rows, kind = json_obj.get("numRows", 0), json_obj.get("datasetType", "")
        if isinstance(rows, bool) or not isinstance(rows, (int, float)) or rows < 0:
            raise StateError(f"Schema: numRows must be a number, at least 0, got {rows!r}")
        if not isinstance(kind, str):
            raise StateError(f"Schema: datasetType must be a text, got {kind!r}")
        self.parse_columns(json_obj["columns"])
        self.num_rows, self.dataset_type = int(rows), kind

    def to_json(self) -> str:
        """The JSON text of what it has."""
        shown: dict[str, Any] = {"columns": [_shown(column) for column in self.columns] or None}
        if self.dataset_type:
            shown["datasetType"] = self.dataset_type
        if self.num_rows:
            shown["numRows"] = self.num_rows
        return json.dumps(shown, indent=2, ensure_ascii=False)

    def __str__(self) -> str:
        return self.to_json()

    def ranked(self) -> list[Column]:
        """The columns of a schema's file that a dataset reads itself: there ``rank`` counts, and a shape need not be.

        Raises:
            StateError: a column has no rank.
        """
        for column in self.columns:
            if column.rank is None or column.rank < 0:
                raise StateError(f"Schema: column {column.name!r} needs a rank, at least 0, in a schema's file")
        return [column if column.stated else column._replace(shape=None) for column in self.columns]

    @staticmethod
    def get_num_rows(schema: Schema | str) -> int:
        """``numRows`` of a schema or of its file; 0 where it does not say."""
        return (schema if isinstance(schema, Schema) else Schema(schema)).num_rows


def _column(name: Any, row: Any) -> Column:
    if not isinstance(name, str):
        raise StateError("Schema: a column's name is missing")
    kind = row.get("type") if isinstance(row, dict) else None
    if kind is None:
        raise StateError(f"Schema: the type of column {name!r} is missing")
    if kind not in _TYPES:
        raise StateError(f"Schema: the type of column {name!r} must be one of {', '.join(_TYPES)}, got {kind!r}")
    shape = row.get("shape", [])
    if not isinstance(shape, (list, tuple)) or not all(type(n) is int for n in shape):
        raise StateError(f"Schema: the shape of column {name!r} must be a list of ints, got {shape!r}")
    rank = row.get("rank")
    return Column(name, kind, tuple(shape), rank if type(rank) is int else None, "shape" in row)


def _shown(column: Column) -> dict[str, Any]:
    known = {} if column.shape is None else {"shape": list(column.shape)}
    return {"name": column.name, "rank": 1 if column.shape is None else len(column.shape), **known, "type": column.type}
