"""Captures the dump mode that keeps samples: the first elements of each larger tensor."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.capture.observer import CaptureObserver
from harness.records import Array, Record

#: number of elements kept (``sample_num``): enough to see where a run differs from its golden
SAMPLE = 16


def sampled(array: Array, number: int = SAMPLE) -> Array:
    """The first ``number`` elements in memory order, shape (``number``,), of a larger array; a smaller one is returned
    unchanged."""
    return array.reshape(-1)[:number] if array.size > number else array


def sample_of(record: Record) -> Record:
    """``record`` in the form of this mode."""
    array = record.load()
    if array is None or array.size <= SAMPLE:
        return record
    cut = sampled(array)
    return Record(record.key, record.op_type, record.dtype, cut.shape, record.format, cut, record.source)


class SampleObserver(CaptureObserver):
    """Keeps samples."""

    def _keep(self, record: Record) -> None:
        array: Any = record.values
        assert isinstance(array, np.ndarray)
        record.values = sampled(array)
        record.shape = record.values.shape
        super()._keep(record)
