"""Whether an operator's results could differ by rounding alone, where statistics are all that either side kept.

Nothing can be run again. Both sides state one operator with the same arguments, and what comes in is the same or passed
on by such operators: so the kernels of two environments differ, and their rounding. How far it may reach is bounded by
the sizes of what an operator reads, generously: a sum may cancel, and small elements, which statistics do not show, may
be divided by. A bound that is met proves nothing of single elements.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from harness import dtypes
from harness.explain.evidence import loaded
from harness.records import Record
from harness.stats import Statistics, describe

#: the inputs and the outputs of an operator by slot
Slots = tuple[Mapping[int, Record], Mapping[int, Record]]

#: roundings of the sizes that are read, and what a difference that came in may grow by
_FACTOR = 64
#: parts of names of operators whose results small elements decide: they divide by what they read
_STEEP = ("div", "norm", "rsqrt", "reciprocal", "log", "pow", "adam", "adagrad", "lerp")
_EXACT = ("count", "nan_count", "negative_inf_count", "positive_inf_count")


def could_be_rounding(kind: str, expected: Slots, found: Slots) -> bool:
    """Whether all results that differ could do so by rounding.

    Args:
        kind: the operator's type.
        expected, found: what it took and gave on both sides; inputs that differ do so by rounding.
    """
    moved, sizes = 0.0, []
    for slot, record in expected[0].items():
        other = found[0].get(slot)
        one, two = _statistics(record), _statistics(other)
        if other is None or one is None or two is None or not _is_float(record):
            continue
        sizes.append(max(one.l2norm, two.l2norm))
        if record.digest != other.digest:
            moved = math.inf if any(each in kind for each in _STEEP) else max(moved, _apart(one, two))
    read = max(sizes, default=0.0) + (math.prod(each for each in sizes if each) if len(sizes) > 1 else 0.0)
    return all(_near(record, found[1].get(slot), moved, read) for slot, record in expected[1].items())


def _near(record: Record, other: Record | None, moved: float, read: float) -> bool:
    if other is None or (record.dtype, record.shape) != (other.dtype, other.shape):
        return False
    if record.digest is not None and record.digest == other.digest:
        return True
    one, two = _statistics(record), _statistics(other)
    if one is None or two is None or not _is_float(record):
        return False
    if any(getattr(one, name) != getattr(two, name) for name in _EXACT):
        return False
    largest = max(map(abs, (one.max, one.min, two.max, two.min)))
    limit = _FACTOR * (_unit(record) + moved) * (largest + read) if moved < math.inf else math.inf
    return all(
        abs(getattr(one, name) - getattr(two, name)) <= limit * scale
        for name, scale in (("max", 1.0), ("min", 1.0), ("avg", 1.0), ("l2norm", math.sqrt(one.count)))
    )


def _apart(one: Statistics, two: Statistics) -> float:
    """How far two tensors are apart at least, relative to their largest element."""
    largest = max(map(abs, (one.max, one.min, two.max, two.min)))
    far = max(abs(getattr(one, name) - getattr(two, name)) for name in ("max", "min", "avg"))
    far = max(far, abs(one.l2norm - two.l2norm) / math.sqrt(max(one.count, 1)))
    return far / largest if largest and math.isfinite(far) else 0.0


def _statistics(record: Record | None) -> Statistics | None:
    if record is None:
        return None
    if isinstance(record.extra.statistics, Statistics):
        return record.extra.statistics
    values = loaded(record)
    return None if values is None else describe(values, record.dtype)


def _is_float(record: Record) -> bool:
    known = dtypes.by_name(record.dtype)
    return known.is_floating or known.numpy.kind == "c"  # statistics are of real and imaginary parts


def _unit(record: Record) -> float:
    """A unit in the last place, relative."""
    kind: np.dtype[Any] = dtypes.by_name(record.dtype).numpy
    if kind.isbuiltin == 1:
        return float(np.finfo(kind).eps)
    return {"bfloat16": 2.0**-7}.get(kind.name, 2.0**-2)
