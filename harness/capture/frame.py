"""A capture as a table of pandas: a row for each slot, in execution order."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any

from harness.errors import HarnessError
from harness.records import Record
from harness.stats import Statistics, describe
from harness.stats.digest import digest

_FACTS = ("max", "min", "avg", "l2norm", "nan_count", "negative_inf_count", "positive_inf_count", "zero_count")


def frame(records: Iterable[Record]) -> Any:
    """A ``pandas.DataFrame`` with the parts of each slot's key, its type, dtype, shape, source, digest and statistics.

    Args:
        records: of a capture; values are read, one tensor in memory at a time.

    Raises:
        HarnessError: pandas is not installed.
    """
    try:
        pandas = import_module("pandas")
    except ImportError:
        raise HarnessError("to_pandas needs pandas, which is not installed") from None
    return pandas.DataFrame([_row(record) for record in records], columns=_COLUMNS)


_COLUMNS = [
    "rank", "graph", "iteration", "operator", "execution", "io", "slot", "type", "dtype", "shape", "source", "digest",
    *_FACTS,
]  # fmt: skip


def _row(record: Record) -> tuple[Any, ...]:
    known = record.extra.statistics
    content = record.digest
    if content is None or not isinstance(known, Statistics):
        values = record.load()
        if values is not None:
            known = describe(values, record.dtype)
            content = digest(values, record.dtype) if content is None else content
    facts = [getattr(known, name) if isinstance(known, Statistics) else None for name in _FACTS]
    text = None if content is None else content.hex()
    return (*record.key, record.op_type, record.dtype, record.shape, record.source, text, *facts)
