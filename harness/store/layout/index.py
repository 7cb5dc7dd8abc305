"""A run's index: its slots, what is known about each without its values, and the checksum over the whole run.

Of some tensors only a few statistics are known: a ``statistic.csv`` holds only the requested items. Such a row has
a ``count`` below 0: ``-1 - mask``, where bit ``n`` of ``mask`` says that item ``n`` of ``stats.printed.ATTRIBUTES`` is
known. Unknown items are NaN or 0.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from functools import lru_cache
from math import prod
from operator import attrgetter, itemgetter
from typing import Any

import numpy as np
import xxhash

from harness import dtypes
from harness.errors import DtypeError, StoreError, first_line
from harness.lazy import lazy
from harness.records import Record, RecordExtra, SlotKey
from harness.stats import Statistics
from harness.stats.printed import ATTRIBUTES, MISSING, PrintedStatistics
from harness.store.layout.schema import INDEX_DTYPE, IOS, MAX_NAME, NAME_FIELDS, NO_SOURCE, Level

Array = np.ndarray[Any, np.dtype[Any]]

_STATISTICS = tuple(field.name for field in fields(Statistics))
_COUNT = _STATISTICS.index("count")
#: Largest number of axes in HDF5.
MAX_RANK = 32
#: No tensor has so many elements: their bytes would not be counted by 64 bits.
_MOST_ELEMENTS = 2**56
#: Number of rows kept as Python tuples, which take ten times the memory of packed ones.
_TOGETHER = 4096

_statistics_row = attrgetter(*_STATISTICS)
_KEY_NUMBERS = ("rank", "execution", "slot")
#: Of 32 bits without a sign, as MindSpore counts them; the columns hold the same bits with one.
_LABELS = ("graph", "iteration")


#: How ``struct`` spells the kinds of a row's columns; digests are bytes.
_LETTERS = {"i4": "i", "u1": "B", "f8": "d", "i8": "q", "V16": "16s"}


def _only(*names: str, unsigned: tuple[str, ...] = ()) -> struct.Struct:
    """Reads these columns of a row and skips the others. Numpy's own tuples of a table take longer, however short."""
    texts = []
    for name in INDEX_DTYPE.names or ():
        kind = INDEX_DTYPE[name]
        letter = _LETTERS[kind.str.lstrip("<|")]
        texts.append((letter.upper() if name in unsigned else letter) if name in names else f"{kind.itemsize}x")
    return struct.Struct("<" + "".join(texts))


_KEYS = _only("rank", "graph", "iteration", "execution", "operator", "io", "slot", unsigned=_LABELS)
_POINTERS = _only("io", *NAME_FIELDS)
_DIGESTS = _only("digest")
_ROW = _only(*(INDEX_DTYPE.names or ()))
#: Where a column stands in what ``_ROW`` reads.
_AT = {name: at for at, name in enumerate(INDEX_DTYPE.names or ())}
_TYPE, _DTYPE, _SHAPE, _FORMAT, _SOURCE = (_AT[name] for name in ("type", "dtype", "shape", "format", "source"))
_statistics_of = itemgetter(*(_AT[name] for name in _STATISTICS))
#: The columns of ``_POINTERS`` as they lie in a row.
_POINTED = tuple(name for name in INDEX_DTYPE.names or () if name in ("io", *NAME_FIELDS))
#: Below minus this, ``count`` says that a slot has statistics and no values; no tensor has so many elements.
_APART = 1 << 58
#: Rows whose columns are looked at as Python's numbers: numpy needs microseconds for each column, however short.
_FEW = 64


