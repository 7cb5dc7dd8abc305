"""Stores of today's schema, read by offsets; and what a reader of any schema gives."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property
from math import prod
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np

from harness.errors import StoreError
from harness.store.contents import Contents, RunEntry, read_part, stored_part
from harness.store.index import Index, checked_index
from harness.store.objects import Stored, fetch
from harness.store.schema import INDEX_DTYPE, PLACES_DTYPE, SCHEMA, Compression, Level, RunId

Array = np.ndarray[Any, np.dtype[Any]]


class RunSource(Protocol):
    """A run as its file has it; everything may raise ``StoreError``."""

    @property
    def level(self) -> Level: ...
    @property
    def checksum(self) -> str: ...
    @property
    def attrs(self) -> Mapping[str, Any]: ...
    def index(self) -> Index: ...
    def artefact_names(self) -> list[str]: ...
    def artefact(self, name: str) -> bytes: ...
    def stored_parts(self) -> dict[str, Stored]: ...


class Source(Protocol):
    """An open store of some schema; everything may raise ``StoreError``."""

    schema: int
    network: str

    @property
    def compression(self) -> Compression: ...
    def close(self) -> None: ...
    def runs(self) -> Mapping[RunId, RunSource]: ...
    def stored_object(self, content: bytes, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Stored: ...


class Placed:
    """A store of today's schema: every part is read from where the contents say it lies."""

    schema = SCHEMA

    def __init__(self, descriptor: int, contents: Contents) -> None:
        self._descriptor, self._contents = descriptor, contents
        self.network, self.compression = contents.network, contents.compression

    def close(self) -> None:
        """Nothing is open but the descriptor."""

    def runs(self) -> dict[RunId, PlacedRun]:
        """All runs, sorted."""
        return {run: PlacedRun(self, entry) for run, entry in sorted(self._contents.runs.items())}

    def part(self, number: int) -> Array:
        """Bytes of a part."""
        return read_part(self._contents, number, self._descriptor)

    def stored(self, number: int, dtype: np.dtype[Any] | None = None) -> Stored:
        """A part as it lies in the file."""
        found = stored_part(self._contents, number, self._descriptor)
        if dtype is None:
            return found
        return Stored(dtype, (self._contents.parts[number].nbytes // dtype.itemsize,), found.raw, found.packed)

    @cached_property
    def places(self) -> dict[bytes, tuple[int, int, bool]]:
        """Offset, stored size and packing of each object, by digest."""
        rows = self.part(self._contents.places).view(PLACES_DTYPE)
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
            raise StoreError(f"{size} bytes are stored where {dtype}{list(shape)} takes {nbytes}")
        if offset + size > os.fstat(self._descriptor).st_size:
            raise StoreError(f"its {size} bytes at {offset} lie beyond the end of the file")
        return Stored(dtype, shape, fetch(self._descriptor, size, offset), packed)


class PlacedRun:
    """A run of a store of today's schema."""

    def __init__(self, store: Placed, entry: RunEntry) -> None:
        self._store, self._entry = store, entry
        self.level, self.checksum = entry.level, entry.checksum
        self.attrs = MappingProxyType(dict(entry.attrs))

    def index(self) -> Index:
        """All slots."""
        names = self._store.stored(self._entry.names).dtype
        texts = self._store.part(self._entry.names).view(names).tolist()
        rows = self._store.part(self._entry.index).view(INDEX_DTYPE)
        return checked_index(rows, [raw.decode("utf-8", "surrogateescape") for raw in texts])

    def artefact_names(self) -> list[str]:
        """Names of all texts, sorted."""
        return sorted(self._entry.artefacts)

    def artefact(self, name: str) -> bytes:
        """A text."""
        return self._store.part(self._entry.artefacts[name]).tobytes()

    def stored_parts(self) -> dict[str, Stored]:
        """Index, names and every artefact (``artefact <name>``) as they lie in the file."""
        parts = {f"artefact {name}": self._store.stored(at) for name, at in self._entry.artefacts.items()}
        index = self._store.stored(self._entry.index, INDEX_DTYPE)
        return parts | {"index": index, "names": self._store.stored(self._entry.names)}
