"""Statistics as the columns of a ``statistic.csv`` print them.

Source: rows of the real host writer (all reproduced by tests); what a device prints from MindSpore's public source and
from the texts of 2.10.0's own scalar tensors (measured).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from operator import itemgetter
from types import MappingProxyType
from typing import Any

import numpy as np
import xxhash

from harness.dtypes import DType, by_name, float32, int4
from harness.stats.hashes import md5, sha1
from harness.stats.statistics import Statistics, describe

Array = np.ndarray[Any, np.dtype[Any]]

#: item of ``statistic_category`` -> its column
COLUMNS: Mapping[str, str] = MappingProxyType(
    {
        "max": "Max Value",
        "min": "Min Value",
        "avg": "Avg Value",
        "count": "Count",
        "negative zero count": "Negative Zero Count",
        "positive zero count": "Positive Zero Count",
        "nan count": "NaN Count",
        "negative inf count": "Negative Inf Count",
        "positive inf count": "Positive Inf Count",
        "zero count": "Zero Count",
        "l2norm": "L2Norm Value",
        "md5": "MD5",
        "sha1": "SHA1",
    }
)
#: item -> attribute of ``Statistics``; those of a count are whole numbers
ATTRIBUTES: Mapping[str, str] = MappingProxyType(
    {
        "max": "max",
        "min": "min",
        "avg": "avg",
        "l2norm": "l2norm",
        "count": "count",
        "negative zero count": "negative_count",
        "positive zero count": "positive_count",
        "nan count": "nan_count",
        "negative inf count": "negative_inf_count",
        "positive inf count": "positive_inf_count",
        "zero count": "zero_count",
    }
)
# The items in the order of the fields of ``Statistics``: numbers, then counts.
_ITEM_OF = {name: item for item, name in ATTRIBUTES.items()}
#: The items a ``Statistics`` is made of, in its order.
NUMBERS = tuple(_ITEM_OF[field.name] for field in fields(Statistics))
_texts_of = itemgetter(*NUMBERS)
_WHOLE = next(at for at, field in enumerate(fields(Statistics)) if field.name.endswith("count"))
_HASHES = MappingProxyType({"md5": md5, "sha1": sha1})
_NUMBERS = frozenset({"max", "min", "avg", "l2norm"})
#: text that a device prints for an item it cannot calculate for a dtype
MISSING = "null"
#: items of other writers: a checksum of the values that is no MD5, the norm of a number with the number's sign, and
#: what numbers of complex tensors are called that refer to absolute values
CHECKSUM = "md5 (checksum)"
SIGNED_NORM = "norm"
ABSOLUTE: Mapping[str, str] = MappingProxyType({"max": "abs max", "min": "abs min", "avg": "abs avg", "l2norm": "norm"})

# Of a dtype the host's writer does not know (measured): its first bounds, and no hash.
_UNTOUCHED = MappingProxyType({"max": "-1.79769e+308", "min": "1.79769e+308", "md5": "", "sha1": ""})
# What each of a device's kernels takes (public source); bool only where memory is reused, that is in precision high.
_INTEGERS = frozenset({"int8", "uint8", "int16", "int32", "int64"})
_FLOATS = frozenset({"float16", "bfloat16", "float32", "float64"})
_DEVICE_DTYPES = MappingProxyType(
    {
        "max": _FLOATS | _INTEGERS | {"bool"},
        "min": _FLOATS | _INTEGERS | {"bool"},
        "avg": _FLOATS | _INTEGERS,
        "l2norm": _FLOATS - {"float64"},
    }
)


def host_texts(array: Array, dtype: DType, items: Iterable[str]) -> list[str]:
    """The texts of ``items`` (keys of ``COLUMNS``) of one tensor, calculated as on the host.

    Numbers are printed with six digits as C's ``%g`` does, sums are float64 for every dtype. Each is calculated once,
    in one pass, and only on request. Int4 is not calculated: its texts are the writer's initial values.
    """
    if dtype is int4:
        return [_UNTOUCHED.get(item, "0") for item in items]
    statistics: Statistics | None = None
    texts = []
    for item in items:
        if item in _HASHES:
            texts.append(_HASHES[item](array))
            continue
        if statistics is None:
            statistics = describe(array, dtype.name)
        texts.append(_host_text(statistics, item, array))
    return texts


def _host_text(statistics: Statistics, item: str, array: Array) -> str:
    value = getattr(statistics, ATTRIBUTES[item])
    if item not in _NUMBERS:
        return str(value)
    if item == "avg" and math.isnan(value) and _is_made_nan(statistics, array):
        return "-nan"
    return f"{value:g}"


def _is_made_nan(statistics: Statistics, array: Array) -> bool:
    """Whether a plain loop's sum becomes NaN because infinities of both signs meet, not because of a NaN element.

    The processor's own NaN has a sign, and the original prints it.
    """
    if not statistics.count:
        return True
    if not (statistics.negative_inf_count and statistics.positive_inf_count):
        return False
    flat = array.reshape(-1)
    infinite = np.isinf(flat)
    meet = max(int(np.argmax(infinite & (flat > 0))), int(np.argmax(infinite & (flat < 0))))
    return not statistics.nan_count or meet < int(np.argmax(np.isnan(flat)))


def device_texts(array: Array, dtype: DType, items: Iterable[str], *, high: bool) -> list[str]:
    """The texts of ``items`` (of max, min, avg, l2norm) of one tensor, as a device calculates and prints them.

    Args:
        array: its elements are those of ``dtype``.
        dtype: of the tensor.
        items: in the order wanted.
        high: ``device_stat_precision_mode``: avg and l2norm come out in float32, else in the tensor's own dtype.
    """
    statistics: Statistics | None = None
    texts = []
    for item in items:
        if dtype.lower not in _DEVICE_DTYPES[item] or (dtype.lower == "bool" and not high):
            texts.append(MISSING)
            continue
        if item in ("max", "min") and not dtype.is_floating:
            texts.append(scalar_text((array.max if item == "max" else array.min)(), dtype))
            continue
        if statistics is None:
            statistics = describe(array, dtype.name)
        result = float32 if high and item in ("avg", "l2norm") else dtype
        texts.append(scalar_text(_rounded(getattr(statistics, ATTRIBUTES[item]), result), result))
    return texts


def _rounded(value: float, dtype: DType) -> Any:
    """``value`` in ``dtype``; towards zero where that is an integer."""
    with np.errstate(all="ignore"):
        return np.float64(value).astype(dtype.numpy)


def scalar_text(value: Any, dtype: DType) -> str:
    """A scalar tensor as it prints itself: ``True``, ``123456789``, ``1.23457e+08`` (measured)."""
    if dtype.kind == "b":
        return str(bool(value))
    return f"{float(value):g}" if dtype.is_floating else str(int(value))


class PrintedStatistics(dict[str, str]):
    """Item -> text of one row of a ``statistic.csv``: the facts about a tensor whose values were not kept.

    Args:
        texts: keys of ``COLUMNS`` (or the other items above), in the row's order, and what the row says; a mapping, or
            pairs.
        dtype: of the tensor, as ``Record.dtype``.
        whole: whether numbers have all their digits; else six, as in a ``statistic.csv``.
    """

    def __init__(self, texts: Mapping[str, str] | Iterable[tuple[str, str]], dtype: str, whole: bool = False) -> None:
        super().__init__(texts)
        self.dtype = dtype
        self.whole = whole

    def changes(self, other: Array | Statistics | PrintedStatistics) -> str:
        """The differences in ``other``: ``max 1.5 -> 2.5, md5 1e.. -> 2f..``; empty if nothing does.

        Only items of this row count; if ``other`` is a row too, only common ones. A row has six digits unless it is
        ``whole``: if the other side has more, it is first printed like the row.
        """
        shown = [item for item in self if item in COLUMNS]
        if isinstance(other, np.ndarray):
            if self.whole:
                return self.changes(describe(other, self.dtype))
            found = dict(zip(shown, host_texts(other, by_name(self.dtype), shown), strict=True))
        elif isinstance(other, Statistics):
            found = {
                item: self._printed(item, getattr(other, ATTRIBUTES[item])) for item in shown if item in ATTRIBUTES
            }
        else:
            found = other if self.whole == other.whole else {item: six_digits(text) for item, text in other.items()}
        changes = []
        for item, text in self.items():
            other_ = found.get(item, MISSING)
            if isinstance(other, PrintedStatistics) and self.whole > other.whole:
                text = six_digits(text)
            if text != other_ and MISSING not in (text, other_) and not _same(text, other_):
                pair = (six_digits(text), six_digits(other_)) if self.whole and item in COLUMNS else (text, other_)
                one, two = pair if pair[0] != pair[1] else (text, other_)
                changes.append(f"{item} {one} -> {two}")
        return ", ".join(changes)

    def _printed(self, item: str, value: float) -> str:
        """A statistic as this row would print it."""
        if item not in _NUMBERS:
            return str(value)
        if not self.whole:
            return f"{value:g}"
        mine = f"{_number(self[item]):g}"  # the other side may have six digits, too
        rounded = _rounded(value, by_name(self.dtype)) if item in _ROUNDED and self.dtype in _HALVES else value
        return self[item] if mine in (f"{value:g}", f"{rounded:g}") else f"{value:g}"


#: Of these dtypes, some writers round these items to the dtype.
_HALVES = frozenset({"Float16", "BFloat16"})
_ROUNDED = frozenset({"avg", "l2norm"})


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def six_digits(text: str) -> str:
    """A number with six digits; any other text as it is."""
    try:
        return text if text.lstrip("-").isdecimal() else f"{float(text):g}"
    except ValueError:
        return text


def _same(text: str, other: str) -> bool:
    """Equal texts; a NaN has no sign here."""
    return text == other or text.lstrip("-") == other.lstrip("-") == "nan"


def row_digest(dtype: str, shape: tuple[int, ...], texts: Mapping[str, str]) -> bytes:
    """16-byte digest of a row: of the tensor's dtype (``Float32``), shape, and the items' texts in their order."""
    shown = ",".join(f"{item}={text}" for item, text in texts.items())
    return xxhash.xxh3_128(f"row of {dtype}({','.join(map(str, shape))}) {shown}".encode()).digest()


def printed_statistics(texts: Mapping[str, str]) -> Statistics:
    """The statistics in a row: numbers with six digits, and counts.

    Raises:
        KeyError: an item is missing.
        ValueError, OverflowError: a text is not a number, or a count not a finite one.
    """
    return statistics_of_cells(_texts_of(texts))


def statistics_of_cells(cells: Sequence[str]) -> Statistics:
    """``printed_statistics`` of the texts of ``NUMBERS``; ``ValueError`` or ``OverflowError`` likewise."""
    numbers: Sequence[Any] = list(map(float, cells[:_WHOLE]))
    try:
        return Statistics(*numbers, *map(int, cells[_WHOLE:]))
    except ValueError:  # a count that is not printed as one, such as 6.0
        return Statistics(*numbers, *map(int, map(float, cells[_WHOLE:])))