class Index:
    """The rows of one run, in execution order.

    Attributes:
        rows: structured array of ``schema.INDEX_DTYPE``, shape (slots,).
        names: the strings rows point to.
    """

    def __init__(self, rows: Array, names: Sequence[str]) -> None:
        self.rows = rows
        self.names = list(names)
        self._unpacked: tuple[int, list[tuple[Any, ...]]] = (-1, [])

    def __len__(self) -> int:
        return len(self.rows)

    @lazy
    def keys(self) -> list[SlotKey]:
        """Of each row, its slot."""
        names = self.names
        return [
            SlotKey(rank, graph, iteration, names[operator], execution, IOS[io], slot)
            for rank, graph, iteration, execution, operator, io, slot in _KEYS.iter_unpack(self._raw)
        ]

    @lazy
    def digests(self) -> list[bytes]:
        """Of each row, its digest (16 bytes)."""
        return [digest for (digest,) in _DIGESTS.iter_unpack(self._raw)]

    @property
    def _raw(self) -> bytes:
        return self.rows.tobytes()

    @lazy
    def position(self) -> dict[SlotKey, int]:
        """Row number of each slot; ``StoreError`` if a slot has two rows."""
        found = {key: at for at, key in enumerate(self.keys)}
        if len(found) != len(self.rows):
            twice = next(key for at, key in enumerate(self.keys) if found[key] != at)
            raise StoreError(f"the index has two rows for {describe_key(twice)}")
        return found

    def _row(self, row: int) -> tuple[Any, ...]:
        """A row's fields. Rows that are read in turn are unpacked in blocks of some thousands."""
        start = row - row % _TOGETHER
        if self._unpacked[0] != start:
            if row != start and len(self.rows) > _TOGETHER:
                return _ROW.unpack(self.rows[row].tobytes())
            self._unpacked = start, list(_ROW.iter_unpack(self.rows[start : start + _TOGETHER].tobytes()))
        return self._unpacked[1][row - start]

    @lazy
    def _shapes(self) -> dict[int, tuple[int, ...]]:
        """Shapes read so far, by the name that gives them."""
        return {}

    def name(self, row: int, field: str) -> str:
        """The string a row's ``field`` (``type``, ``dtype``, ...) points to."""
        at: int = self._row(row)[_AT[field]]
        return self.names[at]

    def shape(self, row: int) -> tuple[int, ...]:
        """A row's shape."""
        at = self._row(row)[_SHAPE]
        shape = self._shapes.get(at)
        if shape is None:
            shape = self._shapes[at] = read_shape(self.names[at])
        return shape

    def read_names(self, shapes: Iterable[int], kinds: Iterable[int]) -> None:
        """Reads the names that rows take for shapes, and those they take for dtypes; ``StoreError`` for what is
        none."""
        for at in shapes:
            self._shapes[at] = read_shape(self.names[at])
        for at in kinds:
            try:
                dtypes.by_name(self.names[at])
            except DtypeError as error:
                raise StoreError(f"the index's column 'dtype': {first_line(error)}") from None

    def statistics(self, row: int) -> Statistics | PrintedStatistics:
        """A row's statistics, as far as they are known."""
        values = _statistics_of(self._row(row))
        count = values[_COUNT]
        if count <= -_APART:
            return replace(Statistics(*values), count=-count - _APART)
        if count < 0:
            known = dict(zip(_STATISTICS, values, strict=True))
            return from_row(known, count, prod(self.shape(row)), self.name(row, "dtype"))
        return Statistics(*values)

    def has_values(self, row: int) -> bool:
        """Whether values were kept for a row, in a run of level ``tensors``."""
        kept: bool = self._row(row)[_AT["count"]] >= 0
        return kept

    @lazy
    def kept(self) -> list[bool]:
        """Of each row, ``has_values``."""
        kept: list[bool] = (self.rows["count"] >= 0).tolist()
        return kept

    def record(self, row: int) -> Record:
        """A row as a record without values; its statistics are in ``extra.statistics``."""
        fields, names = self._row(row), self.names
        source = fields[_SOURCE]
        return Record(
            self.keys[row],
            names[fields[_TYPE]],
            names[fields[_DTYPE]],
            self.shape(row),
            names[fields[_FORMAT]],
            None,
            None if source == NO_SOURCE else names[source],
            self.digests[row],
            RecordExtra(statistics=self.statistics(row), apart=fields[_AT["count"]] <= -_APART),
        )


