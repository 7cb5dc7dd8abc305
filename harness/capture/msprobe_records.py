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
        cls, key: SlotKey, op_type: str, dtype: str, shape: tuple[int, ...], layout: str, said: Mapping[str, Any]
    ) -> StatedRecord:
        """The record of a description; ``dtype`` is its name, see ``Record``."""
        made = cls.__new__(cls)
        made.key, made.op_type, made.dtype, made.shape, made.format = key, op_type, dtype, shape, layout
        made.values = made.source = made._digest = made._extra = None
        made._said = said
        return made

    def _made_digest(self) -> bytes | None:
        if self._said is None:
            return None
        found, self._said = _digest(self._said, self.dtype, self.shape)
        return found

    def _made_extra(self) -> RecordExtra:
        """``row``, and ``statistics`` if every item is stated."""
        assert self._said is not None
        said = self._said
        if isinstance(said, tuple):
            said = dict(zip(_NAMES, said, strict=True))
        row: Any = row_of(said, dtypes.by_name(self.dtype), self.shape)
        made = RecordExtra(row, row)
        if "count" in row:
            with suppress(KeyError, ValueError, OverflowError):
                made.statistics = printed_statistics(row)
        return made

    def agrees(self, other: Record) -> bool | None:
        """See ``Record``; one description of both sides needs no digest."""
        if isinstance(other, StatedRecord) and self._said is other._said is not None:
            self.digest  # noqa: B018 (made once, for both)
            return True
        return super().agrees(other)

    @property
    def proves_bits(self) -> bool:
        """See ``Record``: a checksum is no proof."""
        return False


def _digest(said: Any, dtype: str, shape: tuple[int, ...]) -> tuple[bytes, Any]:
    """The digest of what is stated: of the numbers as they are, where the four usual ones are stated, else of the row.

    Whether a whole number was written as a float makes no difference.

    Returns:
        The digest, and what is still needed of ``said``: it may be all that is kept of a million tensors.
    """
    get = said.get
    one, two, three, four = get("Max"), get("Min"), get("Mean"), get("Norm")
    plain = type(one) is type(two) is type(three) is type(four) is float or (
        _is_plain(one) and _is_plain(two) and _is_plain(three) and _is_plain(four)
    )
    if plain and _COUNTS.isdisjoint(said) and isinstance(check := get("md5", ""), str):
        found = xxhash.xxh3_128_digest(_head(dtype, shape) + _FOUR(one, two, three, four) + check.encode())
        return found, (one, two, three, four, check)
    return row_digest(dtype, shape, row_of(said, dtypes.by_name(dtype), shape)), said


def _is_plain(value: Any) -> bool:
    """Whether a number is the same as a float64."""
    return type(value) is float or (type(value) is int and -_EXACT < value < _EXACT)


@lru_cache(maxsize=4096)
def _head(dtype: str, shape: tuple[int, ...]) -> bytes:
    return f"stated of {dtype}({','.join(map(str, shape))}) ".encode()
