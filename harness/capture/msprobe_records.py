"""The record of a tensor of which ``dump.json`` states statistics: a file may state a million, and most of them agree,
so what is made of a description is made when it is asked for."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any

import xxhash

from harness import dtypes
from harness.capture.msprobe_facts import row_of
from harness.dump.msprobe.fields import SUMMARY_ITEMS
from harness.records import DeferredRecord, Record, RecordExtra, SlotKey
from harness.stats.printed import printed_statistics, row_digest

_FOUR = struct.Struct("<4d").pack
_NAMES = ("Max", "Min", "Mean", "Norm", "md5")
#: Whole numbers up to here are the same as float64.
_EXACT = 2**53
_COUNTS = frozenset(SUMMARY_ITEMS) - {"max", "min", "mean", "l2norm", "md5", "hash"}


class StatedRecord(DeferredRecord):
    """A slot of which statistics are stated; its digest, row and ``extra`` are made on request."""

    __slots__ = ("_said",)

    #: what is stated, or the four usual numbers and the checksum of it
    _said: Mapping[str, Any] | tuple[Any, ...] | None

    def __init__(self, *args: Any, **more: Any) -> None:
        """As for ``Record`` (as ``dataclasses.replace`` needs it)."""
        self._said = None
        super().__init__(*args, **more)

    @classmethod
    def of(
        cls,
        key: SlotKey,
        op_type: str,
        dtype: str,
        shape: tuple[int, ...],
        layout: str,
        said: Mapping[str, Any] | tuple[Any, ...],
    ) -> StatedRecord:
        """The record of a description, or of what ``numbers_of`` gives of it; ``dtype`` is its name, see ``Record``."""
        made = cls.__new__(cls)
        made.key, made.op_type, made.dtype, made.shape, made.format = key, op_type, dtype, shape, layout
        made.values = made.source = made._digest = made._extra = None
        made._said = said if isinstance(said, tuple) else numbers_of(said) or said
        return made

    @property
    def numbers(self) -> tuple[Any, ...] | None:
        """See ``Record``."""
        return self._said if type(self._said) is tuple else None

    def _made_digest(self) -> bytes | None:
        said = self._said
        if said is None:
            return None
        if type(said) is tuple:
            shown = _head(self.dtype, self.shape) + _FOUR(*said[:4]) + said[4].encode()
            return xxhash.xxh3_128_digest(shown)
        return row_digest(self.dtype, self.shape, row_of(self._stated(), dtypes.by_name(self.dtype), self.shape))

    def _stated(self) -> Mapping[str, Any]:
        said = self._said
        return dict(zip(_NAMES, said, strict=True)) if isinstance(said, tuple) else said or {}

    def _made_extra(self) -> RecordExtra:
        """``row``, and ``statistics`` if every item is stated."""
        row: Any = row_of(self._stated(), dtypes.by_name(self.dtype), self.shape)
        made = RecordExtra(row, row)
        if "count" in row:
            with suppress(KeyError, ValueError, OverflowError):
                made.statistics = printed_statistics(row)
        return made

    def agrees(self, other: Record) -> bool | None:
        """See ``Record``; numbers of both sides need no digest."""
        if isinstance(other, StatedRecord):
            one, two = self._said, other._said
            if one is two is not None:
                return True
            if type(one) is tuple and type(two) is tuple:
                if one[4] != two[4] or self.dtype != other.dtype or self.shape != other.shape:
                    return False
                return _FOUR(*one[:4]) == _FOUR(*two[:4])
        return super().agrees(other)

    @property
    def proves_bits(self) -> bool:
        """See ``Record``: a checksum is no proof."""
        return False


def numbers_of(said: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """The four usual numbers and the checksum, if they are all that is needed of a description: they may be all that is
    kept of a million tensors. The digest is of them as they are, whether or not a whole number was written as a float.
    """
    get = said.get
    one, two, three, four = get("Max"), get("Min"), get("Mean"), get("Norm")
    plain = type(one) is type(two) is type(three) is type(four) is float or (
        _is_plain(one) and _is_plain(two) and _is_plain(three) and _is_plain(four)
    )
    if plain and _COUNTS.isdisjoint(said) and isinstance(check := get("md5", ""), str):
        return one, two, three, four, check
    return None


def _is_plain(value: Any) -> bool:
    """Whether a number is the same as a float64."""
    return type(value) is float or (type(value) is int and -_EXACT < value < _EXACT)


@lru_cache(maxsize=4096)
def _head(dtype: str, shape: tuple[int, ...]) -> bytes:
    return f"stated of {dtype}({','.join(map(str, shape))}) ".encode()
