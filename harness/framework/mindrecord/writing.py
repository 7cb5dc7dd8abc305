"""``FileWriter``: writes MindRecord files."""

from __future__ import annotations

import json
import os
import sqlite3
import struct
from typing import Any

from harness.errors import SettingError, SettingTypeError, StateError
from harness.framework.mindrecord.layout import HEADER, NUMBERS, PAGE, VERSION, msgpack, pack_blob

SUCCESS = "SUCCESS"
_SQL = {"string": "TEXT", "int32": "INTEGER", "int64": "INTEGER", "float32": "REAL", "float64": "REAL"}


class FileWriter:
    """Writes rows to MindRecord files, all of them when ``commit`` is called.

    Args:
        file_name: path; of several files, each gets a number behind it.
        shard_num: how many files.
        overwrite: whether files that are there are replaced.
    """

    def __init__(self, file_name: str, shard_num: int = 1, overwrite: bool = False) -> None:
        if not isinstance(file_name, (str, os.PathLike)):
            raise SettingTypeError(f"FileWriter: file_name must be a str, got {type(file_name).__name__}")
        if isinstance(shard_num, bool) or not isinstance(shard_num, int) or not 1 <= shard_num <= 1000:
            raise SettingError(f"FileWriter: shard_num must be an int from 1 to 1000, got {shard_num!r}")
        name = os.fspath(file_name)
        digits = len(str(shard_num - 1))
        self.files = [name] if shard_num == 1 else [f"{name}{n:0{digits}d}" for n in range(shard_num)]
        self.overwrite = overwrite
        self.schema: dict[str, dict[str, Any]] = {}
        self.desc = ""
        self.index: list[str] = []
        self.rows: list[tuple[dict[str, Any], bytes]] = []

    def add_schema(self, content: dict[str, Any], desc: str | None = None) -> int:
        """The columns: type, and shape for an array. Gives the schema's number, 0."""
        if not isinstance(content, dict) or not content:
            raise SettingTypeError("FileWriter.add_schema takes a dict of columns that is not empty")
        for name, field in content.items():
            kind = field.get("type") if isinstance(field, dict) else None
            if kind not in (*NUMBERS, "string", "bytes"):
                raise SettingError(f"FileWriter.add_schema: the type of {name!r} must be one of "
                                   f"{[*NUMBERS, 'string', 'bytes']}, got {kind!r}")  # fmt: skip
            if "shape" in field and (kind not in NUMBERS or not isinstance(field["shape"], list)):
                raise SettingError(f"FileWriter.add_schema: {name!r} cannot have the shape {field['shape']!r}")
        self.schema, self.desc = content, desc or ""
        return 0

    def add_index(self, index_fields: list[str]) -> str:
        """Columns that rows can be looked up by: numbers and strings."""
        for name in index_fields:
            if name not in self.schema or name in self._blobs() or not isinstance(name, str):
                raise SettingError(f"FileWriter.add_index: {name!r} is not a column of numbers or strings")
        self.index = list(index_fields)
        return SUCCESS

    def open_and_set_header(self) -> str:
        """Does nothing: everything is written by ``commit``."""
        return SUCCESS

    def set_header_size(self, header_size: int) -> str:
        """Kept as it is: 16 MiB."""
        return SUCCESS

    def set_page_size(self, page_size: int) -> str:
        """Kept as it is: 32 MiB."""
        return SUCCESS

    def _blobs(self) -> list[str]:
        return [n for n in self.schema if self.schema[n]["type"] == "bytes" or "shape" in self.schema[n]]

    def write_raw_data(self, raw_data: list[dict[str, Any]], parallel_writer: bool = False) -> str:
        """Adds rows, each a dict of all columns; ``SettingError`` names the column that does not fit."""
        if not self.schema:
            raise StateError("FileWriter: add_schema comes before write_raw_data")
        if not isinstance(raw_data, list):
            raise SettingTypeError(f"FileWriter.write_raw_data takes a list of dicts, got {type(raw_data).__name__}")
        for row in raw_data:
            self.rows.append(self._packed(row))
        return SUCCESS

    def _packed(self, row: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        if missing := [name for name in self.schema if name not in row]:
            raise SettingError(f"FileWriter: a row lacks {missing}")
        plain: dict[str, Any] = {}
        blobs: list[bytes] = []
        for name in sorted(self.schema):
            kind, value = self.schema[name]["type"], row[name]
            try:
                if name in self._blobs():
                    blobs.append(pack_blob(value, kind))
                else:
                    plain[name] = value if kind == "string" else NUMBERS[kind](value).item()
            except (TypeError, ValueError, OverflowError) as error:
                raise SettingError(f"FileWriter: {name!r} of a row is no {kind}: {error}") from None
            if kind == "string" and not isinstance(value, str):
                raise SettingError(f"FileWriter: {name!r} of a row is not a string, but {type(value).__name__}")
        joined = blobs[0] if len(blobs) == 1 else b"".join(struct.pack(">Q", len(b)) + b for b in blobs)
        if len(joined) + 8 > PAGE:
            raise SettingError(f"FileWriter: a row of {len(joined)} bytes is larger than a page of {PAGE}")
        return plain, joined

    def commit(self) -> str:
        """Writes the files; ``StateError`` if one is there and ``overwrite`` is False."""
        if not self.schema:
            raise StateError("FileWriter: add_schema comes before commit")
        packer = msgpack()
        for path in (*self.files, *(f"{f}.db" for f in self.files)):
            if os.path.exists(path) and not self.overwrite:
                raise StateError(f"FileWriter: {path!r} exists; give overwrite=True to replace it")
        at = 0
        for number, path in enumerate(self.files):
            count = len(self.rows) // len(self.files) + (number < len(self.rows) % len(self.files))
            self._write(path, number, self.rows[at : at + count], packer)
            at += count
        return SUCCESS

    def _write(self, path: str, number: int, rows: list[tuple[dict[str, Any], bytes]], packer: Any) -> None:
        raws = [packer.packb(plain, use_single_float=False) for plain, _ in rows]
        blob_pages, blob_places = _paged([blob for _, blob in rows] if self._blobs() else [b""] * len(rows))
        raw_pages, raw_places = _paged(raws)
        first_raw = len(blob_pages)
        header = json.dumps(self._header(number, blob_pages, raw_pages, blob_places)).encode()
        with open(path, "wb") as stream:
            stream.write(struct.pack("<Q", len(header)) + header)
            for at, page in enumerate(blob_pages + raw_pages):
                stream.seek(HEADER + PAGE * at)
                stream.write(page)
        self._write_index(f"{path}.db", rows, [(p + first_raw, b, e) for p, b, e in raw_places], blob_places)

    def _header(self, number: int, blobs: list[bytes], raws: list[bytes], places: list[Any]) -> dict[str, Any]:
        pages = []
        for at, page in enumerate(blobs):
            mine = [row for row, place in enumerate(places) if place[0] == at] or [0]
            end = mine[-1] + 1 if places else 0
            pages.append(_page(number, at, len(page), "BLOB_DATA", at, mine[0], end))
        pages += [_page(number, len(blobs) + at, len(page), "RAW_DATA", at, 0, 0) for at, page in enumerate(raws)]
        index = self.index or [n for n in sorted(self.schema) if n not in self._blobs()]
        return {
            "header_size": HEADER, "index_fields": [{"index_field": n, "schema_id": 0} for n in index],
            "page": pages, "page_size": PAGE, "compression_size": 0,
            "schema": [{"blob_fields": sorted(self._blobs()), "desc": self.desc, "schema": self.schema}],
            "shard_addresses": [os.path.basename(f) for f in self.files], "shard_id": number, "statistics": None,
            "version": VERSION,
        }  # fmt: skip

    def _write_index(self, path: str, rows: list[Any], raws: list[Any], blobs: list[Any]) -> None:
        names = self.index or [n for n in sorted(self.schema) if n not in self._blobs()]
        if os.path.exists(path):
            os.remove(path)
        places = ("ROW_ID", "PAGE_ID_RAW", "PAGE_OFFSET_RAW", "PAGE_OFFSET_RAW_END", "ROW_GROUP_ID", "PAGE_ID_BLOB",
                  "PAGE_OFFSET_BLOB", "PAGE_OFFSET_BLOB_END")  # fmt: skip
        fields = [f'INC_{i} INT, "{n}_0" {_SQL[self.schema[n]["type"]]}' for i, n in enumerate(names)]
        keys = ", ".join(["ROW_ID", *(f"INC_{i}" for i in range(len(names)))])
        columns = ", ".join([*(f"{p} INT NOT NULL" for p in places), *fields, f"PRIMARY KEY({keys})"])
        connection = sqlite3.connect(path)
        with connection:
            connection.execute(f"CREATE TABLE INDEXES({columns})")
            connection.execute("CREATE TABLE SHARD_NAME(NAME TEXT NOT NULL)")
            connection.execute("INSERT INTO SHARD_NAME VALUES (?)", (os.path.basename(path[: -len(".db")]),))
            for at, ((plain, _), raw, blob) in enumerate(zip(rows, raws, blobs, strict=True)):
                values = [at, *raw, blob[0], *blob, *(v for n in names for v in (0, plain[n]))]
                connection.execute(f"INSERT INTO INDEXES VALUES ({', '.join('?' * len(values))})", values)
        connection.close()


def _page(shard: int, at: int, size: int, kind: str, kind_id: int, start: int, end: int) -> dict[str, Any]:
    return {"end_row_id": end, "page_id": at, "page_size": size, "page_type": kind, "page_type_id": kind_id,
            "row_group_ids": [{"id": kind_id, "offset": 0}], "shard_id": shard, "start_row_id": start}  # fmt: skip


def _paged(parts: list[bytes]) -> tuple[list[bytes], list[tuple[int, int, int]]]:
    """Pages of parts, each behind its length, and (page, first byte, last byte) of each."""
    pages: list[list[bytes]] = [[]]
    places, size = [], 0
    for part in parts:
        if size + 8 + len(part) > PAGE:
            pages.append([])
            size = 0
        pages[-1].append(struct.pack("<Q", len(part)) + part)
        places.append((len(pages) - 1, size, size + 8 + len(part)))
        size += 8 + len(part)
    return [b"".join(page) for page in pages], places
