"""The unit of everything that is stored and compared: one slot of one operator, once.

A record knows nothing of graphs, files or stores; ``store`` keeps records, ``compare`` judges them, ``capture``
makes them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

#: Scope of what a test hands over by name beside its networks; no operator of a network has it.
GIVEN_SCOPE = "check"


class SlotKey(NamedTuple):
    """What tells one slot from every other of a run.

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


class Streamed(ABC):
    """Values that can be had in pieces, so that a tensor larger than memory can be looked at."""

    __slots__ = ()

    @abstractmethod
    def __call__(self) -> Array:
        """The whole array, of the record's shape."""

    @abstractmethod
    def pieces(self) -> Iterator[Array] | None:
        """See ``Record.pieces``."""

    def blocks(self, size: int, start: int) -> Iterator[Array] | None:
        """See ``Record.blocks``; here they can not."""
        return None


@dataclass(slots=True)
class RecordExtra:
    """What some captures know of a slot beside its values; each field is None (or empty) where nobody said it.

    Attributes:
        statistics: a ``stats.Statistics``, or a ``stats.printed.PrintedStatistics`` where only some items are known.
        row: the items of the ``statistic.csv`` row it was read from, as ``PrintedStatistics``.
        described: a ``stats.Statistics`` of the values, found where they were read.
        stream, task: where a kernel ran.
        alone: what the kernel would be called were it not fused.
        members: the operators that a fused kernel is made of, the one that gives the result last.
        device_shape: the shape in which the tensor lies on its device, where that is another.
    """

    statistics: Any = None
    row: Any = None
    described: Any = None
    stream: int | None = None
    task: int | None = None
    alone: str | None = None
    members: tuple[str, ...] = ()
    device_shape: tuple[int, ...] | None = None


@dataclass(slots=True, eq=False)
class Record:
    """One slot's tensor, with what names it.

    Attributes:
        key: see ``SlotKey``.
        op_type: primitive name (``MatMul``), or ``Parameter``.
        dtype: CamelCase dtype name (``Float32``).
        shape: logical shape.
        format: ``DefaultFormat``, a device format, or ``dtypes.TORCH_FORMAT``.
        values: the array itself (C-contiguous), a function that loads it, or None where values were not kept.
        source: innermost source line of the operator (``file.py:17``), or None.
        digest: 16-byte content digest if already known, else None (``stats.digest`` computes it).
        extra: what is known beside the values.
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
        """The array (shape ``shape``), or None where values were not kept."""
        return self.values() if callable(self.values) else self.values

    def pieces(self) -> Iterator[Array] | None:
        """The elements in C order, in 1-D arrays of ``PIECE`` bytes, the last of what is left.

        A piece is valid until the next is asked for. None where values are at hand, are small, or can be had whole
        only; ``load`` gives them then, and reads no byte a second time.
        """
        values = self.values
        return values.pieces() if isinstance(values, Streamed) else None

    def blocks(self, size: int, start: int = 0) -> Iterator[Array] | None:
        """The elements from the flat index ``start`` on in C order, in 1-D arrays of ``size``, the last of the rest.

        Like ``pieces``, but of any size, from anywhere, and as often as is wanted: each call reads the file anew. None
        where values are at hand, are small, or can be had whole only.
        """
        values = self.values
        return values.blocks(size, start) if isinstance(values, Streamed) else None

    def statistics(self) -> Any:
        """``extra.statistics``, None where there are none."""
        return self.extra.statistics

    def agrees(self, other: Record) -> bool | None:
        """Whether ``other`` has the same digest, if that is known without values being read; else None."""
        mine, theirs = self.digest, other.digest
        return None if mine is None or theirs is None else mine == theirs


@dataclass(frozen=True, slots=True)
class Rows:
    """Records of which rows of statistics were kept, in the order they were executed, as columns.

    Two of them have equal digests if dtype, shape and text are equal, and only then.

    Attributes:
        items: what the texts are of.
        keys, op_types, dtypes, shapes, sources: see ``Record``; one for each.
        texts: what each row says of its items.
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
        """All of them."""
        return map(self.record, range(len(self.keys)))


#: Bytes of a piece: of every dtype a multiple of a block of ``stats``; reading, hashing, describing and writing it find
#: it in the processor's cache.
PIECE = 1 << 20