def checked_index(rows: Array, names: Sequence[str]) -> Index:
    """An index read from a file; ``StoreError`` if its rows do not fit the schema or point nowhere."""
    if rows.ndim != 1 or rows.dtype != INDEX_DTYPE:
        raise StoreError("the index is not the table this schema version describes")
    index = Index(rows, names)
    if len(rows):
        columns = _pointers(rows)
        for field, column in columns.items():
            short = isinstance(column, tuple)
            least, most = (min(column), max(column)) if short else (int(column.min()), int(column.max()))
            if field == "io":
                if most >= len(IOS):
                    raise StoreError("the index's column 'io' has a value that is neither input nor output")
            elif least < (NO_SOURCE if field == "source" else 0) or most >= len(names):
                raise StoreError(f"the index's column {field!r} points beyond the table of names")
        if any(int(rows[name].min()) < 0 for name in _KEY_NUMBERS):
            raise StoreError("the index has a rank, an execution or a slot below 0")
        index.read_names(_distinct(columns["shape"], len(names)), _distinct(columns["dtype"], len(names)))
    return index


def _pointers(rows: Array) -> dict[str, Any]:
    """The columns that point somewhere: tuples of a short table, else arrays."""
    if len(rows) > _FEW:
        return {field: rows[field] for field in _POINTED}
    return dict(zip(_POINTED, zip(*_POINTERS.iter_unpack(rows.tobytes()), strict=True), strict=True))


def _distinct(column: Any, names: int) -> Iterable[int]:
    """The different values of a column that points to names."""
    if isinstance(column, tuple):
        return set(column)
    met = np.zeros(names, bool)
    met[column] = True
    return np.flatnonzero(met).tolist()


# The same shapes recur in golden after golden.
@lru_cache(maxsize=4096)
def read_shape(text: str) -> tuple[int, ...]:
    """The shape that a name states; ``StoreError`` for a text that states none, or one that no file can hold."""
    try:
        shape = tuple(map(int, text.split(","))) if text else ()
    except ValueError:
        shape = (-1,)
    if any(size < 0 for size in shape) or len(shape) > MAX_RANK or prod(shape) >= _MOST_ELEMENTS:
        raise StoreError(f"the index's column 'shape' has the value {text[:80]!r}")
    return shape


class IndexBuilder:
    """Collects rows."""

    def __init__(self) -> None:
        self._tables: list[Array] = []
        self._rows: list[tuple[Any, ...]] = []
        self._names: dict[str, int] = {}
        self._seen: set[SlotKey] = set()

    def _name(self, text: str) -> int:
        number = self._names.get(text)
        if number is None:
            if len(text.encode("utf-8", "surrogateescape")) > MAX_NAME or "\0" in text:
                raise StoreError(f"a name is longer than {MAX_NAME} bytes or has a NUL in it: {text[:80]!r}")
            number = self._names[text] = len(self._names)
        return number

    def claim(self, key: SlotKey) -> None:
        """Announces ``key``'s row as the next; ``StoreError`` if the slot has a row already, or the table cannot hold
        it."""
        if key in self._seen:
            raise StoreError(f"two records are given for {describe_key(key)}")
        self._seen.add(key)
        held = all(0 <= getattr(key, name) < 2**31 for name in _KEY_NUMBERS)
        if key.io not in IOS or not held or not all(0 <= getattr(key, name) < 2**32 for name in _LABELS):
            raise StoreError(
                f"{tuple(key)} is not a slot: io is input or output, numbers are not negative and have at most 31 bits,"
                " labels of graphs and iterations 32 without a sign"
            )

    def add(self, record: Record, digest: bytes, statistics: Statistics) -> None:
        """Appends the row of a slot that was claimed; ``StoreError`` for a dtype or a name it cannot hold."""
        key = record.key
        try:
            dtype = dtypes.by_name(record.dtype).name
        except DtypeError as error:
            raise StoreError(f"{describe_key(key)}: {error}") from None
        if len(record.shape) > MAX_RANK:
            raise StoreError(f"{describe_key(key)}: it has {len(record.shape)} axes; a store holds at most {MAX_RANK}")
        name = self._name
        if len(self._rows) >= _TOGETHER:
            self._pack()
        self._rows.append(
            (
                key.rank, signed(key.graph), signed(key.iteration), key.execution, name(key.operator),
                name(record.op_type),
                IOS.index(key.io), key.slot, name(dtype), name(",".join(map(str, record.shape))),
                name(record.format), NO_SOURCE if record.source is None else name(record.source),
                digest, *_statistics_row(statistics),
            )
        )  # fmt: skip

    def build(self) -> Index:
        """Ends the collecting; returns the index of everything added."""
        self._seen.clear()
        self._pack()
        tables = self._tables
        return Index(tables[0] if len(tables) == 1 else np.concatenate(tables), list(self._names))

    def _pack(self) -> None:
        self._tables.append(np.array(self._rows, INDEX_DTYPE) if self._rows else np.empty(0, INDEX_DTYPE))
        self._rows = []


