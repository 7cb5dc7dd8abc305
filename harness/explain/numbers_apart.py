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
        sizes.append(max(_size(one), _size(two)))
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
    limit = _FACTOR * (_unit(record) + moved) * (_largest(one, two) + read) if moved < math.inf else math.inf
    return all(far <= limit * scale for far, scale in _distances(one, two))


def _apart(one: Statistics, two: Statistics) -> float:
    """How far two tensors are apart at least, relative to their largest element."""
    largest = _largest(one, two)
    far = max((far / scale for far, scale in _distances(one, two)), default=0.0)
    return far / largest if largest and math.isfinite(far) else 0.0


def _distances(one: Statistics, two: Statistics) -> list[tuple[float, float]]:
    """How far each number is apart, and how many elements' errors it may sum up. Equal infinities are not apart."""
    pairs = [(one.max, two.max, 1.0), (one.min, two.min, 1.0), (one.avg, two.avg, 1.0),
             (one.l2norm, two.l2norm, math.sqrt(max(one.count, 1)))]  # fmt: skip
    same = [a == b or (math.isnan(a) and math.isnan(b)) for a, b, _ in pairs]
    return [(0.0 if equal else abs(a - b), scale) for (a, b, scale), equal in zip(pairs, same, strict=True)]


def _largest(*every: Statistics) -> float:
    """The largest finite extreme: a mask's infinities hide no sizes."""
    return max((abs(each) for one in every for each in (one.max, one.min) if math.isfinite(each)), default=0.0)


def _size(one: Statistics) -> float:
    return one.l2norm if math.isfinite(one.l2norm) else math.sqrt(one.count) * _largest(one)


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
