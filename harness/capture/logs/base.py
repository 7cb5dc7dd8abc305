"""What a reader of others' logs is, and the table of them.

Another package adds a reader through the entry point group ``harness.logs``: a class as here.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from harness import dtypes
from harness.capture.capture import Problem
from harness.capture.msprobe_entries import argument
from harness.errors import DtypeError, TreeError
from harness.reading import read_bytes
from harness.records import Record, RecordExtra, SlotKey
from harness.registry import Registry, class_of
from harness.stats.printed import PrintedStatistics, row_digest

Array = np.ndarray[Any, np.dtype[Any]]

#: Larger files are refused.
MAX_BYTES = 1 << 30
#: The bytes of a file by which its reader is chosen.
HEAD = 1 << 16
#: Items that other writers state and ``statistic.csv`` has no column for.
L1_NORM, XOR, DEVIATION = "l1 norm", "xor of bits", "std"
_LARGEST = 2**62
_NO_NOTE = "an L1 norm sees no change of sign, of order or of shape: equal ones prove no equal values"


class Slot(NamedTuple):
    """What a log says of a tensor.

    Attributes:
        operator, op_type: its name and its type.
        io, slot: ``input`` or ``output``, and the position.
        dtype: by any of its names (``f32``, ``torch.float32``).
        shape: of the tensor.
        numbers: item -> text, see ``harness.stats.printed``; empty if nothing is stated.
        values: the array, or a function that loads it.
        source: source line.
        iteration, graph: of the slot.
    """

    operator: str
    op_type: str
    io: str
    slot: int
    dtype: str
    shape: tuple[int, ...]
    numbers: Mapping[str, str] = {}
    values: Any = None
    source: str | None = None
    iteration: int = 0
    graph: int = 0


class LogReader:
    """Base of every reader.

    Class attributes:
        required: what a reader of another package must define.
        name: by which it is registered.
        suffixes: of its files.
        backend: what made the values, if the file does not say; ``mode``: ``tensor`` or ``statistic``.
        layout: see ``Record.format``.
        whole: whether numbers have all their digits.
    """

    required: ClassVar[tuple[str, ...]] = ("name", "suffixes", "recognises", "records")
    name: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]] = ()
    backend: ClassVar[str] = "torch"
    mode: ClassVar[str] = "statistic"
    layout: ClassVar[str] = dtypes.TORCH_FORMAT
    whole: ClassVar[bool] = True

    def __init__(self) -> None:
        self._executions: Counter[tuple[int, int, str]] = Counter()
        self._empty = self._beside = self._norms = 0

    @classmethod
    def recognises(cls, head: str) -> bool:
        """Whether a file that begins with ``head`` is of its kind."""
        raise NotImplementedError

    def read(self, path: str, problems: list[Problem]) -> Iterator[Record]:
        """The records of a file, in its order.

        Args:
            problems: receives what is left out, and notes.

        Raises:
            TreeError: it cannot be read.
            ValueError: it is damaged; the message says where.
        """
        self.__init__()  # type: ignore[misc]  # a file may be read several times
        yield from self.records(path, problems)
        if self._norms:
            problems.append(Problem(path, "note", f"{_NO_NOTE} ({self._norms} slots have nothing else)"))
        lacking = self._empty + self._beside
        if lacking:
            why = f"of {lacking} tensors it states dtype and shape alone: "
            # Values that calls take or hand on are compared where they are made.
            more = (
                "nothing else of them is compared" if self._empty else "their values are compared where they are made"
            )
            problems.append(Problem(path, "skipped" if self._empty else "note", why + more))

    def records(self, path: str, problems: list[Problem]) -> Iterator[Record]:
        """See ``read``."""
        raise NotImplementedError

    def begins(self, operator: str, iteration: int = 0, graph: int = 0) -> int:
        """The number of an execution that begins: how often the operator was there before."""
        self._executions[graph, iteration, operator] += 1
        return self._executions[graph, iteration, operator] - 1

    def record(self, slot: Slot, execution: int, beside: bool = False) -> Record:
        """A tensor as a record.

        Args:
            slot: what is said of it.
            execution: of its operator.
            beside: whether another slot has its values, so that nothing is lost where none are stated.

        Raises:
            ValueError: its dtype is not known, or its shape is impossible.
        """
        try:
            dtype = dtypes.by_name(slot.dtype).name
        except DtypeError as error:
            raise ValueError(f"{slot.operator[:200]}: {error}") from None
        if any(not 0 <= size < _LARGEST for size in slot.shape):
            raise ValueError(f"{slot.operator[:200]}: its shape is {slot.shape[:8]}")
        key = SlotKey(0, slot.graph, slot.iteration, slot.operator, execution, slot.io, slot.slot)
        if slot.values is not None:
            return Record(key, slot.op_type, dtype, slot.shape, self.layout, slot.values, slot.source)
        self._empty += not (slot.numbers or beside)
        self._beside += beside and not slot.numbers
        self._norms += bool(slot.numbers) and set(slot.numbers) == {L1_NORM}
        row: Any = PrintedStatistics(slot.numbers, dtype, whole=self.whole)
        made = row_digest(dtype, slot.shape, row)
        return Record(key, slot.op_type, dtype, slot.shape, self.layout, None, slot.source, made, RecordExtra(row, row))

    def argument(self, key: SlotKey, op_type: str, value: Any, named: str | None = None) -> Record:
        """A number or a text as a record."""
        dtype, array = argument({"type": type(value).__name__, "value": value})
        extra = RecordExtra(named=named or None)
        return Record(key, op_type, dtype, array.shape, dtypes.ARGUMENT_FORMAT, array, extra=extra)


def text_of(path: str) -> str:
    """A file of text; ``TreeError`` if it cannot be read, is too large or no UTF-8."""
    try:
        return read_bytes(path, MAX_BYTES, TreeError).decode()
    except UnicodeDecodeError as error:
        raise TreeError(f"{path}: no text in UTF-8: {error.reason} at byte {error.start}") from None


def shape_of(text: str) -> tuple[int, ...]:
    """``2, 3`` as a shape; ``ValueError`` if it is none."""
    sizes = [each.strip() for each in text.strip().strip(",").split(",")] if text.strip().strip(",") else []
    if not all(each.isdecimal() and len(each) < 19 and each.isascii() for each in sizes):
        raise ValueError(f"no shape: {text[:80]!r}")
    return tuple(map(int, sizes))


LOGS: Registry[type[LogReader]] = Registry("reader of logs", "harness.logs", lambda: _populate(), class_of(LogReader))
"""Readers by name."""


def log_reader(cls: type[LogReader]) -> type[LogReader]:
    """Registers a reader of this project."""
    return LOGS.register(cls.name, cls)


def _populate() -> None:
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        importlib.import_module(f"harness.capture.logs.{module.name}")


def reader_of(path: str, suffix: str) -> LogReader | None:
    """The reader of a file, by its suffix and its beginning; None if it is of no known kind."""
    candidates: Sequence[type[LogReader]] = [LOGS.get(name) for name in LOGS if suffix in LOGS.get(name).suffixes]
    if not candidates:
        return None
    try:
        with open(path, "rb") as file:
            head = file.read(HEAD).decode("utf-8", "replace")
    except OSError as error:
        raise TreeError(f"{path}: {error.strerror}") from None
    return next((cls() for cls in candidates if cls.recognises(head)), None)