def signed(label: int) -> int:
    """The number with a sign that has the 32 bits of ``label``."""
    return label - 2**32 if label >= 2**31 else label


def describe_key(key: SlotKey) -> str:
    """A slot in words: ``rank 0, graph 0, iteration 1, Default/fc-Dense/MatMul-op0 output.0``."""
    again = f", execution {key.execution}" if key.execution else ""
    return f"rank {key.rank}, graph {key.graph}, iteration {key.iteration}, {key.operator} {key.slot_name}{again}"


# --- statistics of which some are known -------------------------------------------------------------------------------

_NUMBERS = frozenset({"max", "min", "avg", "l2norm"})
_BOOLS = {"True": "1", "False": "0"}


def apart(statistics: Statistics) -> Statistics:
    """What stands in an index for a slot whose values are not kept, in a run that keeps others'."""
    return replace(statistics, count=-_APART - statistics.count)


def to_row(known: Mapping[str, str]) -> Statistics:
    """What stands in an index; texts that are not numbers count as unknown, as ``null`` does.

    Args:
        known: item -> text, as a ``statistic.csv`` prints it.
    """
    mask = 0
    values: dict[str, float] = {name: math.nan if name in _NUMBERS else 0 for name in ATTRIBUTES.values()}
    for bit, (item, name) in enumerate(ATTRIBUTES.items()):
        number = _number(known.get(item, MISSING), whole=name not in _NUMBERS)
        if number is not None:
            mask |= 1 << bit
            values[name] = number
    values["count"] = -1 - mask
    return Statistics(**values)  # type: ignore[arg-type]


def _number(text: str, whole: bool) -> float | None:
    try:
        value = float(_BOOLS.get(text, text))
        if not whole:
            return value
        return int(value) if 0 <= value < 2**63 else None
    except (ValueError, OverflowError):
        return None


def from_row(values: Mapping[str, Any], count: int, elements: int, dtype: str) -> PrintedStatistics:
    """The items a row knows, as a ``statistic.csv`` would print them.

    Args:
        values: by field of ``Statistics``.
        count: below 0.
        elements: of the tensor.
        dtype: CamelCase name.
    """
    mask = -1 - count
    texts = {}
    for bit, (item, name) in enumerate(ATTRIBUTES.items()):
        if mask >> bit & 1:
            value = elements if name == "count" else values[name]
            texts[item] = f"{value:g}" if name in _NUMBERS else str(int(value))
    return PrintedStatistics(texts, dtype)


# --- the checksum of a run --------------------------------------------------------------------------------------------


def attrs_text(attrs: Mapping[str, Any]) -> str:
    """A run's attributes as canonical JSON; ``StoreError`` for what JSON cannot hold, and for known ones of another
    type."""
    try:
        return json.dumps(dict(attrs), sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise StoreError(f"the run's attrs are not JSON: {error}") from None


def run_checksum(
    index: Index,
    level: Level,
    attrs: Mapping[str, Any] | str,
    artefacts: Mapping[str, bytes],
    described: Mapping[str, bytes] | None = None,
) -> str:
    """32 hex digits of xxh3_128 over index, names, level, attributes (or their text), artefacts, and what describes the
    operators (tables and ``identity``, by name), if anything does."""
    hasher = xxhash.xxh3_128()

    def add(raw: bytes) -> None:
        # Lengths go in too, so that no two lists of parts look alike.
        hasher.update(len(raw).to_bytes(8, "little"))
        hasher.update(raw)

    add(index.rows.tobytes())
    for name in index.names:
        add(name.encode("utf-8", "surrogateescape"))
    add(level.encode())
    add((attrs if isinstance(attrs, str) else attrs_text(attrs)).encode())
    for name in sorted(artefacts):
        add(name.encode("utf-8", "surrogateescape"))
        add(artefacts[name])
    for name in sorted(described or {}):
        add(b"described/" + name.encode())
        add((described or {})[name])
    return hasher.hexdigest()
