"""Captures of the dump modes that keep statistics: what the rows of ``statistic.csv`` say.

A row knows no values. Its digest is that of its own text, so that two captures agree where their rows do; with the
items of ``ITEMS`` that is where the tensors' bits agree, as MD5 is among them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from harness import dtypes
from harness.capture.observer import CaptureObserver
from harness.records import Record
from harness.stats import Statistics, digest
from harness.stats.printed import COLUMNS, host_texts, printed_statistics, row_digest

#: what a row is asked for: everything but SHA1, which says no more than MD5
ITEMS = tuple(item for item in COLUMNS if item != "sha1")
Array = np.ndarray[Any, np.dtype[Any]]
Row = tuple[bytes, Statistics]


def row_of(array: Array, dtype: str) -> Row:
    """Digest and statistics of the row that a tensor of ``dtype`` (its CamelCase name) gets, with ``ITEMS``."""
    texts = dict(zip(ITEMS, host_texts(array, dtypes.by_name(dtype), ITEMS), strict=True))
    return row_digest(dtype, array.shape, texts), printed_statistics(texts)


class StatisticObserver(CaptureObserver):
    """Keeps a row of statistics for each slot, and no values. Complex tensors have none (documented)."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self._rows: dict[bytes, Row] = {}

    def _keep(self, record: Record) -> None:
        array = record.values
        assert isinstance(array, np.ndarray)
        if array.size == 0 or dtypes.by_name(record.dtype).kind == "c":
            return
        content = digest(array, record.dtype)
        row = self._rows.get(content)
        if row is None:
            row = self._rows[content] = row_of(array, record.dtype)
        record.values = None
        record.digest, record.extra["statistics"] = row
        self._records.append(record)


class FullObserver(CaptureObserver):
    """Keeps values, and with them what their row of statistics would say."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self._statistics: dict[bytes, Statistics] = {}

    def _keep(self, record: Record) -> None:
        kept = len(self._records)
        super()._keep(record)
        if len(self._records) == kept or dtypes.by_name(record.dtype).kind == "c":
            return
        assert record.digest is not None
        assert isinstance(record.values, np.ndarray)
        found = self._statistics.get(record.digest)
        if found is None:
            found = self._statistics[record.digest] = row_of(record.values, record.dtype)[1]
        record.extra["statistics"] = found
