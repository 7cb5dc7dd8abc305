"""The verdict on one slot."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from harness import dtypes
from harness.compare.admission import surely_within
from harness.compare.arguments import changed_argument, nearly
from harness.compare.by_statistics import changed_statistics, numbers_within, row_within, rows_within, statistics_within
from harness.compare.deferred import DeferredVerdict
from harness.compare.known import Known
from harness.compare.measure import measure
from harness.compare.measurement import Measurement
from harness.compare.source import source_of
from harness.compare.tolerances import Tolerance, Tolerances
from harness.compare.verdict import SlotVerdict, Unlisted, Verdict
from harness.dtypes import ARGUMENT_FORMAT
from harness.errors import DtypeError, StoreError
from harness.records import HASHES, Record, SlotKey
from harness.stats import Statistics, describe
from harness.stats.printed import ATTRIBUTES, MISSING, PrintedStatistics
from harness.words import among

Array = np.ndarray[Any, np.dtype[Any]]


#: Every slot that agrees asks for it, and each way through ``Enum`` takes as long as the rest.
_IDENTICAL = Verdict.IDENTICAL


class SlotJudge:
    """Judges slots under one set of tolerances.

    Args:
        tolerances: the tolerances of the slots.
        measured: whether to measure slots within their tolerance as well.
        known: earlier measurements; None to measure every pair.
    """

    def __init__(self, tolerances: Tolerances, measured: bool = True, known: Known | None = None) -> None:
        self._tolerances = tolerances
        self._measured = measured
        self._measure = measure if known is None else known.measure

    def unlisted(self, order: bool) -> Unlisted | None:
        """Ranks that are known to hold whole, so that nobody has to look at their slots; here none.

        Args:
            order: whether the order of execution counts.
        """
        return None

    def agreed(self, found: Record) -> Verdict:
        """The verdict on a slot of equal digests: equal dtype, shape and bits, or equal statistics."""
        return _IDENTICAL if found.values is not None or found.proves_bits else Verdict.STATISTICS

    def identical(self, key: SlotKey, found: Record) -> SlotVerdict:
        """A slot of equal digests.

        Args:
            key: key of ``found``, which the caller already has.
        """
        agreed = _IDENTICAL if found.values is not None else self.agreed(found)
        kind = found.op_type, found.dtype, found.shape
        return SlotVerdict(key, agreed, *kind, source=found.source, format=found.format)

    def missing(self, expected: Record) -> SlotVerdict:
        """A slot of the golden that the run does not have."""
        return SlotVerdict(
            expected.key, Verdict.MISSING, expected.op_type, expected.dtype, expected.shape,
            "the golden has it, this run does not", expected.source, format=expected.format,
        )  # fmt: skip

    def unexpected(self, found: Record) -> SlotVerdict:
        """A slot of the run that the golden does not have."""
        return SlotVerdict(
            found.key, Verdict.UNEXPECTED, found.op_type, found.dtype, found.shape,
            "this run has it, the golden does not", found.source, format=found.format,
        )  # fmt: skip

    def differing(
        self, expected: Record, found: Record, array: Array | None, golden: Array | None = None
    ) -> SlotVerdict:
        """A slot of both sides whose digests differ.

        Args:
            expected: record of the golden.
            found: record of the run.
            array: values of ``found``, if they are loaded already.
            golden: values of ``expected``, if they are loaded already.
        """
        if expected.numbers and found.numbers and (made := self._by_numbers(expected, found)) is not None:
            return made
        tolerance = self._tolerances.of(expected.key, expected.op_type, expected.dtype)
        reason = None
        if ARGUMENT_FORMAT in (expected.format, found.format):
            if nearly(expected, found):
                near = "the numbers differ by a millionth at most"
                return _verdict(expected, found, Verdict.WITHIN, near, tolerance=tolerance)
            reason = changed_argument(expected, found)
        if (reason := reason or _mismatch(expected, found)) is not None:
            return _verdict(expected, found, Verdict.DIFFERS, reason, tolerance=tolerance)
        if expected.values is None and found.values is None:
            return self._by_statistics(expected, found, None, tolerance)
        try:
            one = source_of(expected, golden)
        except StoreError as error:
            return _verdict(expected, found, Verdict.DIFFERS, str(error), tolerance=tolerance)
        if one is None:
            return self._by_statistics(expected, found, found.load() if array is None else array, tolerance)
        other = source_of(found, array)
        if other is None:
            return self._by_statistics(expected, found, None, tolerance)
        if not self._measured and surely_within(one, other, tolerance):
            reason = "values differ, none beyond the tolerance"
            return _verdict(expected, found, Verdict.WITHIN, reason, tolerance=tolerance)
        if other.shape != found.shape:
            reason = f"the capture gives shape {list(found.shape)}, but its values have shape {list(other.shape)}"
            return _verdict(expected, found, Verdict.DIFFERS, reason, tolerance=tolerance)
        return _by_values(expected, found, self._measure(one, other, expected.dtype, tolerance), tolerance)

    def _by_numbers(self, expected: Record, found: Record) -> SlotVerdict | None:
        """What ``_by_row`` says of four numbers on both sides; None of other dtypes or shapes."""
        kind = expected.op_type, expected.dtype, expected.shape
        if kind[1:] != (found.dtype, found.shape) or ARGUMENT_FORMAT in (expected.format, found.format):
            return None
        tolerance = self._tolerances.of_row(expected.key, *kind[:2])
        within = not tolerance.exact and numbers_within(expected.numbers or (), found.numbers or (), tolerance)
        verdict = Verdict.WITHIN if within else Verdict.DIFFERS
        return DeferredVerdict.of(
            _row_reason, (expected, found), expected.key, verdict, *kind, source=found.source or expected.source,
            tolerance=tolerance, by_statistics=True, format=expected.format,
        )  # fmt: skip

    def _by_statistics(self, expected: Record, found: Record, array: Array | None, tolerance: Tolerance) -> SlotVerdict:
        """Values of one side were not kept: statistics can show a difference, but never that there is none."""
        if _nothing_kept(expected):
            reason = "digests differ; the golden's values were not kept, nor statistics"
            return _verdict(expected, found, Verdict.DIFFERS, reason, tolerance=tolerance, by_statistics=True)
        golden, ours = _kept(expected), describe(array, found.dtype) if array is not None else _kept(found)
        of_row = self._tolerances.of_row(expected.key, expected.op_type, expected.dtype)
        if isinstance(ours, PrintedStatistics) and array is None:
            return _by_row(expected, found, golden, ours, of_row)
        if isinstance(golden, PrintedStatistics) and isinstance(ours, Statistics):
            return _against_row(expected, found, golden, ours, of_row)
        asked = self._tolerances.statistics or expected.extra.apart
        return _by_known(expected, found, golden, ours, tolerance, asked)


def proves_bits(items: Iterable[str]) -> bool:
    """Whether equal rows with these items prove equal bits: they include a hash of the values."""
    return any(item in HASHES for item in items)


def _nothing_kept(record: Record) -> bool:
    """Whether a digest is all that is known of a slot."""
    statistics = record.statistics()
    return record.values is None and isinstance(statistics, PrintedStatistics) and not statistics and not record.row()


def _kept(record: Record) -> Any:
    """The facts about a slot without values: its (rounded) row first, else its statistics."""
    row = record.row()
    return record.statistics() if row is None else row


def _mismatch(expected: Record, found: Record) -> str | None:
    """Says how dtype or shape differ, if they do; both are strict."""
    try:
        one = dtypes.by_name(expected.dtype)
        same_dtype = expected.dtype == found.dtype or one is dtypes.by_name(found.dtype)
    except DtypeError as error:
        return str(error)
    if not same_dtype:
        names = [dtypes.spelled(each.dtype, each.format) for each in (found, expected)]
        return f"dtype is {names[0]}, expected {names[1]}"
    if expected.shape != found.shape:
        return f"shape is {list(found.shape)}, expected {list(expected.shape)}"
    return None


def _verdict(expected: Record, found: Record, verdict: Verdict, reason: str, **more: Any) -> SlotVerdict:
    source = found.source or expected.source
    kind = expected.op_type, expected.dtype, expected.shape
    return SlotVerdict(expected.key, verdict, *kind, reason, source, format=expected.format, **more)


def _by_values(expected: Record, found: Record, measurement: Measurement, tolerance: Tolerance) -> SlotVerdict:
    if not measurement.unequal:
        reason = "its values have the golden's bits, but the digest given with them differs"
        return _verdict(expected, found, Verdict.DIFFERS, reason, measurement=measurement, tolerance=tolerance)
    verdict = Verdict.WITHIN if measurement.is_within else Verdict.DIFFERS
    return _verdict(expected, found, verdict, values_reason(measurement), measurement=measurement, tolerance=tolerance)


def values_reason(m: Measurement) -> str:
    """Says in a few words what is wrong with the values."""
    if m.nonfinite:
        return f"NaN or infinity on one side only in {among(m.nonfinite, m.count, 'element')}"
    if not m.max_abs and m.outside:
        where = among(m.outside, m.count, "element")
        return f"equal values with different bits (sign of zero, or kind of NaN) in {where}"
    told = among(m.differing, m.count, "element", "differ")
    return f"{told}, none beyond the tolerance" if m.is_within else told


def _by_known(
    expected: Record, found: Record, golden: Any, ours: Any, tolerance: Tolerance, asked: bool
) -> SlotVerdict:
    """Judges by all statistics of both sides, if they are known; within a tolerance they prove nothing.

    Args:
        asked: whether statistics are accepted instead of values.
    """
    side = "golden's" if expected.values is None else "capture's"
    if not isinstance(golden, Statistics) or not isinstance(ours, Statistics):
        reason = f"digests differ, and the {side} values and statistics were not kept"
        return _verdict(expected, found, Verdict.DIFFERS, reason, tolerance=tolerance, by_statistics=True)
    changes = changed_statistics(golden, ours) or "statistics agree"
    reason = f"digests differ, the {side} values were not kept; by statistics: {changes}"
    within = not tolerance.exact and statistics_within(golden, ours, tolerance)
    verdict = Verdict.DIFFERS if not within else Verdict.WITHIN if asked else Verdict.UNSURE
    return _verdict(expected, found, verdict, reason, tolerance=tolerance, by_statistics=True)


def _by_row(expected: Record, found: Record, kept: Any, row: PrintedStatistics, tolerance: Tolerance) -> SlotVerdict:
    """The capture has a row of a ``statistic.csv``, which need not hold every item."""
    values = expected.load()
    golden = kept if values is None else describe(values, expected.dtype)
    if isinstance(golden, PrintedStatistics):
        within = not tolerance.exact and rows_within(golden, row, tolerance)
        verdict, reason = Verdict.WITHIN if within else Verdict.DIFFERS, _rows_differ(golden, row)
        return _verdict(expected, found, verdict, reason, tolerance=tolerance, by_statistics=True)
    if not isinstance(golden, Statistics):
        reason = "the capture holds statistics, and the golden neither values nor statistics"
        return _verdict(expected, found, Verdict.DIFFERS, reason, tolerance=tolerance, by_statistics=True)
    shown = PrintedStatistics({item: text for item, text in row.items() if item in ATTRIBUTES}, row.dtype)
    changes = shown.changes(golden) or f"its {_known(shown, shown)} statistics agree"
    reason = f"the capture's values were not kept; by its row of statistics (found -> golden): {changes}"
    within = not tolerance.exact and bool(shown) and row_within(golden, shown, tolerance)
    verdict = Verdict.WITHIN if within else Verdict.DIFFERS
    return _verdict(expected, found, verdict, reason, tolerance=tolerance, by_statistics=True)


def _row_reason(expected: Record, found: Record) -> str:
    return _rows_differ(expected.row(), found.row())


def _rows_differ(golden: PrintedStatistics, row: PrintedStatistics) -> str:
    changes = golden.changes(row) or f"the statistics both know agree, {_known(golden, row)}"
    return f"both sides kept only a row of statistics: {changes}"


def _known(one: PrintedStatistics, other: PrintedStatistics) -> int:
    """Says how many items both rows have."""
    return sum(MISSING not in (one[item], other[item]) for item in one.keys() & other.keys())


def _against_row(
    expected: Record, found: Record, row: PrintedStatistics, ours: Statistics, tolerance: Tolerance
) -> SlotVerdict:
    """The golden has a row of a ``statistic.csv``, which need not hold every item."""
    changes = row.changes(ours) or f"its {_known(row, row)} statistics agree"
    reason = f"the golden's values were not kept; by its row of statistics: {changes}"
    within = not tolerance.exact and bool(row) and row_within(ours, row, tolerance)
    verdict = Verdict.WITHIN if within else Verdict.DIFFERS
    return _verdict(expected, found, verdict, reason, tolerance=tolerance, by_statistics=True)
