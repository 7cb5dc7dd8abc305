"""Runs written down by hand: operators with their values, no framework."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness import dtypes
from harness.capture import Capture
from harness.records import Record, RecordExtra, SlotKey
from harness.stats import describe

Array = np.ndarray[Any, np.dtype[Any]]


class Made:
    """A run that grows operator by operator.

    Args:
        statistics: keep statistics, no values.
    """

    def __init__(self, statistics: bool = False) -> None:
        self.records: list[Record] = []
        self._statistics = statistics
        self.step = 0

    def slot(self, name: str, kind: str, io: str, at: int, value: Any) -> None:
        """One slot."""
        array = np.ascontiguousarray(value)
        dtype = dtypes.from_numpy(array.dtype).name
        key = SlotKey(0, 0, self.step, name, 0, io, at)
        extra = RecordExtra(statistics=describe(array, dtype)) if self._statistics else RecordExtra()
        values = None if self._statistics else array
        self.records.append(Record(key, kind, dtype, np.shape(value), values=values, source="net.py:7", extra=extra))

    def op(self, name: str, kind: str, inputs: Sequence[Any], outputs: Sequence[Any]) -> Any:
        """An operator; gives its first output."""
        for at, each in enumerate(inputs):
            self.slot(name, kind, "input", at, each)
        for at, each in enumerate(outputs):
            self.slot(name, kind, "output", at, each)
        return outputs[0] if outputs else None

    def parameter(self, name: str, value: Any) -> None:
        """A parameter at the end of the step."""
        self.slot(name, "Parameter", "output", 0, value)

    def capture(self) -> Capture:
        """The run."""
        return Capture("Net", "cpu", False, self.records)
