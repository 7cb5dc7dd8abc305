"""A comparison as rows of plain values, one per slot, for CSV, JSON and pages."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from harness.compare.measurement import THOUSANDTHS, Measurement
from harness.compare.needed_tolerance import NeededTolerance
from harness.compare.smallest_tolerance import smallest_tolerance
from harness.compare.spread import noise
from harness.compare.verdict import SlotVerdict

#: Columns for the slot and its verdict.
_JUDGED = (
    "rank", "graph", "iteration", "operator", "execution", "slot", "type", "dtype", "shape", "verdict", "reason",
    "tolerance", "source", "found_as",
)  # fmt: skip
#: Columns for how far its values are apart.
_MEASURED = (
    "count", "unequal", "outside", "max_abs", "mean_abs", "max_rel", "mean_rel", "rmse", "noise", "cosine", "snr_db",
    "max_ulp", "ulp_p50", "ulp_p99", "beyond_1e-3", "beyond_5e-3", "nan_mismatch", "inf_mismatch", "zero_mismatch",
    "at_abs", "expected", "found", "smallest_atol", "smallest_rtol",
)  # fmt: skip
COLUMNS = _JUDGED + _MEASURED


def row(slot: SlotVerdict) -> dict[str, Any]:
    """One slot: a value for each of ``COLUMNS``; None if not measured.

    Numbers are Python numbers (``beyond_*`` are shares of the elements), ``shape`` and ``at_abs`` lists.
    """
    key = slot.key
    judged = (
        key.rank, key.graph, key.iteration, key.operator, key.execution, key.slot_name, slot.op_type, slot.dtype_shown,
        list(slot.shape), slot.verdict.value, slot.reason, str(slot.tolerance), slot.source,
        None if slot.found_as is None else f"{slot.found_as.operator} {slot.found_as.slot_name}",
    )  # fmt: skip
    measured = _measured(slot.measurement) if slot.measurement is not None else dict.fromkeys(_MEASURED)
    return dict(zip(_JUDGED, judged, strict=True)) | measured


def _measured(m: Measurement) -> dict[str, Any]:
    passes = smallest_tolerance(m)
    smallest_atol, smallest_rtol = (passes.atol, passes.rtol) if passes is not None else (None, None)
    worst = m.worst
    values = (
        m.count, m.unequal, m.outside, m.max_abs, m.mean_abs, m.max_rel, m.mean_rel, m.rmse, noise(m), m.cosine, m.snr,
        m.max_ulp, m.ulp_percentile(50), m.ulp_percentile(99), *(m.share_beyond(at) for at in range(len(THOUSANDTHS))),
        m.nan_mismatch, m.inf_mismatch, m.zero_mismatch, None if m.at_abs is None else list(m.at_abs),
        None if worst is None else _plain(worst.expected), None if worst is None else _plain(worst.found),
        smallest_atol, smallest_rtol,
    )  # fmt: skip
    return dict(zip(_MEASURED, values, strict=True))


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, complex) else value


def as_json(value: Any) -> Any:
    """``value`` with NaN and infinities, which JSON lacks, as the texts ``"nan"``, ``"inf"``, ``"-inf"``."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return {key: as_json(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(each) for each in value]
    return value


def stored(slot: SlotVerdict) -> dict[str, Any]:
    """``row`` and everything needed to judge the slot again, as JSON values."""
    m = slot.measurement
    needed = None if m is None or m.needed is None else m.needed.as_json()
    more = {"needed": needed, "by_statistics": slot.by_statistics}
    return {key: as_json(value) for key, value in (row(slot) | more).items()}


def needed_tolerance_of(stored_row: Mapping[str, Any]) -> NeededTolerance | None:
    """The needed tolerance that ``stored`` kept; None if it has none. Raises ``ValueError`` and the like."""
    value = stored_row.get("needed", stored_row.get("ladder"))  # its name in 0.1.0
    return None if value is None else NeededTolerance.from_json(value)
