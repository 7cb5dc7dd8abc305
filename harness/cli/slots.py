"""The table of slots: what each holds, in numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from harness.cli.text import table
from harness.records import Record
from harness.stats import Statistics, describe

_SLOT_HEADINGS = (
    "iteration", "operator", "slot", "dtype", "shape", "min", "max", "avg", "l2norm", "NaN", "Inf", "source",
)  # fmt: skip


def slots_table(records: Iterable[Record]) -> Iterator[str]:
    """A line for each slot, under headings."""
    yield from table(_SLOT_HEADINGS, [_slot(record) for record in records], right=(0, *range(5, 11)))


def _slot(record: Record) -> tuple[object, ...]:
    key, found = record.key, _statistics(record)
    numbers = [f"{getattr(found, name):.6g}" if found else "" for name in ("min", "max", "avg", "l2norm")]
    nans = found.nan_count if found else ""
    infinities = found.negative_inf_count + found.positive_inf_count if found else ""
    name = key.operator + (f" ({key.execution})" if key.execution else "")
    shape = "x".join(map(str, record.shape)) or "scalar"
    return (
        key.iteration, name, key.slot_name, record.dtype, shape, *numbers, nans, infinities, record.source or "",
    )  # fmt: skip


def _statistics(record: Record) -> Statistics | None:
    kept = record.extra.get("statistics")
    if isinstance(kept, Statistics):
        return kept
    array = record.load()
    return None if array is None else describe(array, record.dtype)
