"""Fills a new store file, in canonical order."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from math import prod
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np

from harness import dtypes
from harness.attributes import checked_attributes
from harness.errors import DtypeError, StoreError
from harness.records import PIECE, Record
from harness.stats import Description, Digester, Statistics, describe, digest
from harness.stats.digest import as_bytes
from harness.stats.printed import PrintedStatistics
from harness.store.h5file import H5File, Tree
from harness.store.layout.contents import Contents, Part, RunEntry, encoded, part_digest, user_block
from harness.store.layout.index import (
    MAX_RANK,
    Index,
    IndexBuilder,
    apart,
    attrs_text,
    describe_key,
    run_checksum,
    to_row,
)
from harness.store.layout.objects import (
    DTYPE_ATTRIBUTE,
    Constant,
    Stored,
    holds,
    packed_table,
    stored_dtype,
    to_stored,
)
from harness.store.layout.schema import (
    FORMAT,
    MAX_ATTRIBUTE,
    PLACES_DTYPE,
    SCHEMA,
    TABLES,
    Compression,
    Level,
    RunId,
    artefact_path,
    run_path,
    slot_path,
)  # fmt: skip
from harness.store.layout.tables import NOTHING, Declared, tables_of
from harness.store.prepared import Prepared
from harness.store.read import GoldenStore, StoredRun
from harness.words import counted

Array = np.ndarray[Any, np.dtype[Any]]

#: Number of statistics cached by digest: most repeated arrays repeat within a step.
_REMEMBERED = 16_384


class StoreWriter:
    """Fills a new store file; runs must come in sorted order."""

    def __init__(self, path: Path, network: str, compression: Compression, old: GoldenStore | None) -> None:
        self._network = network
        self._compression: Compression = compression
        self._old = old
        self._file = H5File(path)
        self._places: dict[bytes, tuple[int, int, bool]] = {}
        self._statistics: dict[bytes, Statistics] = {}
        self._parts: list[Part] = []
        self._tables: dict[tuple[str, tuple[int, ...], str, bool], tuple[int, bytes]] = {}
        self._runs: dict[RunId, RunEntry] = {}

    @property
    def objects(self) -> int:
        """Distinct arrays written so far."""
        return len(self._places)

    def __enter__(self) -> Self:
        self._file.__enter__()
        try:
            for name, text in (("format", FORMAT), ("network", self._network), ("compression", self._compression)):
                self._set(b"/", name, text)
            self._file.set(b"/", "schema", SCHEMA)
            for group in (b"objects", b"parts", b"runs"):
                self._file.group(group)
        except BaseException:
            self._file.__exit__(StoreError, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self._finish_file()
        finally:
            self._file.__exit__(kind, error, trace)

    def _finish_file(self) -> None:
        found = sorted((content, *place) for content, place in self._places.items())
        rows = np.array(found, PLACES_DTYPE) if found else np.empty(0, PLACES_DTYPE)
        places, path = self._part(rows, None)
        self._file.link(b"places", path)
        contents = encoded(Contents(self._network, self._compression, self._parts, places, self._runs))
        at = self._file.add(b"contents", contents, utf8=True)
        self._file.finish(lambda size: user_block(size, at, contents))

    # --- runs -------------------------------------------------------------------------------------------------------

    def add(
        self,
        run: RunId,
        records: Iterable[Record],
        artefacts: Mapping[str, bytes],
        attrs: Mapping[str, Any],
        level: Level,
        declared: Declared | Callable[[], Declared] | None = None,
    ) -> Index:
        """Writes a run from its records, which are consumed one by one."""
        builder = IndexBuilder()
        for record in records:
            builder.claim(record.key)
            if len(record.shape) > MAX_RANK:
                raise StoreError(
                    f"{describe_key(record.key)}: it has {len(record.shape)} axes; a store holds at most {MAX_RANK}"
                )
            found, statistics = self._take(record, level)
            builder.add(record, found, statistics)
        index = builder.build()
        # Gaps are known only now.
        described = _Described.of(run, declared() if callable(declared) else declared or NOTHING)
        self._finish(run, index, level, attrs, artefacts, described, self._old_run(run))
        return index

    def copy(self, run: RunId, source: StoredRun) -> Index:
        """Copies a run from another store (or from this store's old file); checks its digests."""
        index = source.index
        for row, content in enumerate(index.digests) if source.level == "tensors" else ():
            if content not in self._places and index.has_values(row):
                array = source.tensor(row)  # raises if the stored bytes do not match the digest
                name = index.name(row, "dtype")
                stored = source.stored(row)
                if stored.packed != (self._compression == "gzip"):
                    again = to_stored(array, name, self._compression)
                    stored = stored if again.packed and stored.packed else again  # another zlib packs otherwise
                self._put(content, stored, name)
        described = _Described(source.tables(), source.identity)
        self._finish(run, index, source.level, source.attrs, source.artefacts(), described, source)
        return index

    # --- slots ------------------------------------------------------------------------------------------------------

    def _take(self, record: Record, level: Level) -> tuple[bytes, Statistics]:
        """Digest and statistics of a record, stores its tensor if the level says so."""
        described = record.extra.described
        known = record.digest is not None and (level != "tensors" or record.digest in self._places)
        if isinstance(described, Statistics) and known and record.digest is not None:
            # If a digest is known, the values were read elsewhere; only new values are read here.
            return record.digest, described
        prepared = self._put_prepared(record) if level == "tensors" else None
        if isinstance(described, Statistics) and prepared is not None:
            return prepared, described
        try:
            pieces = record.pieces() if self._compression == "none" or level != "tensors" else None
            if pieces is not None:
                return self._take_pieces(record, pieces, level)
            array = record.load()
            if array is None:
                return self._without_values(record, level)
            if array.shape != record.shape:
                raise StoreError(f"it should have shape {list(record.shape)}, but has {list(array.shape)}")
            content = digest(array, record.dtype)
            _check_digest(record, content)
            statistics = self._described(content, array, record.dtype)
            if level == "tensors" and content not in self._places:
                self._put(content, self._packed_object(array, record.dtype, content), record.dtype)
        except (StoreError, DtypeError) as error:
            raise StoreError(f"{describe_key(record.key)}: {error}") from None
        return content, statistics

    def _take_pieces(self, record: Record, pieces: Iterable[Array], level: Level) -> tuple[bytes, Statistics]:
        """``_take`` of a tensor that comes in pieces: each is hashed and described while it is in the cache.

        Only at the end is it known whether the store has the tensor already; a new one is read a second time.
        """
        dtype, size = dtypes.by_name(record.dtype), 0
        hasher, statistics = Digester(dtype.name, record.shape, dtype.numpy), Description(dtype.name)
        one = Constant(dtype.itemsize)
        for piece in pieces:
            size += piece.size
            one.take(piece)
            hasher.take(piece)
            statistics.take(piece)
        if size != prod(record.shape):
            raise StoreError(f"it should have shape {list(record.shape)}, but has {counted(size, 'element')}")
        content = hasher.digest()
        _check_digest(record, content)
        if level == "tensors" and content not in self._places:
            if one.is_packed(record.shape):
                packed = one.packed(size)
                self._put(content, Stored(stored_dtype(dtype.name), record.shape, packed, packed=True), record.dtype)
            else:
                self._put_pieces(content, record)
        return content, statistics.result()

    def _put_pieces(self, content: bytes, record: Record) -> None:
        dtype = dtypes.by_name(record.dtype)
        hasher = Digester(dtype.name, record.shape, dtype.numpy)
        start = at = self._file.begin(
            b"objects/" + content.hex().encode(), stored_dtype(dtype.name), record.shape, _note(dtype.name)
        )
        for piece in _again(record, dtype.itemsize):
            hasher.take(piece)
            raw = as_bytes(piece)
            self._file.put(raw, at)
            at += raw.size
        if hasher.digest() != content:
            raise StoreError("its values changed while they were read")
        self._places[content] = start, at - start, False

    def _put_prepared(self, record: Record) -> bytes | None:
        """Writes a tensor whose stored form is there already, and returns its digest; None if nothing was written."""
        values, content = record.values, record.digest
        if not isinstance(values, Prepared) or content is None:
            return None
        packs = self._compression == "gzip"
        if packs and self._old is not None and self._old.stored_object(content, record.dtype, record.shape) is not None:
            return None  # the old file's form stays
        stored = values.stored(self._compression)
        if stored is not None:
            self._put(content, stored, record.dtype)
        return content if stored is not None else None

    def _described(self, content: bytes, array: Array, dtype: str) -> Statistics:
        """An array's statistics; those of a recently seen array are reused."""
        found = self._statistics.get(content)
        if found is None:
            if len(self._statistics) >= _REMEMBERED:
                self._statistics.clear()
            found = self._statistics[content] = describe(array, dtype)
        return found

    def _without_values(self, record: Record, level: Level) -> tuple[bytes, Statistics]:
        statistics = record.extra.statistics
        if record.digest is None:
            raise StoreError("it has no values; a store takes a record without them that has a digest and statistics")
        if isinstance(statistics, PrintedStatistics):
            return record.digest, to_row(statistics)
        if not isinstance(statistics, Statistics):
            raise StoreError("it has neither values nor statistics")
        return record.digest, apart(statistics) if level == "tensors" else statistics

    def _packed_object(self, array: Array, dtype: str, content: bytes) -> Stored:
        """The stored form of an array; the old file's form if it has the array (see ``objects.holds``)."""
        if self._compression == "gzip" and self._old is not None and self._old.compression == "gzip":
            old = self._old.stored_object(content, dtype, array.shape)
            if old is not None and holds(old, as_bytes(array)):
                return old
        return to_stored(array, dtype, self._compression)

    def _put(self, content: bytes, stored: Stored, dtype: str) -> None:
        at = self._file.add(b"objects/" + content.hex().encode(), stored, note=_note(dtype))
        self._places[content] = at, len(stored.raw), stored.packed

    # --- the rest of a run ------------------------------------------------------------------------------------------

    def _finish(
        self, run: RunId, index: Index, level: Level, attrs: Mapping[str, Any], artefacts: Mapping[str, bytes],
        described: _Described, past: StoredRun | None,
    ) -> None:  # fmt: skip
        path, text = run_path(run), attrs_text(attrs)
        checked_attributes(json.loads(text), lambda told: StoreError(f"run {run}: {told}"))
        for end in range(1, path.count(b"/")):
            above = b"/".join(path.split(b"/")[: end + 1])
            if not self._file.has_group(above):
                self._file.group(above)
        names = [name.encode("utf-8", "surrogateescape") for name in index.names]
        table = np.array(names, f"S{max(map(len, names), default=1) or 1}")
        tree: Tree = {}
        if level == "tensors":
            for row, (key, content) in enumerate(zip(index.keys, index.digests, strict=True)):
                if index.has_values(row):
                    _link(tree, slot_path(key), b"/objects/" + content.hex().encode())
        checksum = run_checksum(index, level, attrs, artefacts, described.summed())
        old = past.stored_parts() if past is not None else {}
        rows, tree[b"index"] = self._part(index.rows, old.get("index"))
        strings, tree[b"names"] = self._part(table, old.get("names"), utf8=True)
        texts = {}
        for name in sorted(artefacts):
            raw = artefacts[name]
            # One string as long as the text, so that viewers show it as text.
            whole = np.frombuffer(raw, f"S{len(raw)}") if raw else np.empty(0, "S1")
            texts[name], target = self._part(whole, old.get(f"artefact {name}"))
            try:
                _link(tree, artefact_path(name), target)
            except ValueError as error:
                raise StoreError(f"the artefact {name!r} cannot be stored with the others ({error})") from None
        tables = {}
        for name in (each for each in TABLES if each in described.tables):
            tables[name], target = self._part(_table(name, described.tables[name]), old.get(f"table {name}"))
            _link(tree, b"described/" + name.encode(), target)
        self._file.tree(path, tree)
        for attribute, value in (("level", level), ("attrs", text), ("checksum", checksum)):
            self._set(path, attribute, value)
        self._runs[run] = RunEntry(level, checksum, dict(attrs), rows, strings, texts, tables, described.identity)

    def _part(self, table: Array, old: Stored | None, *, utf8: bool = False) -> tuple[int, bytes]:
        """Number and path of a table or a text: written now, or earlier for a run with the same content."""
        found = part_digest(as_bytes(table).data if table.dtype.names is None else table.tobytes())
        key = table.dtype.str if table.dtype.names is None else str(table.dtype.names), table.shape, found, utf8
        if key not in self._tables:
            number, path = len(self._parts), b"parts/%d" % len(self._parts)
            stored = packed_table(table, old)
            at = self._file.add(path, stored, utf8=utf8)
            self._parts.append(Part(at, len(stored.raw), table.nbytes, table.dtype.itemsize, found))
            self._tables[key] = number, b"/" + path
        return self._tables[key]

    def _old_run(self, run: RunId) -> StoredRun | None:
        """The run in the old file; None if it is missing, or its attributes are damaged."""
        try:
            return self._old.run(*run) if self._old is not None and run in self._old else None
        except StoreError:
            return None

    def _set(self, path: bytes, name: str, text: str) -> None:
        size = len(text.encode())
        if size > MAX_ATTRIBUTE:
            raise StoreError(f"the attribute {name!r} would take {size} bytes; at most {MAX_ATTRIBUTE} fit")
        self._file.set(path, name, text)


class _Described(NamedTuple):
    """What a run says of its operators, as it is stored.

    Attributes:
        tables: their bytes, by name.
        identity: see ``layout.values.identity``; empty without operators.
    """

    tables: Mapping[str, bytes]
    identity: str

    @classmethod
    def of(cls, run: RunId, declared: Declared) -> _Described:
        """Of what a run declared."""
        try:
            made = declared.identity
        except (TypeError, ValueError) as error:
            raise StoreError(f"run {run}: its operators cannot be stored: {error}") from None
        return cls({name: table.tobytes() for name, table in tables_of(declared).items()}, made)

    def summed(self) -> dict[str, bytes]:
        """What a run's checksum covers of it."""
        return {**self.tables, "identity": self.identity.encode()} if self.tables else {}


def _table(name: str, raw: bytes) -> Array:
    """A table, or a text as one string."""
    dtype = TABLES[name]
    if dtype is not None and len(raw) % dtype.itemsize:  # of a golden that is written again
        raise StoreError(f"its table {name!r} is not the one this schema version describes")
    return np.frombuffer(raw, f"S{len(raw)}" if dtype is None else dtype)


def _link(tree: Tree, path: bytes, target: bytes) -> None:
    """Adds a link to ``target`` at ``path``; ``ValueError`` if the name is taken, or below a text."""
    *groups, leaf = path.split(b"/")
    for name in groups:
        tree = tree.setdefault(name, {})
        if not isinstance(tree, dict):
            raise ValueError(f"{name!r} is a text, not a group")
    if leaf in tree:
        raise ValueError(f"the name {leaf!r} is taken")
    tree[leaf] = target


def _check_digest(record: Record, content: bytes) -> None:
    if record.digest is not None and record.digest != content:
        raise StoreError(f"its digest is {content.hex()}, but the record says {record.digest.hex()}")


def _note(dtype_name: str) -> dict[str, str]:
    """The attribute that names a dtype for which HDF5 has no type."""
    return {} if stored_dtype(dtype_name) == dtypes.by_name(dtype_name).numpy else {DTYPE_ATTRIBUTE: dtype_name}


def _again(record: Record, itemsize: int) -> Iterable[Array]:
    """The pieces of a record whose values were read once already: a source that gives them only once is read in
    blocks."""
    pieces = record.pieces() or record.blocks(max(1, PIECE // itemsize))
    if pieces is not None:
        return pieces
    array = record.load()
    return () if array is None else (array.reshape(-1),)
