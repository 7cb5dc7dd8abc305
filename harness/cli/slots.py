"""The table of slots and their statistics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from harness.cli.text import shortened, table
from harness.compare.arguments import shown
from harness.dtypes import ARGUMENT_FORMAT, spelled
from harness.records import Record
from harness.stats import Statistics, describe
from harness.stats.printed import SIGNED_NORM, PrintedStatistics, six_digits

_SLOT_HEADINGS = (
    "rank", "graph", "iteration", "operator", "slot", "dtype", "shape", "min", "max", "avg", "l2norm", "NaN", "Inf",
    "source",
)  # fmt: skip
_RANK, _GRAPH, _OPERATOR = 0, 1, 3


def slots_table(records: Iterable[Record], named: bool = True) -> Iterator[str]:
    """A line per slot under headings; ranks and graphs are named if there are several.

    Args:
        named: add the operator of each slot.
    """
    rows = [_slot(record) for record in records]
    left_out = {at for at in (_RANK, _GRAPH) if len({row[at] for row in rows}) < 2} | (set() if named else {_OPERATOR})
    kept = [at for at in range(len(_SLOT_HEADINGS)) if at not in left_out]
    right = [place for place, at in enumerate(kept) if at < _OPERATOR or at in range(7, 13)]
    shown = [[row[at] for at in kept] for row in rows]
    yield from table([_SLOT_HEADINGS[at] for at in kept], shown, right=right)


def _slot(record: Record) -> tuple[object, ...]:
    key = record.key
    name = shortened(key.operator) + (f" ({key.execution})" if key.execution else "")
    shape = "x".join(map(str, record.shape)) or "scalar"
    where = key.rank, key.graph, key.iteration, name, key.slot_name
    return (*where, spelled(record.dtype, record.format), shape, *numbers(record), record.source or "")


def numbers(record: Record) -> list[object]:
    """Minimum, maximum, mean, norm, NaNs and infinities; empty if unknown. Of an argument, what it is."""
    if record.format == ARGUMENT_FORMAT:
        return [shown(record) or "", *[""] * 5]
    kept = record.extra.statistics
    if isinstance(kept, PrintedStatistics):
        infinities = [kept.get(item, "") for item in ("negative inf count", "positive inf count")]
        both = sum(map(int, infinities)) if all(text.isdecimal() for text in infinities) else ""
        norm = "l2norm" if "l2norm" in kept else SIGNED_NORM
        return [
            *(six_digits(kept.get(item, "")) for item in ("min", "max", "avg", norm)),
            kept.get("nan count", ""),
            both,
        ]
    found = _statistics(record)
    if found is None:
        return [""] * 6
    shown_ = [f"{getattr(found, name):.6g}" for name in ("min", "max", "avg", "l2norm")]
    return [*shown_, found.nan_count, found.negative_inf_count + found.positive_inf_count]


def _statistics(record: Record) -> Statistics | None:
    kept = record.extra.statistics
    if isinstance(kept, Statistics):
        return kept
    array = record.load()
    return None if array is None else describe(array, record.dtype)
