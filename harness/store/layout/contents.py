"""The way into a store without libhdf5: its user block, and the table of contents that leads from there.

An HDF5 file may begin with a user block, which HDF5 itself skips. A store's has 512 bytes::

    12  magic: it shows when line ends were translated, or the file was treated as text
     4  schema version
     8  size of the whole file
     8  offset of the contents     8  stored size     8  size when inflated (0: it is not packed)
    16  xxh3_128 of the contents as stored
     8  xxh3_64 of all bytes before

The contents are JSON: ``network``, ``compression``, ``parts`` (``[offset, stored size, bytes, bytes of an element,
digest]``; a part is packed where the stored size is not the number of bytes), ``places`` (the part that says where
objects lie) and ``runs`` (``level``, ``checksum``, ``attrs``, and the parts ``index``, ``names`` and ``artefacts``;
since schema 3, if operators are described, the parts ``tables`` and the digest ``identity``).
All numbers are little-endian; offsets count from the beginning of the file.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

import numpy as np
import xxhash

from harness.attributes import checked_attributes
from harness.errors import StoreError
from harness.lazy import lazy
from harness.store.layout.index import Index, checked_index
from harness.store.layout.objects import Stored, fetch, fetch_short, inflate, packed_table, proportionate, unpack
from harness.store.layout.schema import (
    COMPRESSIONS,
    DESCRIBED,
    INDEX_DTYPE,
    LEVELS,
    OLDEST,
    PLACES_DTYPE,
    SCHEMA,
    TABLES,
    Compression,
    Level,
    RunId,
    named_run,
    run_text,
)

Array = np.ndarray[Any, np.dtype[Any]]

USER_BLOCK = 512
MAGIC = b"\x93MSDUMP\r\n\x1a\n\0"

_HEAD = struct.Struct("<12sI4Q16s")
_SUM = struct.Struct("<Q")
_DIGEST = re.compile("[0-9a-f]{32}")

#: Bytes of texts that an open store keeps.
_TEXTS = 8 << 20
#: No array has larger elements than this; a text is one element.
_MAX_ITEM = 2**31 - 1


class Part(NamedTuple):
    """A table or a text of a store.

    Attributes:
        offset, size: where it lies in the file, and how many bytes it takes there.
        nbytes: its bytes when inflated; ``size`` if it is not packed.
        itemsize: bytes of one element.
        digest: xxh3_128 of its bytes, 32 hex digits.
    """

    offset: int
    size: int
    nbytes: int
    itemsize: int
    digest: str


@dataclass(frozen=True, slots=True)
class RunEntry:
    """What the contents say of a run; numbers are those of parts."""

    level: Level
    checksum: str
    attrs: Mapping[str, Any]
    index: int
    names: int
    artefacts: Mapping[str, int]
    tables: Mapping[str, int] = field(default_factory=dict)
    identity: str = ""


@dataclass(frozen=True, slots=True)
class Contents:
    """The table of contents of a store."""

    network: str
    compression: Compression
    parts: Sequence[Part]
    places: int
    runs: Mapping[RunId, RunEntry]
    schema: int = SCHEMA


def part_digest(raw: Any) -> str:
    """Digest of a part's bytes."""
    return xxhash.xxh3_128_hexdigest(raw)


def check_schema(version: int) -> int:
    """``version`` if this code reads it; ``StoreError`` saying what to do otherwise."""
    if version > SCHEMA:
        raise StoreError(
            f"schema version {version} was written by a newer pytest-msdump; this one reads {OLDEST} to {SCHEMA}: "
            "update it, or make the golden again with --msdump-regen"
        )
    if version < OLDEST:
        raise StoreError(f"schema version {version} is not known; this pytest-msdump reads {OLDEST} to {SCHEMA}")
    return version


# --- writing --------------------------------------------------------------------------------------------------------


def encoded(contents: Contents) -> Stored:
    """The contents as they are stored."""
    whole = _plain(contents)
    raw = json.dumps(whole, sort_keys=True, separators=(",", ":")).encode()
    return packed_table(np.frombuffer(raw, f"S{len(raw)}"))


