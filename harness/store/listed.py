"""A store of schema 1 by its listing, which a confined process made: nothing in it is taken for granted."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from math import prod
from types import MappingProxyType
from typing import Any

import numpy as np

from harness.attributes import checked_attributes
from harness.errors import StoreError
from harness.lazy import lazy
from harness.store.apart import listed
from harness.store.hdf5_structure import refuse_odd_structure
from harness.store.layout.contents import check_schema
from harness.store.layout.index import MAX_RANK, Index, checked_index
from harness.store.layout.objects import MAX_RATIO, Stored, fetch, proportionate
from harness.store.layout.schema import COMPRESSIONS, INDEX_DTYPE, LEVELS, Compression, Level, RunId

_PLAIN = re.compile(r"[<|][biufcS][1-9]\d{0,8}")
_MOST = 1 << 62


class Schema1:
    """An open store of schema 1; see ``layout.contents.Source``."""

    schema = 1

    def __init__(self, descriptor: int, size: int) -> None:
        refuse_odd_structure(descriptor, size)
        self._descriptor, self._size = descriptor, size
        self._listing = listed(descriptor, size)
        schema = self._listing.get("schema")
        if check_schema(schema if type(schema) is int else 0) != self.schema:
            raise StoreError(f"its HDF5 attribute says schema {schema}, but it does not begin as such a store")
        self.network = _text(self._listing, "network")

    @property
    def compression(self) -> Compression:
        """How objects are stored."""
        found = _text(self._listing, "compression")
        if found not in COMPRESSIONS:
            raise StoreError(f"unknown compression {found[:80]!r}; known are {', '.join(COMPRESSIONS)}")
        return found

    def close(self) -> None:
        """Nothing is open but the descriptor."""

    def runs(self) -> dict[RunId, Run1]:
        """All runs, sorted."""
        found: dict[RunId, Run1] = {}
        for each in _list(self._listing, "runs"):
            if not (isinstance(each, list) and len(each) == 3 and type(each[0]) is type(each[1]) is str and all(each)):
                raise StoreError("its listing has a run without a name")
            found[RunId(each[0], each[1])] = Run1(self, _object(each[2]))
        return dict(sorted(found.items()))

    @lazy
    def _objects(self) -> dict[str, Any]:
        return _object(self._listing.get("objects"))

    def stored_object(self, content: bytes, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Stored:
        """The object of that digest."""
        if content.hex() not in self._objects:
            raise StoreError("its tensor is missing")
        return self.read(self._objects[content.hex()])

    def read(self, place: Any, dtype: np.dtype[Any] | None = None, *, text: bool = False) -> Stored:
        """The stored form of what lies at a place; ``StoreError`` for one that the file cannot have.

        Args:
            place: as the listing has it.
            dtype: of the array; None for the one that is listed.
            text: it is a table or a text, which shrink little.
        """
        _refuse_error(place)
        if not (
            isinstance(place, list) and len(place) == 5 and isinstance(place[4], list) and len(place[4]) <= MAX_RANK
        ):
            raise StoreError("its listing has no place for it")
        at, size, packed, kind, shape = place
        if not all(type(each) is int and 0 <= each < _MOST for each in (at, size, *shape)) or type(packed) is not bool:
            raise StoreError("its listing has an impossible place for it")
        if dtype is None:
            if not isinstance(kind, str) or _PLAIN.fullmatch(kind) is None:
                raise StoreError(f"a golden store never uses its type {str(kind)[:80]}")
            dtype = _dtype(kind)
        nbytes = prod(shape) * dtype.itemsize
        fits = (
            nbytes <= MAX_RATIO * (size + 1) and (not text or proportionate(nbytes, size)) if packed else size == nbytes
        )
        if not fits or at + size > self._size:
            raise StoreError(f"its {size} bytes at {at} cannot hold {nbytes}, or lie beyond the end of the file")
        return Stored(dtype, tuple(shape), fetch(self._descriptor, size, at) if size else b"", packed)


class Run1:
    """A run of a store of schema 1."""

    def __init__(self, store: Schema1, listing: dict[str, Any]) -> None:
        self._store, self._listing = store, listing

    @property
    def level(self) -> Level:
        """``tensors`` or ``digest``."""
        found = _text(self._listing, "level")
        if found not in LEVELS:
            raise StoreError(f"unknown level {found[:80]!r}; known are {', '.join(LEVELS)}")
        return found

    @property
    def checksum(self) -> str:
        """As it was written."""
        return _text(self._listing, "checksum")

    @property
    def attrs(self) -> Mapping[str, Any]:
        """JSON values, of the types that they must have."""
        try:
            attrs = json.loads(_text(self._listing, "attrs"))
        except StoreError:
            raise
        except (ValueError, RecursionError) as error:
            raise StoreError(f"attrs: not JSON: {error}") from None
        return MappingProxyType(checked_attributes(attrs, StoreError))

    def index(self) -> Index:
        """All slots."""
        names = self._store.read(self._listing.get("names"), text=True)
        if names.dtype.kind != "S" or len(names.shape) != 1:
            raise StoreError("names: it is not a table of strings")
        texts = [raw.decode("utf-8", "surrogateescape") for raw in names.array().tolist()]
        return checked_index(self._store.read(self._listing.get("index"), INDEX_DTYPE, text=True).array(), texts)

    @lazy
    def _texts(self) -> dict[str, Any]:
        return dict(sorted(_object(self._listing.get("texts")).items()))

    def artefact_names(self) -> list[str]:
        """Names of all texts, sorted."""
        return list(self._texts)

    def artefact(self, name: str) -> bytes:
        """A text."""
        return self._store.read(self._texts[name], text=True).unpacked().tobytes()

    def stored_parts(self) -> dict[str, Stored]:
        """Empty: nothing is copied unchanged."""
        return {}


def _dtype(kind: str) -> np.dtype[Any]:
    try:
        return np.dtype(kind)
    except TypeError:
        raise StoreError(f"a golden store never uses its type {kind}") from None


def _refuse_error(found: Any) -> None:
    if isinstance(found, dict) and isinstance(found.get("error"), str):
        raise StoreError(found["error"][:400])


def _text(listing: dict[str, Any], name: str) -> str:
    _refuse_error(listing.get(name))
    found = listing.get(name)
    if not isinstance(found, str):
        raise StoreError(f"its listing has no {name}")
    return found


def _list(listing: dict[str, Any], name: str) -> list[Any]:
    _refuse_error(listing.get(name))
    found = listing.get(name)
    if not isinstance(found, list):
        raise StoreError(f"its listing has no {name}")
    return found


def _object(found: Any) -> dict[str, Any]:
    _refuse_error(found)
    if not isinstance(found, dict):
        raise StoreError("its listing is damaged")
    return found
