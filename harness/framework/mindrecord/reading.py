"""Reads MindRecord files."""

from __future__ import annotations

import json
import os
import sqlite3
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.errors import StateError
from harness.framework.mindrecord.layout import NUMBERS, Array, msgpack, unpack_blob

#: a row's place: file, then page, first and last byte of its RAW and of its BLOB part
Place = tuple[int, int, int, int, int, int, int]


@dataclass(frozen=True)
class Records:
    """The files of one MindRecord.

    Attributes:
        files: paths.
        fields: for each column, in order, its type and (for arrays) shape.
        blobs: columns kept in BLOB pages.
        places: of each row.
        header, page: sizes in bytes of the header and of a page.
    """

    files: tuple[str, ...]
    fields: dict[str, dict[str, Any]]
    blobs: tuple[str, ...]
    places: tuple[Place, ...]
    header: int
    page: int

    def row(self, at: int) -> dict[str, Array]:
        """The values of row ``at`` by column."""
        file, raw_page, raw, raw_end, blob_page, blob, blob_end = self.places[at]
        with open(self.files[file], "rb") as stream:
            values = self._map(self._part(stream, raw_page, raw, raw_end))
            blobs = self._blobs(self._part(stream, blob_page, blob, blob_end)) if self.blobs else {}
        found: dict[str, Array] = {}
        for name, field in self.fields.items():
            if name in blobs:
                found[name] = unpack_blob(blobs[name], field)
            elif name not in values:
                raise StateError(f"MindRecord: row {at} of {self.files[file]!r} has no {name!r}")
            elif field["type"] == "string":
                found[name] = np.array(str(values[name]))
            else:
                found[name] = np.array(values[name], NUMBERS[field["type"]])
        return found

    def _part(self, stream: Any, page: int, begin: int, end: int) -> bytes:
        if not 0 <= begin <= end - 8 <= self.page:
            raise StateError(f"MindRecord: {stream.name!r}: a row from {begin} to {end} is not a part of a page")
        stream.seek(self.header + self.page * page + begin)
        data = stream.read(end - begin)
        if len(data) < end - begin or struct.unpack("<Q", data[:8])[0] != end - begin - 8:
            raise StateError(f"MindRecord: {stream.name!r} ends within a row, or its index is another file's")
        return bytes(data[8:])

    def _map(self, data: bytes) -> dict[str, Any]:
        try:
            values = msgpack().unpackb(data)
        except (ValueError, TypeError) as error:
            raise StateError(f"MindRecord: a row is not MessagePack: {error}") from None
        if not isinstance(values, dict):
            raise StateError("MindRecord: a row is not a map of MessagePack")
        return values

    def _blobs(self, data: bytes) -> dict[str, bytes]:
        if len(self.blobs) == 1:
            return {self.blobs[0]: data}
        found, at = {}, 0
        for name in self.blobs:
            if at + 8 > len(data):
                raise StateError(f"MindRecord: a row ends before its {name!r}")
            (length,) = struct.unpack(">Q", data[at : at + 8])
            if at + 8 + length > len(data):
                raise StateError(f"MindRecord: {name!r} of a row is longer than the row")
            found[name] = data[at + 8 : at + 8 + length]
            at += 8 + length
        return found


def read(paths: list[str]) -> Records:
    """The records of ``paths`` (one file of several brings the others); ``StateError`` names what is wrong."""
    first = _header(paths[0])
    files = paths
    if len(paths) == 1:
        beside = [os.path.join(os.path.dirname(paths[0]), os.path.basename(a)) for a in first["shard_addresses"]]
        files = beside if os.path.abspath(paths[0]) in map(os.path.abspath, beside) else paths
    schema = first["schema"][0]
    places: list[Place] = []
    for number, path in enumerate(files):
        if _header(path)["schema"] != first["schema"]:
            raise StateError(f"MindRecord: {path!r} has another schema than {files[0]!r}")
        places += [(number, *place) for place in _index(path)]
    fields = {name: schema["schema"][name] for name in sorted(schema["schema"])}
    return Records(tuple(files), fields, tuple(schema["blob_fields"]), tuple(places), first["header_size"],
                   first["page_size"])  # fmt: skip


def _header(path: str) -> dict[str, Any]:
    try:
        with open(path, "rb") as stream:
            (length,) = struct.unpack("<Q", stream.read(8).ljust(8, b"\0"))
            if not 0 < length < os.path.getsize(path):
                raise StateError(f"MindRecord: {path!r} is not a MindRecord file")
            header = json.loads(stream.read(length))
        schema = header["schema"][0]
        known = all(f["type"] in (*NUMBERS, "string", "bytes") for f in schema["schema"].values())
        if not known or not all(isinstance(header[k], int) and header[k] > 0 for k in ("header_size", "page_size")):
            raise StateError(f"MindRecord: {path!r} has fields or sizes that are not known")
        list(schema["blob_fields"]), list(header["shard_addresses"])
    except OSError as error:
        raise StateError(f"MindRecord: cannot read {path!r}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
        raise StateError(f"MindRecord: {path!r} is not a MindRecord file ({type(error).__name__})") from None
    return header  # type: ignore[no-any-return]


def _index(path: str) -> list[tuple[int, int, int, int, int, int]]:
    index = f"{path}.db"
    if not os.path.isfile(index):
        raise StateError(f"MindRecord: there is no index {index!r} beside the file")
    columns = ("PAGE_ID_RAW", "PAGE_OFFSET_RAW", "PAGE_OFFSET_RAW_END", "PAGE_ID_BLOB", "PAGE_OFFSET_BLOB",
               "PAGE_OFFSET_BLOB_END")  # fmt: skip
    try:
        with sqlite3.connect(f"file:{os.path.abspath(index)}?mode=ro", uri=True) as connection:
            rows = connection.execute(f"SELECT {', '.join(columns)} FROM INDEXES ORDER BY ROW_ID").fetchall()
        connection.close()
        return [tuple(int(n) for n in row) for row in rows]  # type: ignore[misc]
    except (sqlite3.Error, TypeError, ValueError) as error:
        raise StateError(f"MindRecord: the index {index!r} cannot be read: {error}") from None
