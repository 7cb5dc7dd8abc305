"""Capture of the dump mode that keeps samples: the first elements of each tensor that has more of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.capture.observer import CaptureObserver
from harness.records import Array, Record

#: elements kept (``sample_num``): enough to see where a run left its golden
SAMPLE = 16


def sampled(array: Array, number: int = SAMPLE) -> Array:
    """The first ``number`` elements in memory order, shape (``number``,), of an array that has more; else itself."""
    return array.reshape(-1)[:number] if array.size > number else array


def sample_of(record: Record) -> Record:
    """``record`` as a capture of this mode has it."""
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
