"""``TFRecordDataset``: rows of TFRecord files.

Source: the published format of the files; rows, orders and refusals of MindSpore 2.10.0, measured
(``tests/interop/tfrecord_facts.py``).
"""

from __future__ import annotations

import glob
import gzip
import itertools
import os
import struct
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO

from harness.crc import masked_crc
from harness.errors import SettingError, SettingTypeError, StateError, first_line
from harness.framework.dataset import config, samplers
from harness.framework.dataset.base import Dataset, Row
from harness.framework.dataset.checks import flag, refuse_unknown, whole, workers
from harness.framework.dataset.examples import features, inferred, value
from harness.framework.dataset.operations import Shuffle
from harness.framework.dataset.random import Mersenne32, shuffle
from harness.framework.dataset.schema import Column, Schema
from harness.inflating import RATIO
from harness.reading import open_with_status

_OWNER = "TFRecordDataset"
#: bytes before a record's payload (its length and their checksum), and after it
_HEADER, _TRAILER = 12, 4
#: rows among which a global order is drawn, at most; and for each row an average file has
_BUFFER, _FOR_EACH = 10000, 4
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


class TFRecordDataset(Dataset):
    """Rows of TFRecord files, each a ``tf.train.Example``.

    Without a schema the first row tells the columns, by name: int64, float32, and uint8 for texts.

    Args:
        dataset_files: a file or pattern, or a list of them.
        schema: a ``Schema``, or the path of one: types and shapes of the columns.
        columns_list: columns wanted, in this order; None for all.
        num_samples: at most so many rows, of a shard if there are any; None for the schema's ``numRows``.
        num_parallel_workers: so many files are read in turn, row by row.
        shuffle: True or ``Shuffle.GLOBAL``: files and rows in another order each epoch; ``Shuffle.FILES``: files.
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
        super().__init__()
        refuse_unknown({"cache": cache}, _OWNER)
        self.files = _found(dataset_files)
        if columns_list is not None and not isinstance(columns_list, list):
            raise SettingTypeError(f"{_OWNER}: columns_list must be a list, got {columns_list!r}")
        self.wanted = list(columns_list or [])
        if not (shuffle is None or isinstance(shuffle, (bool, samplers.Shuffle))):
            raise SettingTypeError(f"{_OWNER}: shuffle must be a bool or a Shuffle, got {shuffle!r}")
        self.order = samplers.Shuffle.GLOBAL if shuffle is None or shuffle is True else shuffle
        if (num_shards is None) != (shard_id is None):
            raise StateError(f"{_OWNER}: num_shards and shard_id must be given both, or neither")
        if num_shards is not None:
            num_shards, shard_id = samplers.sharding(num_shards, shard_id)
        self.num_shards, self.shard_id = num_shards or 1, shard_id or 0
        self.equal = flag(shard_equal_rows, "shard_equal_rows", _OWNER)
        self.compression = "" if compression_type is None else compression_type
        if self.compression not in _COMPRESSIONS:
            raise SettingError(f"{_OWNER}: compression_type must be '', 'GZIP' or 'ZLIB', got {compression_type!r}")
        self.schema = schema if schema is None or isinstance(schema, Schema) else _read_schema(schema)
        self.by_rank = self.schema is not schema
        self.num_samples = 0 if num_samples is None else whole(num_samples, "num_samples", _OWNER, 0)
        self.num_samples = self.num_samples or (self.schema.num_rows if self.schema else 0)
        self.workers = workers(num_parallel_workers, _OWNER)
        self._counted: list[int] | None = None

    def columns(self) -> list[str]:
        return [column.name for column in self._chosen()]

    def _chosen(self) -> list[Column]:
        """The columns of a row."""
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

    def is_shuffled(self) -> bool:
        return self.order in (samplers.Shuffle.GLOBAL, samplers.Shuffle.FILES)

    def is_sharded(self) -> bool:
        return self.num_shards > 1

    # -- which rows ----------------------------------------------------------------------------------------------------
    def _counts(self) -> list[int]:
        """Rows of each file."""
        if self._counted is None:
            self._counted = [sum(1 for _ in _records(path, self.compression)) for path in self.files]
        return self._counted

    def size(self) -> int:
        self._check_shards()
        counts = self._counts()
        if self.equal:
            count = -(-sum(counts) // self.num_shards)
        else:
            count = sum(counts[self.shard_id :: self.num_shards])
        return min(count, self.num_samples) if self.num_samples else count

    def _check_shards(self) -> None:
        if (self.compression or not self.equal) and len(self.files) < self.num_shards:
            raise StateError(
                f"{_OWNER}: {len(self.files)} files are too few for {self.num_shards} shards; "
                "shard_equal_rows=True shares the rows of files that are not compressed"
            )

    def passes(self, seed: int) -> Iterator[Iterator[Row]]:
        self._check_shards()
        if self.order != samplers.Shuffle.GLOBAL:
            yield from self._epochs(seed)
            return
        rows = sum(self._counts())
        rows = -(-rows // self.num_shards)
        buffer = max(2, min(_BUFFER, rows // len(self.files) * _FOR_EACH))
        yield from Shuffle(_Unshuffled(self), buffer).passes(seed)

    def _epochs(self, seed: int) -> Iterator[Iterator[Row]]:
        """Rows of one epoch after the other; only files are in a drawn order."""
        chosen = self._chosen()  # empty where the first record is: MindSpore then gives no rows
        keys = list(range(len(self.files)))
        for epoch in itertools.count(1):
            if self.is_shuffled():
                shuffle(keys, Mersenne32(seed if self.num_shards == 1 else epoch))
            rows = _in_turn([self._rows(share, chosen) for share in self._shares(keys)])
            yield itertools.islice(rows, (self.num_samples or None) if chosen else 0)

    def _shares(self, keys: list[int]) -> list[list[tuple[int, int, int | None]]]:
        """What each worker reads: a file's number, and which of its rows."""
        if self.equal and self.num_shards > 1:
            pieces = self._equal_pieces(keys)
        else:
            pieces = [(key, 0, None) for key in keys[self.shard_id :: self.num_shards]]
        count = min(self.workers or config.get_num_parallel_workers(), len(self.files))
        return [pieces[at::count] for at in range(count)]

    def _equal_pieces(self, keys: list[int]) -> list[tuple[int, int, int | None]]:
        """The files that hold this shard's rows, from the start again at the end."""
        counts = self._counts()
        share = -(-sum(counts) // self.num_shards)
        low, high = share * self.shard_id, share * (self.shard_id + 1)
        pieces: list[tuple[int, int, int | None]] = []
        before = 0
        for key in itertools.cycle(keys):
            start, end = max(0, low - before), min(counts[key], high - before)
            if start < end:
                pieces.append((key, start, end))
            before += counts[key]
            if before >= high:
                return pieces
        return pieces

    def _rows(self, share: list[tuple[int, int, int | None]], chosen: list[Column]) -> Iterator[Row]:
        for key, start, end in share:
            path = self.files[key]
            for at, record in itertools.islice(enumerate(_records(path, self.compression)), start, end):
                where = f"{path!r}, record {at}"
                found = features(record, where)
                yield tuple(value(found, column, where, self.schema is None) for column in chosen)


class _Unshuffled(Dataset):
    """The rows of a ``TFRecordDataset`` before a global order is drawn among them."""

    def __init__(self, source: TFRecordDataset) -> None:
        super().__init__()
        self.source = source

    def columns(self) -> list[str]:
        return self.source.columns()

    def size(self) -> int:
        return self.source.size()

    def passes(self, seed: int) -> Iterator[Iterator[Row]]:
        return self.source._epochs(seed)


def _in_turn(sources: list[Iterator[Row]]) -> Iterator[Row]:
    """A row of each, as long as any has one."""
    left = list(sources)
    while left:
        for source in list(left):
            row = next(source, None)
            if row is None:
                left.remove(source)
            else:
                yield row


def _found(given: Any) -> list[str]:
    """The files of paths and patterns, sorted."""
    patterns = [given] if isinstance(given, str) else given
    if not isinstance(patterns, list) or not all(isinstance(each, str) for each in patterns):
        raise SettingTypeError(f"{_OWNER}: dataset_files must be a path or a list of them, got {given!r}")
    if not patterns:
        raise SettingError(f"{_OWNER}: dataset_files is empty")
    files: list[str] = []
    for pattern in patterns:
        matches = [path for path in glob.glob(pattern, recursive=True) if os.path.isfile(path)]
        if not matches:
            raise SettingError(f"{_OWNER}: there is no file {pattern!r}")
        files += matches
    return sorted(files)


def _read_schema(schema: Any) -> Schema:
    if not isinstance(schema, (str, os.PathLike)):
        raise SettingTypeError(f"{_OWNER}: schema must be a Schema or the path of one, got {schema!r}")
    return Schema(os.fspath(schema))