def _plain(contents: Contents) -> dict[str, Any]:
    """The contents as JSON values."""
    runs = {
        run_text(run): {
            "level": entry.level,
            "checksum": entry.checksum,
            "attrs": dict(entry.attrs),
            "index": entry.index,
            "names": entry.names,
            "artefacts": dict(entry.artefacts),
            **({"tables": dict(entry.tables), "identity": entry.identity} if entry.tables else {}),
        }
        for run, entry in contents.runs.items()
    }
    return {
        "network": contents.network,
        "compression": contents.compression,
        "parts": [list(part) for part in contents.parts],
        "places": contents.places,
        "runs": runs,
    }


def user_block(file_size: int, offset: int, stored: Stored) -> bytes:
    """The user block of a file whose contents lie at ``offset``."""
    raw = bytes(stored.raw)
    length = stored.dtype.itemsize if stored.packed else 0
    head = _HEAD.pack(MAGIC, SCHEMA, file_size, offset, len(raw), length, xxhash.xxh3_128_digest(raw))
    return (head + _SUM.pack(xxhash.xxh3_64_intdigest(head))).ljust(USER_BLOCK, b"\0")


# --- reading --------------------------------------------------------------------------------------------------------


def has_user_block(head: bytes) -> bool:
    """Whether a file that begins with ``head`` is a store, possibly damaged."""
    # The first byte alone tells a store from HDF5 and from text, whatever became of the line ends behind it.
    return head[:7] == MAGIC[:7]


def read_contents(head: bytes, descriptor: int, file_size: int) -> Contents:
    """The contents of a store that begins with ``head`` (512 bytes, or fewer if the file has no more).

    Raises:
        StoreError: the file is cut short, was altered, or is of a newer schema.
    """
    if len(head) < USER_BLOCK or head[: len(MAGIC)] != MAGIC:
        raise StoreError("its first bytes are damaged: the file was cut short, or copied as text")
    _, schema, size, offset, stored, length, digest = _HEAD.unpack_from(head)
    (checksum,) = _SUM.unpack_from(head, _HEAD.size)
    if checksum != xxhash.xxh3_64_intdigest(head[: _HEAD.size]):
        raise StoreError("its first bytes are damaged: their checksum is wrong")
    check_schema(schema)
    if size != file_size:
        raise StoreError(f"it should have {size} bytes, but has {file_size}: bytes were lost or added")
    if offset + stored > file_size or not proportionate(length, stored):
        raise StoreError("its table of contents lies beyond its end")
    raw = fetch_short(descriptor, stored, offset)
    if xxhash.xxh3_128_digest(raw) != digest:
        raise StoreError("its table of contents is damaged: its digest is wrong")
    # A single element is not shuffled.
    text = inflate(raw, length) if length else raw
    try:
        return _decoded(json.loads(text.decode()), file_size, schema)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise StoreError(f"its table of contents is not that of a golden store ({type(error).__name__})") from None


def read_part(contents: Contents, number: int, descriptor: int) -> bytes | memoryview:
    """The bytes of a part; ``StoreError`` if they are not what was written."""
    part = contents.parts[number]
    stored = fetch_short(descriptor, part.size, part.offset)
    raw = stored if part.size == part.nbytes else unpack(stored, part.nbytes, part.itemsize).data
    if len(raw) != part.nbytes or part_digest(raw) != part.digest:
        raise StoreError("the golden is damaged: the digest of these bytes is wrong")
    return raw


