"""The unit of everything that is stored and compared: one slot in one execution of an operator.

A record knows nothing of graphs, files or stores; ``store`` keeps records, ``compare`` judges them, ``capture``
makes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

#: Items of a row of statistics that identify the bits.
HASHES = frozenset({"md5", "sha1"})
#: Scope of the values a test gives to ``check``; no operator of a network has it.
GIVEN_SCOPE = "check"


class SlotKey(NamedTuple):
    """Identifies one slot of a run.

    Attributes:
        rank: process rank.
        graph: kernel-graph id.
        iteration: step label.
        operator: full name with scope, unmangled (``Default/fc1-Dense/MatMul-op0``); a parameter's own name
            (``fc1.weight``) for type ``Parameter``.
        execution: 0 for an operator's first execution in this iteration, 1 for the next, ... (loop bodies).
        io: ``input`` or ``output``.
        slot: position in the operator's flattened argument or output list.
    """

    rank: int
    graph: int
    iteration: int
    operator: str
    execution: int
    io: str
    slot: int

    @property
    def slot_name(self) -> str:
        """``input.0``, ``output.1``."""
        return f"{self.io}.{self.slot}"


class Gap(NamedTuple):
    """A slot that could not be read.

    Attributes:
        key: the slot.
        op_type: primitive name of its operator; empty if unknown.
        why: why it could not be read.
    """

    key: SlotKey
    op_type: str
    why: str


class Streamed:
    """Values that can be read in pieces, so that a tensor larger than memory can be examined. Called without arguments,
    they give the whole array. (No abstract class: every record asks whether its values are of this one.)"""

    __slots__ = ()

    def pieces(self) -> Iterator[Array] | None:
        """See ``Record.pieces``; this class cannot give them."""
        return None

    def blocks(self, size: int, start: int) -> Iterator[Array] | None:
        """See ``Record.blocks``; this class cannot give them."""
        return None

    def head(self) -> bytes:
        """See ``Record.head``."""
        return b""


@dataclass(slots=True)
class RecordExtra:
    """What some captures know about a slot beside its values; a field is None (or empty) if it is unknown.

    Attributes:
        statistics: a ``stats.Statistics``, or a ``stats.printed.PrintedStatistics`` if only some items are known.
        row: the items of its ``statistic.csv`` row, as ``PrintedStatistics``.
        described: a ``stats.Statistics`` of the values, computed while they were read.
        stream: number of the stream in which a kernel ran.
        task: number of the task in which a kernel ran.
        alone: the kernel's name if it were not fused.
        members: the operators of a fused kernel; the last one gives the result.
        device_shape: the tensor's shape on its device, if that differs.
        named: the name of a keyword argument.
        apart: a golden left the values out on purpose, to stay small; its statistics stand for them.
    """

    statistics: Any = None
    row: Any = None
    described: Any = None
    stream: int | None = None
    task: int | None = None
    alone: str | None = None
    members: tuple[str, ...] = ()
    device_shape: tuple[int, ...] | None = None
    named: str | None = None
    apart: bool = False


@dataclass(slots=True, eq=False)
class Record:
    """One slot's tensor and the key that names it.

    Attributes:
        key: see ``SlotKey``.
        op_type: primitive name (``MatMul``), or ``Parameter``.
        dtype: CamelCase dtype name (``Float32``).
        shape: logical shape.
        format: ``DefaultFormat``, a device format, or ``dtypes.TORCH_FORMAT``.
        values: the array itself (C-contiguous), a function that loads it, or None if values were not kept.
        source: innermost source line of the operator (``file.py:17``), or None.
        digest: 16-byte content digest if known, else None (``stats.digest`` computes it).
        extra: facts beside the values.
    """

    key: SlotKey
    op_type: str
    dtype: str
    shape: tuple[int, ...]
    format: str = "DefaultFormat"
    values: Array | Callable[[], Array] | None = None
    source: str | None = None
    digest: bytes | None = None
    extra: RecordExtra = field(default_factory=RecordExtra)

    def load(self) -> Array | None:
        """The array (shape ``shape``), or None if values were not kept."""
        return self.values() if callable(self.values) else self.values

    def pieces(self) -> Iterator[Array] | None:
        """The elements in C order, in 1-D arrays of ``PIECE`` bytes; the last one holds the rest.

        A piece is valid until the next is requested. None if the values are in memory, are small, or can only be read
        whole; then ``load`` gives them and reads no byte twice.
        """
        values = self.values
        return values.pieces() if isinstance(values, Streamed) else None

    def blocks(self, size: int, start: int = 0) -> Iterator[Array] | None:
        """The elements from flat index ``start`` on in C order, in 1-D arrays of ``size``; the last one holds the rest.

        Like ``pieces``, but of any size, from any place, and repeatable: each call reads the file again. None if the
            values are in memory, are small, or can only be read whole.
        """
        values = self.values
        return values.blocks(size, start) if isinstance(values, Streamed) else None

    def head(self) -> bytes:
        """The first bytes of ``blocks`` that are known without reading them; often none."""
        return self.values.head() if isinstance(self.values, Streamed) else b""

    def statistics(self) -> Any:
        """``extra.statistics``; None if there are none."""
        return self.extra.statistics

    def row(self) -> Any:
        """``extra.row``; None if there is none."""
        return self.extra.row

    @property
    def numbers(self) -> tuple[Any, ...] | None:
        """Maximum, minimum, mean, norm and checksum (a text, empty if there is none), where they are all that is known
        of the values, with all their digits; else None."""
        return None

    @property
    def known_digest(self) -> bytes | None:
        """``digest``, if it need not be made first."""
        return self.digest

    @property
    def proves_bits(self) -> bool:
        """Whether an equal digest proves equal bits: it does unless statistics without a hash are all that was
        kept."""
        row = None if self.values is not None else self.row()
        return row is None or not HASHES.isdisjoint(row)

    def agrees(self, other: Record) -> bool | None:
        """Whether ``other`` has the same digest; None if that is unknown without reading values."""
        mine, theirs = self.digest, other.digest
        return None if mine is None or theirs is None else mine == theirs


class DeferredRecord(Record):
    """A record whose digest and ``extra`` are made when they are first asked for: a file may list a million rows, and
    most of them agree. Subclasses say how they are made, and set ``_digest`` and ``_extra`` to None."""

    __slots__ = ("_digest", "_extra")

    _digest: bytes | None
    _extra: RecordExtra | None

    @property
    def digest(self) -> bytes | None:
        """See ``Record``."""
        if self._digest is None:
            self._digest = self._made_digest()
        return self._digest

    @digest.setter
    def digest(self, value: bytes | None) -> None:
        self._digest = value

    @property
    def known_digest(self) -> bytes | None:
        """See ``Record``."""
        return self._digest

    @property
    def extra(self) -> RecordExtra:
        """See ``Record``."""
        if self._extra is None:
            self._extra = self._made_extra()
        return self._extra

    @extra.setter
    def extra(self, value: RecordExtra) -> None:
        self._extra = value

    def _made_digest(self) -> bytes | None:
        raise NotImplementedError

    def _made_extra(self) -> RecordExtra:
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Rows:
    """Records that are rows of statistics, in execution order, as columns.

    Two of them have equal digests exactly if dtype, shape and text are equal.

    Attributes:
        items: names of the statistics in the texts.
        keys, op_types, dtypes, shapes, sources: see ``Record``; one for each.
        texts: the texts of each row, one per item.
        record: makes the record of a row, by number.
    """

    items: tuple[str, ...]
    keys: list[SlotKey]
    op_types: list[str]
    dtypes: list[str]
    shapes: list[tuple[int, ...]]
    sources: list[str | None]
    texts: list[str]
    record: Callable[[int], Record]

    def records(self) -> Iterator[Record]:
        """All records."""
        return map(self.record, range(len(self.keys)))


#: Bytes of a piece: for every dtype a multiple of a block of ``stats``, and small enough to stay in the processor's
#: cache while it is read, hashed, described and written.
PIECE = 1 << 20
