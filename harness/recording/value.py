"""One argument or result of a launch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from harness import dtypes
from harness.dtypes import DType
from harness.errors import DtypeError, RecordingError
from harness.recording.spec import Spec, TensorSpec

Array = np.ndarray[Any, np.dtype[Any]]
PLACE = -1
"""Stands for a slot that is the value's place in its list."""


class Value:
    """A tensor, a number (0 axes) or a tuple of ints (1 axis, int64) that an operator reads or gives.

    Args:
        data: the array, of the shape ``shape`` and the numpy dtype of ``dtype``; or a function that gives it, called
            at most once, when somebody first reads it; or None with ``gap``.
        dtype: of the elements; None: the array's own.
        shape: None: the array's own. A function's array must have it.
        index: slot, as dump file names count it; by default its place in its list. Arguments that a
            kernel does not read have no value, so slots may have holes.
        stable: nobody writes to this memory any more, so whoever keeps it needs no copy.
        statistics: a ``stats.Statistics`` of it, if it is known already.
        digest: its 16-byte content digest, likewise.
        gap: why it cannot be read; then there are no data.

    Raises:
        RecordingError: (also at the first read of a function) the array has another dtype or shape than stated, or
            one that cannot be recorded; neither data nor a gap is given.

    Examples:
        >>> import numpy as np
        >>> from harness import dtypes
        >>> from harness.recording import Value
        >>> Value(np.float32([1, 2])).shape
        (2,)
        >>> later = Value(lambda: np.zeros((2, 3), np.float16), dtypes.float16, (2, 3))
        >>> later.is_read, later.array.dtype, Value(None, gap="lives on another host").gap
        (False, dtype('float16'), 'lives on another host')
    """

    __slots__ = ("_data", "digest", "dtype", "gap", "index", "shape", "stable", "statistics")

    _data: Any
    shape: tuple[int, ...]

    def __init__(
        self,
        data: Any,
        dtype: DType | None = None,
        shape: tuple[int, ...] | None = None,
        *,
        index: int = PLACE,
        stable: bool = False,
        statistics: Any = None,
        digest: bytes | None = None,
        gap: str | None = None,
    ) -> None:
        self.index, self.stable, self.statistics, self.digest, self.gap = index, stable, statistics, digest, gap
        if type(data) is np.ndarray or not callable(data):
            if data is None:
                self._stated(dtype, shape)
                return
            data = np.asarray(data)
            self.dtype = dtype or _dtype(data, index)
            self.shape = data.shape if shape is None else tuple(shape)
            self._data = self._checked(data)
        else:
            if dtype is None or shape is None:
                raise RecordingError(
                    f"{_where(index)}: a function that gives an array needs its dtype and shape as well"
                )
            self.dtype, self.shape, self._data = dtype, tuple(shape), data

    @classmethod
    def known(cls, array: Array, dtype: DType, index: int, stable: bool) -> Value:
        """A value whose facts a runtime vouches for: nothing is checked.

        Args:
            array: its data, C-contiguous.
            dtype: of the elements.
            index: its slot.
            stable: see the class.
        """
        made = cls.__new__(cls)
        made._data, made.dtype, made.shape, made.index, made.stable = array, dtype, array.shape, index, stable
        made.statistics = made.digest = made.gap = None
        return made

    @classmethod
    def of(cls, given: Any, *, stable: bool = False) -> Value | None:
        """A value of whatever an engine has: of what cannot be recorded (a sequence, a text, a key of a generator, an
        array on another host) a gap that says why, so that the engine goes on; None stays None, a hole.

        Args:
            given: an array, a number, a ``Value``, or anything that ``numpy.asarray`` takes; a gap of anything else.
            stable: see ``Value``.
        """
        if given is None or isinstance(given, cls):
            return given
        kind = f"{type(given).__module__}.{type(given).__qualname__}".removeprefix("builtins.")
        if isinstance(given, (list, tuple, dict, set, str, bytes)):
            return cls(None, gap=f"a value of type {kind}, no array")
        try:
            return cls(np.asarray(given), stable=stable)
        except Exception as error:  # whatever foreign conversions raise
            why = " ".join(str(error).split())[:200].removeprefix("a value: ")
            return cls(None, gap=f"a value of type {kind} cannot be read: {why or type(error).__name__}")

    def _stated(self, dtype: DType | None, shape: tuple[int, ...] | None) -> None:
        if not self.gap:
            raise RecordingError(f"{_where(self.index)}: without data, 'gap' says why it cannot be read")
        self._data = None
        self.dtype = dtype or dtypes.float32
        self.shape = tuple(shape or ())

    @property
    def array(self) -> Array:
        """The array, C-contiguous; of a value with a gap: ``RecordingError`` (ask ``gap`` first). Its memory is the
        runtime's unless the value is ``stable``: it is valid only during the call that shows it."""
        data = self._data
        if type(data) is not np.ndarray:
            if data is None:
                raise RecordingError(f"{_where(self.index)} cannot be read: {self.gap}")
            data = self._data = self._checked(np.asarray(data()))
        return data  # type: ignore[no-any-return]

    @property
    def is_read(self) -> bool:
        """Whether the array is at hand; else a function gives it at the first read."""
        return type(self._data) is np.ndarray

    def kept(self) -> Value:
        """This value, or a copy of it if its memory may change."""
        if self.stable or self.gap is not None:
            return self
        copy = Value.known(np.array(self.array, order="C", copy=True), self.dtype, self.index, True)
        copy.statistics, copy.digest = self.statistics, self.digest
        return copy

    def _checked(self, data: Array) -> Array:
        if data.dtype != self.dtype.numpy or data.shape != self.shape:
            given = f"an array of {data.dtype} {list(data.shape)}"
            stated = f"{self.dtype.lower} {list(self.shape)}"
            raise RecordingError(f"{_where(self.index)}: {given} was given for a value stated as {stated}")
        if not isinstance(self.index, int) or self.index < PLACE:
            raise RecordingError(f"a slot is a number from 0; given: {self.index!r}")
        return data if data.flags.c_contiguous and data.dtype.isnative else np.array(data, self.dtype.numpy, order="C")

    def __repr__(self) -> str:
        return f"<Value {self.index}: {self.dtype}{list(self.shape)}{' (gap)' if self.gap else ''}>"


