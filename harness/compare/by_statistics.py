"""Judges a tensor by its statistics, if values were not kept."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields
from operator import attrgetter
from typing import Any

from harness.compare.tolerances import DEFAULTS, Tolerance
from harness.stats import Statistics
from harness.stats.printed import ABSOLUTE, ATTRIBUTES, CHECKSUM, MISSING, PrintedStatistics

#: Counts that must be equal under every tolerance.
_STRICT = ("count", "nan_count", "negative_inf_count", "positive_inf_count")
_NAMES = tuple(field.name for field in fields(Statistics))
#: Numbers that may differ within a tolerance; an item of a row has the same name.
_LIMITED = ("max", "min", "avg", "l2norm")
#: hashes by the names that writers give them
_HASHED = ("md5", "sha1", "checksum", "xor of bits")
_STRICT_ITEMS = tuple(item for item, name in ATTRIBUTES.items() if name in _STRICT)
#: Items that have rules of their own, and hashes, which do not say how far values are apart.
_TOLD = frozenset({*ATTRIBUTES, *ABSOLUTE.values(), CHECKSUM, *_HASHED}) - {ABSOLUTE["avg"]}
_strict, _all, _numbers = attrgetter(*_STRICT), attrgetter(*_NAMES), attrgetter(*_LIMITED)
#: Half a unit of the sixth digit, relative: the rounding of a printed number.
_PRINTED = 5e-6
_BOOLS = {"True": 1.0, "False": 0.0}
#: Half a unit in the last place, relative, of dtypes that some writers round mean and norm to.
_HALVES = {"Float16": 2.0**-11, "BFloat16": 2.0**-8}
_LARGEST_HALF = 65504.0
#: Digits of a whole number that float64 surely holds.
_EXACT = 15


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
    numbers, others = _numbers(expected), _numbers(found)
    limits = _limits(numbers, expected.count, tolerance)
    # The squares of finite elements may overflow: masks are as large.
    overflown = numbers[-1] == others[-1] == math.inf and not expected.negative_inf_count + expected.positive_inf_count
    compared = len(numbers) - overflown
    return all(map(_is_close, numbers[:compared], others[:compared], limits[:compared]))


def _limits(numbers: Sequence[float], count: int, tolerance: Tolerance) -> tuple[float, float, float, float]:
    """The allowed difference of each of ``_LIMITED``, given all of them."""
    largest, smallest, _, norm = numbers
    scale = max(abs(largest), abs(smallest))
    floor = tolerance.atol + tolerance.scaled * scale
    return (
        floor + tolerance.rtol * abs(largest),
        floor + tolerance.rtol * abs(smallest),
        floor + tolerance.rtol * scale,
        math.sqrt(max(count, 0)) * floor + tolerance.rtol * norm,
    )


def row_within(expected: Statistics, row: PrintedStatistics, tolerance: Tolerance) -> bool:
    """``statistics_within`` for a row of a ``statistic.csv``, which holds some items, of six digits.

    Hashes are ignored: equal ones were recognised before, and different ones do not say how far values are apart. A row
    without numbers, or without a maximum or minimum, could belong to any tensor: it is not within.
    """
    if MISSING in (row.get("max"), row.get("min")):
        return False
    numbers, compared = _numbers(expected), False
    for item, value, limit in zip(_LIMITED, numbers, _limits(numbers, expected.count, tolerance), strict=True):
        if (text := row.get(item, MISSING)) == MISSING:
            continue
        compared, found = True, _value(text)
        if row.whole and row.dtype in _HALVES and item in ("avg", "l2norm"):
            if math.isinf(found) and value > _LARGEST_HALF:
                continue  # the norm does not fit into the dtype that it was rounded to
            limit += _HALVES[row.dtype] * abs(value)
        if not _is_close(value, found, limit + _rounding(item, text, found, row.dtype)):
            return False
    counts = ((getattr(expected, ATTRIBUTES[item]), row.get(item, MISSING)) for item in _STRICT_ITEMS)
    return compared and all(text == MISSING or _is_count(count, text) for count, text in counts)


def rows_within(expected: PrintedStatistics, found: PrintedStatistics, tolerance: Tolerance) -> bool:
    """``row_within`` for rows on both sides, of six digits each unless they are whole. An item that one side lacks is
    ignored, but without a maximum and a minimum on both sides the size of the elements is unknown.

    A checksum that somebody asked for, and that differs, is a difference whatever the numbers are.
    """
    mine, theirs, dtype = expected.get, found.get, found.dtype
    texts = [_both(expected, found, item) for item in _LIMITED]
    if MISSING in texts[0] or MISSING in texts[1]:
        return False
    if mine(CHECKSUM, MISSING) != theirs(CHECKSUM, MISSING) and CHECKSUM in expected and CHECKSUM in found:
        return False
    numbers = [_value(one) for one, _ in texts]
    limits = _limits(numbers, _whole(mine("count", MISSING)), tolerance)
    for item, (one, other), value, limit in zip(_LIMITED, texts, numbers, limits, strict=True):
        if MISSING in (one, other) or (one == other and limit >= 0 and math.isfinite(value)):
            continue
        near = _value(other)
        rounded = 0.0
        if not (expected.whole and found.whole):
            rounded = _rounding(item, other, near, dtype) + _rounding(item, one, value, dtype)
        if not _is_close(value, near, limit + rounded):
            return False
    if not all(_is_near(expected, found, item, limits, tolerance) for item in expected.keys() & found.keys() - _TOLD):
        return False
    for item in _STRICT_ITEMS:
        one, other = mine(item, MISSING), theirs(item, MISSING)
        if (one != other or not _is_exact(one)) and MISSING not in (one, other) and not _is_count(_whole(one), other):
            return False
    return True


def numbers_within(expected: Sequence[Any], found: Sequence[Any], tolerance: Tolerance) -> bool:
    """``rows_within`` for rows of nothing but these numbers, see ``Record.numbers``."""
    if expected[4] != found[4] and expected[4] and found[4]:
        return False
    numbers = [float(each) for each in expected[:4]]
    return all(map(_is_close, numbers, map(float, found[:4]), _limits(numbers, 0, tolerance)))


def _is_near(
    expected: PrintedStatistics, found: PrintedStatistics, item: str, limits: Sequence[float], tolerance: Tolerance
) -> bool:
    """Whether an item that only other writers have (a deviation, a percentile, an L1 norm) is near: by the limit of an
    element, and by its own size, which a sum of elements has."""
    one, other = expected[item], found[item]
    if one == other or MISSING in (one, other):
        return True
    value, near = _value(one), _value(other)
    rounded = 0.0 if expected.whole and found.whole else _PRINTED * (abs(value) + abs(near))
    return _is_close(value, near, max(limits) + (tolerance.rtol + tolerance.scaled) * abs(value) + rounded)


def _both(expected: PrintedStatistics, found: PrintedStatistics, item: str) -> tuple[str, str]:
    """What both rows say of an item, or of absolute values where they know no other."""
    also = ABSOLUTE[item]
    name = also if item not in expected and item not in found else item
    return expected.get(name, MISSING), found.get(name, MISSING)


def _is_exact(text: str) -> bool:
    """Whether a cell holds a whole number with all its digits, without a sign."""
    return len(text) <= _EXACT and text.isdecimal()


def _is_count(count: int, text: str) -> bool:
    return text == str(count) or count == _value(text)


def _whole(text: str) -> int:
    """The count in a cell; 0 if it is not a number."""
    if _is_exact(text):
        return int(text)
    value = _value(text)
    return int(value) if math.isfinite(value) else 0


def _rounding(item: str, text: str, value: float, dtype: str) -> float:
    """The possible rounding of a number printed as ``text``: none for a whole number with all its digits."""
    if dtype not in DEFAULTS and item in ("max", "min") and text.lstrip("-").isdecimal():
        return 0.0
    return _PRINTED * abs(value)


def _value(text: str) -> float:
    """The number in a cell; NaN if it is not a number, which is near nothing."""
    try:
        return float(text)
    except ValueError:
        return _BOOLS.get(text, math.nan)


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
