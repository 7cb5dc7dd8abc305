"""What statistics alone tell of a difference, where a side kept no values: one value everywhere, NaN, and, as likely,
a factor, another sign or an offset that all of them fit."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness import dtypes
from harness.explain.claim import Check
from harness.explain.evidence import loaded
from harness.explain.known_values import has_content
from harness.explain.numbers import number
from harness.explain.pair import is_bitwise
from harness.explain.patterns.base import Finding
from harness.records import Record
from harness.stats import describe
from harness.stats.printed import ATTRIBUTES, PrintedStatistics
from harness.words import among

#: statistics have six digits in a row of a table, and are sums in float32 elsewhere
_NEAR = 2e-5
#: elements from which equal factors of four numbers are no chance
_FEWEST = 3


@dataclass(frozen=True)
class Counted:
    """Maximum, minimum, mean and norm of a tensor, how many elements it has and how many of them are NaN; ``printed``
    where all that is known are the six digits of a row."""

    most: float
    least: float
    mean: float
    norm: float
    count: int
    nans: float
    printed: bool = False

    @property
    def finite(self) -> bool:
        """Whether all four are numbers."""
        return all(map(math.isfinite, (self.most, self.least, self.mean, self.norm)))


def counted(record: Record) -> Counted | None:
    """What is known of a tensor: from its values, else as its side kept it; None if something is missing."""
    values = loaded(record)
    known: Any = describe(values, record.dtype) if values is not None else record.extra.statistics or record.extra.row
    if known is None:
        return None
    printed = isinstance(known, PrintedStatistics)
    numbers = {ATTRIBUTES[item]: _number(text) for item, text in known.items() if item in ATTRIBUTES} if printed else {}
    most, least, mean, norm, nans = (
        numbers.get(name, 0.0 if name == "nan_count" else math.nan) if printed else float(getattr(known, name))
        for name in ("max", "min", "avg", "l2norm", "nan_count")
    )
    count = math.prod(record.shape)
    # A table from elsewhere may state anything.
    return Counted(most, least, mean, norm, count, nans, printed) if 0 <= nans <= count else None


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


@np.errstate(all="ignore")
def seen_in_statistics(expected: Record, found: Record) -> Finding | None:
    """What the statistics of two tensors of one shape tell; None if nothing is certain or likely."""
    if expected.shape != found.shape or expected.dtype != found.dtype:
        return None
    e, f = counted(expected), counted(found)
    if e is None or f is None:
        return None
    if f.nans and not e.nans:
        told = among(round(f.nans), f.count, "element", "are")
        return _likely("NaN source", f"{told} NaN, none is expected to be", f)
    if f.most == f.least and e.most != e.least and not f.nans and (not f.printed or not f.most):
        return _uniform(found, e, f)
    if not e.finite or not f.finite:
        return None
    if e.count < _FEWEST or e.most == e.least:
        return None
    return _factor(e, f) or _offset(e, f)


def _likely(kind: str, text: str, f: Counted) -> Finding:
    """What statistics alone show: no element was compared."""
    return Finding(kind, text, Check("statistics", {}, False, 0, f.count))


def _uniform(found: Record, e: Counted, f: Counted) -> Finding:
    """One value everywhere: certain if a tensor of it has the digest that was kept, or the run's values are known."""
    kind = dtypes.by_name(found.dtype).numpy
    made = np.full(found.shape, np.asarray(f.most).astype(kind), kind)
    values = loaded(found)
    exact = is_bitwise(made, values) if values is not None else has_content(found, made)
    told = f"found is {number(made.reshape(-1)[0], kind)} everywhere, expected {e.least:.6g} to {e.most:.6g}"
    check = Check("fill", {"value": f.most}, exact, f.count if exact else 0, f.count)
    return Finding("uniform" if f.most else "zero", told.replace(".0 everywhere", " everywhere"), check)


def _factor(e: Counted, f: Counted) -> Finding | None:
    """A factor that maximum, minimum, mean and norm have in common."""
    if not e.norm or not f.norm:
        return None
    for sign in (1.0, -1.0):
        by = sign * f.norm / e.norm
        ends = (e.most, e.least) if sign > 0 else (e.least, e.most)
        size = abs(by) * max(abs(e.most), abs(e.least))
        wanted = (by * ends[0], by * ends[1], by * e.mean)
        if not all(_is_close(*each, size) for each in zip(wanted, (f.most, f.least, f.mean), strict=True)):
            continue
        # A tensor that is as large above 0 as below has the statistics of its negative.
        if abs(by - 1) <= _NEAR or _is_close(e.most, -e.least, size):
            continue
        if abs(by + 1) <= _NEAR:
            return _likely("sign", "its statistics are those of expected with the other sign", f)
        return _likely("factor", f"its statistics are those of expected times {by:.6g}", f)
    return None


def _offset(e: Counted, f: Counted) -> Finding | None:
    """An offset that maximum, minimum and mean have in common, and that gives the norm."""
    by = f.mean - e.mean
    size = max(abs(e.most), abs(e.least), abs(by))
    if abs(by) <= 10 * _NEAR * size:
        return None
    norm = math.sqrt(max(0.0, e.norm * e.norm + 2 * by * e.count * e.mean + e.count * by * by))
    fits = (
        _is_close(e.most + by, f.most, size)
        and _is_close(e.least + by, f.least, size)
        and _is_close(norm, f.norm, norm)
    )
    return _likely("offset", f"its statistics are those of expected plus {by:.6g}", f) if fits else None


def _is_close(wanted: float, got: float, size: float) -> bool:
    return abs(wanted - got) <= _NEAR * max(size, abs(wanted))
