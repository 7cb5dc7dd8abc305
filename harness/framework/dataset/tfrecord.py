"""``TFRecordDataset``: rows of TFRecord files.

Source: the published format of the files; rows, orders and refusals of MindSpore 2.10.0, measured
(``tests/interop/tfrecord_facts.py``).
"""

from __future__ import annotations

import gzip
import itertools
import os
import struct
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO

from harness.crc import masked_crc
from harness.errors import SettingError, SettingTypeError, StateError, first_line
from harness.framework.dataset import samplers
from harness.framework.dataset.base import Row
from harness.framework.dataset.checks import flag
from harness.framework.dataset.examples import features, inferred, value
from harness.framework.dataset.files import FilesDataset
from harness.framework.dataset.schema import Column, Schema
from harness.inflating import RATIO
from harness.reading import open_with_status

_OWNER = "TFRecordDataset"
#: bytes before a record's payload (its length and their checksum), and after it
_HEADER, _TRAILER = 12, 4
_COMPRESSIONS = ("", "GZIP", "ZLIB")


class _Inflated:
    """A file of one zlib stream, inflated as it is read."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._inflater, self._rest = file, zlib.decompressobj(), b""

    def read(self, size: int) -> bytes:
        """The next ``size`` bytes, fewer at the end."""
        found = bytearray()
        while len(found) < size and not self._inflater.eof:
            packed = self._rest or self._file.read(1 << 16)
            piece = self._inflater.decompress(packed, size - len(found)) if packed else b""
            self._rest = self._inflater.unconsumed_tail
            if not piece and not packed:
                break
            found += piece
        return bytes(found)


def _records(path: str, compression: str) -> Iterator[bytes]:
    """The payloads of a file. Only the checksum of the first length is compared, as in MindSpore.

    Raises:
        StateError: it cannot be read, is no TFRecord file, or ends inside a record.
    """
    try:
        descriptor, status = open_with_status(path)
        with open(descriptor, "rb") as raw:
            file: Any = raw
            if compression:
                plain = compression == "GZIP" and raw.peek(2)[:2] != b"\x1f\x8b"
                file = raw if plain else gzip.GzipFile(fileobj=raw) if compression == "GZIP" else _Inflated(raw)
            yield from _framed(file, path, status.st_size * (RATIO if compression else 1))
    except (OSError, EOFError, zlib.error) as error:
        why = getattr(error, "strerror", None) or first_line(error)
        raise StateError(f"{_OWNER}: cannot read {path!r}: {why}") from None


def _framed(file: Any, path: str, largest: int) -> Iterator[bytes]:
    for at in itertools.count():
        header = file.read(_HEADER)
        if at == 0 and (len(header) < _HEADER or masked_crc(header[:8]) != struct.unpack("<I", header[8:])[0]):
            raise StateError(f"{_OWNER}: {path!r} is no TFRecord file: its first record has no length")
        if not header:
            return
        size = struct.unpack("<Q", header[:8])[0] if len(header) == _HEADER else largest
        payload = file.read(size) if size < largest else b""
        if size >= largest or len(payload) < size:
            raise StateError(f"{_OWNER}: {path!r} ends inside record {at}")
        yield payload
        file.read(_TRAILER)


class TFRecordDataset(FilesDataset):
    """Rows of TFRecord files, each a ``tf.train.Example``.

    Without a schema the first row tells the columns, by name: int64, float32, and uint8 for texts.

    Args:
        dataset_files: a file or pattern, or a list of them.
        schema: a ``Schema``, or the path of one: types and shapes of the columns.
        columns_list: columns wanted, in this order; None for all.
        num_samples: None or 0 for the schema's ``numRows``.
        num_shards, shard_id: every ``num_shards``-th file from ``shard_id`` on.
        shard_equal_rows: shards are of equally many rows, whatever their files.
        compression_type: of the files: ``"GZIP"``, ``"ZLIB"`` or none.

    ``cache`` is not supported.

    Raises:
        SettingError, SettingTypeError: an argument is none of these, or there is no such file.
    """

    def __init__(
        self,
        dataset_files: Any,
        schema: Any = None,
        columns_list: Any = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: Any = samplers.Shuffle.GLOBAL,
        num_shards: int | None = None,
        shard_id: int | None = None,
        shard_equal_rows: bool = False,
        cache: Any = None,
        compression_type: str | None = None,
    ) -> None:
        super().__init__(dataset_files, num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache)
        if columns_list is not None and not isinstance(columns_list, list):
            raise SettingTypeError(f"{_OWNER}: columns_list must be a list, got {columns_list!r}")
        self.wanted = list(columns_list or [])
        self.equal = flag(shard_equal_rows, "shard_equal_rows", _OWNER)
        self.compression = "" if compression_type is None else compression_type
        if self.compression not in _COMPRESSIONS:
            raise SettingError(f"{_OWNER}: compression_type must be '', 'GZIP' or 'ZLIB', got {compression_type!r}")
        self.schema = schema if schema is None or isinstance(schema, Schema) else _read_schema(schema)
        self.by_rank = self.schema is not schema
        self.num_samples = self.num_samples or (self.schema.num_rows if self.schema else 0)

    def columns(self) -> list[str]:
        return [column.name for column in self._chosen()]

    def _chosen(self) -> list[Column]:
        """The columns of a row; none where the first record is empty: MindSpore then gives no rows."""
        if len(set(self.wanted)) < len(self.wanted):
            raise StateError(f"{_OWNER}: a column is named twice in {self.wanted}")
        if self.schema is None:
            path = self.files[0]
            first = next(_records(path, self.compression))
            return inferred(features(first, f"{path!r}, record 0"), self.wanted, f"{path!r}, record 0")
        columns = self.schema.ranked() if self.by_rank else self.schema.columns
        given = {column.name: column for column in columns}
        if missing := [name for name in self.wanted if name not in given]:
            raise StateError(f"{_OWNER}: the schema has no column {missing[0]!r}; it has {list(given)}")
        chosen = [given[name] for name in self.wanted] if self.wanted else list(given.values())
        if not chosen:
            raise StateError(f"{_OWNER}: the schema has no columns")
        return chosen

    def _count(self, path: str) -> int:
        return sum(1 for _ in _records(path, self.compression))

    def _check_shards(self) -> None:
        if (self.compression or not self.equal) and len(self.files) < self.num_shards:
            raise StateError(
                f"{_OWNER}: {len(self.files)} files are too few for {self.num_shards} shards; "
                "shard_equal_rows=True shares the rows of files that are not compressed"
            )

    def _read(self, path: str, start: int, end: int | None, chosen: list[Column]) -> Iterator[Row]:
        for at, record in itertools.islice(enumerate(_records(path, self.compression)), start, end):
            where = f"{path!r}, record {at}"
            found = features(record, where)
            yield tuple(value(found, column, where, self.schema is None) for column in chosen)


def _read_schema(schema: Any) -> Schema:
    if not isinstance(schema, (str, os.PathLike)):
        raise SettingTypeError(f"{_OWNER}: schema must be a Schema or the path of one, got {schema!r}")
    return Schema(os.fspath(schema))