def _where(index: int) -> str:
    """``slot 2``; a value that is in no list yet has no slot."""
    return "a value" if index == PLACE else f"slot {index}"


def _dtype(data: Array, index: int) -> DType:
    try:
        return dtypes.from_numpy(data.dtype, stored=True)
    except DtypeError:
        known = ", ".join(each.lower for each in dtypes.STORED)
        raise RecordingError(
            f"{_where(index)}: elements of {data.dtype} cannot be recorded; accepted: {known}"
        ) from None


def values_of(given: Any, what: str) -> list[Value]:
    """A list of values from arrays, numbers and values by slot; None leaves a hole.

    Args:
        given: one array or value, or a sequence of them.
        what: for messages: ``inputs`` or ``outputs``.

    Raises:
        RecordingError: something else was given, or two values have one slot.
    """
    if given is None:
        return []
    if isinstance(given, (np.ndarray, Value, bool, int, float, complex, np.generic)):
        given = (given,)
    if not isinstance(given, (list, tuple)):
        accepted = "an array, or a list of arrays and Values by slot, is accepted"
        raise RecordingError(f"{what}: {type(given).__name__} was given; {accepted}")
    found = []
    for index, each in enumerate(given):
        if isinstance(each, Value):
            if each.index == PLACE:
                each.index = index
            found.append(each)
        elif each is not None:
            if callable(each) and not isinstance(each, np.ndarray):
                raise RecordingError(f"{what}: slot {index} is a function; hand over Value(function, dtype, shape)")
            found.append(Value(np.asarray(each), index=index))
    slots = [value.index for value in found]
    if len(set(slots)) != len(slots):
        raise RecordingError(f"{what}: a slot is given twice: {slots}")
    return found


def fitting(values: Iterable[Value], specs: Sequence[Spec | None]) -> None:
    """Checks values against what a compiled graph states of their slots: nothing if it states no slot, any value for
    None, any size of a dimension of -1.

    Raises:
        RecordingError: a slot is not stated, or a tensor has another dtype or shape.
    """
    for value in values if specs else ():
        if value.index >= len(specs):
            raise RecordingError(f"slot {value.index} was given, but the operator states {len(specs)}")
        stated = specs[value.index]
        if value.gap is None and isinstance(stated, TensorSpec) and not _fits(value, stated):
            given = f"{value.dtype.lower} {list(value.shape)}"
            raise RecordingError(
                f"slot {value.index}: {given} was given, but {stated.dtype.lower} {list(stated.shape)} is stated"
            )


def _fits(value: Value, stated: TensorSpec) -> bool:
    return (
        value.dtype is stated.dtype
        and len(value.shape) == len(stated.shape)
        and all(size in (-1, own) for own, size in zip(value.shape, stated.shape, strict=True))
    )
