"""Judges a tensor by its statistics, if values were not kept."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from operator import attrgetter

from harness.compare.tolerances import DEFAULTS, Tolerance
from harness.stats import Statistics
from harness.stats.printed import ATTRIBUTES, MISSING, PrintedStatistics

#: Counts that must be equal under every tolerance.
_STRICT = ("count", "nan_count", "negative_inf_count", "positive_inf_count")
_NAMES = tuple(field.name for field in fields(Statistics))
#: Numbers that may differ within a tolerance.
_LIMITED = ("max", "min", "avg", "l2norm")
_strict, _all, _numbers = attrgetter(*_STRICT), attrgetter(*_NAMES), attrgetter(*_LIMITED)
#: Half a unit of the sixth digit, relative: the rounding of a printed number.
_PRINTED = 5e-6


def statistics_within(expected: Statistics, found: Statistics, tolerance: Tolerance) -> bool:
    """Whether ``found`` could be the statistics of a tensor that ``tolerance`` admits.

    If every element is within ``atol + rtol * |e| + scaled * S``, then maximum and minimum are within the same of
    theirs, the mean within ``atol + (rtol + scaled) * S``, and the norm within
    ``rtol * norm + sqrt(count) * (atol + scaled * S)``. The converse does not hold: statistics cannot prove that
    tensors agree. Counts of negative, positive and zero elements may change where elements are near zero. A NaN or an
    infinity hides all other elements, so such a tensor is never within.
    """
    if _strict(expected) != _strict(found):
        return False
    return all(map(_is_close, _numbers(expected), _numbers(found), _limits(expected, tolerance)))


def _limits(expected: Statistics, tolerance: Tolerance) -> tuple[float, float, float, float]:
    """The allowed difference of each number (in the order of ``_numbers``)."""
    scale = max(abs(expected.max), abs(expected.min))
    floor = tolerance.atol + tolerance.scaled * scale
    return (
        floor + tolerance.rtol * abs(expected.max),
        floor + tolerance.rtol * abs(expected.min),
        floor + tolerance.rtol * scale,
        math.sqrt(expected.count) * floor + tolerance.rtol * expected.l2norm,
    )


def row_within(expected: Statistics, row: PrintedStatistics, tolerance: Tolerance) -> bool:
    """``statistics_within`` for a row of a ``statistic.csv``, which holds some items, of six digits.

    Hashes are ignored: equal ones were recognised before, and different ones do not say how far values are apart. A row
    without numbers, or without a maximum or minimum, could belong to any tensor: it is not within.
    """
    return _items_within(expected, row, tolerance, {})


def rows_within(expected: PrintedStatistics, found: PrintedStatistics, tolerance: Tolerance) -> bool:
    """``row_within`` for rows on both sides, of six digits each. An item that one side lacks is ignored, but without a
    maximum and a minimum on both sides the size of the elements is unknown."""
    if any(side.get(item, MISSING) == MISSING for side in (expected, found) for item in ("max", "min")):
        return False
    known = {name: _value(expected.get(item, MISSING)) for item, name in ATTRIBUTES.items()}
    counts = {name: int(known[name]) for name in known if name.endswith("count") and math.isfinite(known[name])}
    numbers = {name: known[name] for name in _LIMITED}
    strict = dict.fromkeys((name for name in known if name.endswith("count")), 0) | counts
    whole = Statistics(**numbers, **strict)  # type: ignore[arg-type]
    shared = {item: text for item, text in found.items() if expected.get(item, MISSING) != MISSING}
    return _items_within(whole, PrintedStatistics(shared, found.dtype), tolerance, expected)


def _items_within(
    expected: Statistics, row: PrintedStatistics, tolerance: Tolerance, printed: Mapping[str, str]
) -> bool:
    """Whether each item of ``row`` is within.

    Args:
        printed: the rounded texts that ``expected`` was read from; empty if it was not read from texts.
    """
    if MISSING in (row.get("max"), row.get("min")):
        return False
    limits = dict(zip(_LIMITED, _limits(expected, tolerance), strict=True))
    compared = False
    for item, text in row.items():
        name = ATTRIBUTES.get(item)
        if name is None or text == MISSING:
            continue
        value = getattr(expected, name)
        found = _value(text)
        if name in limits:
            rounded = _rounding(item, text, row.dtype) + _rounding(item, printed.get(item, "0"), row.dtype)
            if not _is_close(value, found, limits[name] + rounded):
                return False
            compared = True
        elif name in _STRICT and value != found:
            return False
    return compared


def _rounding(item: str, text: str, dtype: str) -> float:
    """The possible rounding of a number printed as ``text``: none for a whole number with all its digits."""
    if item in ("max", "min") and dtype not in DEFAULTS and text.lstrip("-").isdecimal():
        return 0.0
    return _PRINTED * abs(_value(text))


def _value(text: str) -> float:
    """The number in a cell; NaN if it is not a number, which is near nothing."""
    try:
        return float({"True": "1", "False": "0"}.get(text, text))
    except ValueError:
        return math.nan


def _is_close(expected: float, found: float, limit: float) -> bool:
    return math.isfinite(expected) and math.isfinite(found) and abs(found - expected) <= limit


def changed_statistics(expected: Statistics, found: Statistics) -> str:
    """``max 1.5 -> 2.5, zero_count 3 -> 4``; empty if all are equal."""
    changes = []
    for name, old, new in zip(_NAMES, _all(expected), _all(found), strict=True):
        if old != new and not (math.isnan(old) and math.isnan(new)):
            one, other = f"{old:.6g}", f"{new:.6g}"
            changes.append(f"{name} {one} -> {other}" if one != other else f"{name} {old!r} -> {new!r}")
    return ", ".join(changes)