def stored_part(contents: Contents, number: int, descriptor: int) -> Stored:
    """A part as it lies in the file, as texts of ``itemsize`` bytes."""
    part = contents.parts[number]
    raw = fetch_short(descriptor, part.size, part.offset)
    return Stored(np.dtype(f"S{part.itemsize}"), (part.nbytes // part.itemsize,), raw, part.size != part.nbytes)


def _decoded(whole: Any, file_size: int, schema: int) -> Contents:
    parts = [_part(each, file_size) for each in whole["parts"]]
    network, compression = whole["network"], whole["compression"]
    if not isinstance(network, str) or compression not in COMPRESSIONS:
        raise ValueError(network)
    network.encode()  # half of a pair is a ValueError
    runs = {named_run(text): _run(run, len(parts), schema) for text, run in whole["runs"].items()}
    return Contents(network, compression, parts, _number(whole["places"], len(parts)), runs, schema)


def _part(given: Any, file_size: int) -> Part:
    part = Part(*given)
    offset, size, nbytes, itemsize, digest = part
    if not type(offset) is type(size) is type(nbytes) is type(itemsize) is int or type(digest) is not str:
        raise ValueError(given)
    whole = offset >= 0 <= size and nbytes >= 0 < itemsize <= _MAX_ITEM and nbytes % itemsize == 0
    if not whole or offset + size > file_size or (size != nbytes and not proportionate(nbytes, size)):
        raise ValueError(given)
    return part


def _run(run: Any, parts: int, schema: int) -> RunEntry:
    level, checksum, attrs = run["level"], run["checksum"], run["attrs"]
    if level not in LEVELS or not isinstance(attrs, dict) or not _DIGEST.fullmatch(checksum):
        raise ValueError(level)
    artefacts = {name: _number(part, parts) for name, part in run["artefacts"].items()}
    "".join(artefacts).encode("utf-8", "surrogateescape")  # half of a pair is a ValueError
    tables, identity = _tables(run, parts) if schema >= DESCRIBED else ({}, "")
    index, names = _number(run["index"], parts), _number(run["names"], parts)
    return RunEntry(level, checksum, attrs, index, names, artefacts, tables, identity)


def _tables(run: Any, parts: int) -> tuple[dict[str, int], str]:
    """The tables of a run and its ``identity``."""
    tables = {name: _number(part, parts) for name, part in run.get("tables", {}).items()}
    identity = run.get("identity", "")
    if not tables.keys() <= TABLES.keys() or bool(tables) != ("texts" in tables):
        raise ValueError(identity)
    if identity != "" and not _DIGEST.fullmatch(identity):
        raise ValueError(identity)
    return tables, identity


def _number(given: Any, parts: int) -> int:
    if type(given) is not int or not 0 <= given < parts:
        raise ValueError(given)
    return given


# --- a store of today's schema, read by its contents; and what a reader of any schema gives --------------------------


class RunSource(Protocol):
    """A run as stored in its file; every method may raise ``StoreError``."""

    @property
    def level(self) -> Level: ...
    @property
    def checksum(self) -> str: ...
    @property
    def attrs(self) -> Mapping[str, Any]: ...
    def index(self) -> Index: ...
    def artefact_names(self) -> list[str]: ...
    def artefact(self, name: str) -> bytes: ...
    @property
    def identity(self) -> str: ...
    @property
    def table_names(self) -> Collection[str]: ...
    def tables(self) -> dict[str, bytes]: ...
    def stored_parts(self) -> dict[str, Stored]: ...


class Source(Protocol):
    """An open store of any schema; every method may raise ``StoreError``."""

    schema: int
    network: str

    @property
    def compression(self) -> Compression: ...
    def close(self) -> None: ...
    def runs(self) -> Mapping[RunId, RunSource]: ...
    def stored_object(self, content: bytes, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Stored: ...


class Placed:
    """A store of ``size`` bytes: every part is read at the offset in the contents."""

    def __init__(self, descriptor: int, contents: Contents, size: int) -> None:
        self._descriptor, self._contents, self._size = descriptor, contents, size
        self._kept: dict[int, bytes] = {}
        self._room = _TEXTS
        self.schema, self.network, self.compression = contents.schema, contents.network, contents.compression

    def close(self) -> None:
        """Nothing is open but the descriptor."""

    def runs(self) -> dict[RunId, PlacedRun]:
        """All runs, sorted."""
        runs = self._contents.runs
        return {run: PlacedRun(self, runs[run]) for run in sorted(runs)}

    def part(self, number: int) -> bytes | memoryview:
        """Bytes of a part."""
        return read_part(self._contents, number, self._descriptor)

    def text(self, number: int) -> bytes:
        """Bytes of a part that is a text. Runs share texts, so they are kept while there is room."""
        known = self._kept.get(number)
        if known is None:
            known = bytes(self.part(number))
            if len(known) <= self._room:
                self._room -= len(known)
                self._kept[number] = known
        return known

    def texts(self, number: int) -> list[str]:
        """A part that holds texts, each of ``itemsize`` bytes with NULs at its end."""
        raw, size = bytes(self.part(number)), self._contents.parts[number].itemsize
        starts = range(0, len(raw), size)
        return [raw[at : at + size].rstrip(b"\0").decode("utf-8", "surrogateescape") for at in starts]

    def stored(self, number: int, dtype: np.dtype[Any] | None = None) -> Stored:
        """A part as it lies in the file."""
        found = stored_part(self._contents, number, self._descriptor)
        if dtype is None:
            return found
        return Stored(dtype, (self._contents.parts[number].nbytes // dtype.itemsize,), found.raw, found.packed)

    @lazy
    def places(self) -> dict[bytes, tuple[int, int, bool]]:
        """Offset, stored size and packing of each object, by digest."""
        rows = np.frombuffer(self.part(self._contents.places), PLACES_DTYPE)
        whole = np.ascontiguousarray(rows["digest"]).tobytes()
        digests = (whole[at : at + 16] for at in range(0, len(whole), 16))
        columns = rows["offset"].tolist(), rows["size"].tolist(), rows["packed"].astype(bool).tolist()
        return dict(zip(digests, zip(*columns, strict=True), strict=True))

    def stored_object(self, content: bytes, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Stored:
        """The object of that digest."""
        place = self.places.get(content)
        if place is None:
            raise StoreError("its tensor is missing")
        offset, size, packed = place
        nbytes = prod(shape) * dtype.itemsize
        if not packed and size != nbytes:
            raise StoreError(f"{size} bytes are stored, but {dtype}{list(shape)} needs {nbytes}")
        if offset + size > self._size:
            raise StoreError(f"its {size} bytes at {offset} lie beyond the end of the file")
        return Stored(dtype, shape, fetch(self._descriptor, size, offset), packed)


class PlacedRun:
    """A run of a store of today's schema."""

    def __init__(self, store: Placed, entry: RunEntry) -> None:
        self._store, self._entry = store, entry
        self.level, self.checksum, self.identity = entry.level, entry.checksum, entry.identity
        self.table_names = entry.tables.keys()

    @lazy
    def attrs(self) -> Mapping[str, Any]:
        """JSON values, of the types that they must have."""
        return MappingProxyType(checked_attributes(self._entry.attrs, StoreError))

    def index(self) -> Index:
        """All slots."""
        rows = np.frombuffer(self._store.part(self._entry.index), INDEX_DTYPE)
        return checked_index(rows, self._store.texts(self._entry.names))

    def artefact_names(self) -> list[str]:
        """Names of all texts, sorted."""
        return sorted(self._entry.artefacts)

    def artefact(self, name: str) -> bytes:
        """A text."""
        return self._store.text(self._entry.artefacts[name])

    def tables(self) -> dict[str, bytes]:
        """Bytes of the tables that describe its operators, by name."""
        return {name: self._store.text(at) for name, at in self._entry.tables.items()}

    def stored_parts(self) -> dict[str, Stored]:
        """Index, names, every table (``table <name>``) and artefact (``artefact <name>``) as they lie in the file."""
        parts = {f"artefact {name}": self._store.stored(at) for name, at in self._entry.artefacts.items()}
        parts |= {f"table {name}": self._store.stored(at, TABLES[name]) for name, at in self._entry.tables.items()}
        index = self._store.stored(self._entry.index, INDEX_DTYPE)
        return parts | {"index": index, "names": self._store.stored(self._entry.names)}
