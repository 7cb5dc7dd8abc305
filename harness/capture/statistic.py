"""Captures the dump modes that keep statistics: the rows of ``statistic.csv``.

A row has no values. Its digest is that of its own text, so that two captures agree if their rows do. With ``ITEMS``
this means that the tensors' bits agree, because MD5 is among them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from harness import dtypes
from harness.capture.observer import CaptureObserver
from harness.records import Record
from harness.stats import Statistics, digest
from harness.stats.printed import COLUMNS, host_texts, printed_statistics, row_digest

#: the items of a row: everything except SHA1, which says no more than MD5
ITEMS = tuple(item for item in COLUMNS if item != "sha1")
Array = np.ndarray[Any, np.dtype[Any]]
Row = tuple[bytes, Statistics]


#: Rows made so far, by the digest of their tensor: several modes and tests of a network need the same rows.
_MADE: dict[bytes, Row] = {}
_KEPT = 16384


def row_of(array: Array, dtype: str, content: bytes | None = None) -> Row:
    """Digest and statistics of a tensor's row with ``ITEMS``; ``dtype`` is its CamelCase name.

    Args:
        content: the digest of the tensor, if it is known already.
    """
    if content is None:
        content = digest(array, dtype)
    row = _MADE.get(content)
    if row is None:
        if len(_MADE) >= _KEPT:
            _MADE.clear()
        row = _MADE[content] = _row(array, dtype)
    return row


def _row(array: Array, dtype: str) -> Row:
    texts = dict(zip(ITEMS, host_texts(array, dtypes.by_name(dtype), ITEMS), strict=True))
    return row_digest(dtype, array.shape, texts), printed_statistics(texts)


class StatisticObserver(CaptureObserver):
    """Keeps a row of statistics for each slot, and no values. Complex tensors have no row (documented)."""

    def _keep(self, record: Record) -> None:
        array = record.values
        assert isinstance(array, np.ndarray)
        if array.size == 0 or dtypes.by_name(record.dtype).kind == "c":
            return
        record.values = None
        record.digest, record.extra.statistics = row_of(array, record.dtype)
        self._records.append(record)


class FullObserver(CaptureObserver):
    """Keeps values, and the statistics of their row."""

    def _keep(self, record: Record) -> None:
        array, kept = record.values, len(self._records)
        assert isinstance(array, np.ndarray)
        super()._keep(record)
        if len(self._records) == kept or dtypes.by_name(record.dtype).kind == "c":
            return
        assert record.digest is not None
        record.extra.statistics = row_of(array, record.dtype, record.digest)[1]
