"""Measures how loose a gate is: changes each golden tensor, and judges it as a run would be judged.

For each slot the largest change that still passes is found, element by element at the edge of what its tolerance
admits, and confirmed by judging it; and faults that no gate should let through are tried.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness import dtypes
from harness.compare.bulk import bulk_of, largest
from harness.compare.floats import wide
from harness.compare.measure import measure
from harness.compare.source import source
from harness.compare.tolerances import Tolerance, Tolerances
from harness.records import Record, SlotKey
from harness.words import counted

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True)
class Looseness:
    """The changes that one golden slot lets pass.

    Attributes:
        key, op_type, dtype, shape: of the slot; the dtype as people see it.
        tolerance: the tolerance in force.
        noise: the largest change that passes: the root mean square of the change over that of the values; 0 if none
            does, infinite if every change does (values that are all 0 beside an ``atol``).
        faults: names of the faults in ``FAULTS`` that pass although they change the values.
    """

    key: SlotKey
    op_type: str
    dtype: str
    shape: tuple[int, ...]
    tolerance: Tolerance
    noise: float
    faults: tuple[str, ...]

    def is_too_loose(self, limit: float | None = None) -> bool:
        """Whether a fault passes, or a change larger than ``limit``."""
        return bool(self.faults) or (limit is not None and self.noise > limit)


def summary(slots: Iterable[Looseness]) -> Iterator[str]:
    """The changes that the tolerances let pass, in at most two lines; empty if there are none."""
    known = [slot for slot in slots if slot.noise or slot.faults]
    if known:
        most = max(known, key=lambda slot: slot.noise)
        place = f"{most.key.operator} {most.key.slot_name}"
        many = counted(len(known), "slot")
        yield f"audit: a change passes in {many}, the largest {most.noise:.3g} of the values' size ({place})"
    if loose := [slot for slot in known if slot.is_too_loose()]:
        first = loose[0]
        told = f"{first.key.operator} {first.key.slot_name}: {', '.join(first.faults)}"
        yield f"audit: too loose, so that a fault passes: {counted(len(loose), 'slot')}, the first {told}"


def _zeroed(array: Array) -> Array:
    return np.zeros_like(array)


def _negated(array: Array) -> Array:
    return np.asarray(~array if array.dtype == np.bool_ else np.negative(array))


def _doubled(array: Array) -> Array:
    return np.asarray(array + array).astype(array.dtype)


def _reversed(array: Array) -> Array:
    return np.ascontiguousarray(array.reshape(-1)[::-1]).reshape(array.shape)


def _largest_dropped(array: Array) -> Array:
    changed = array.copy()
    flat = changed.reshape(-1)
    flat[int(np.abs(flat.astype(np.float64)).argmax())] = 0
    return changed


#: Faults to try on each tensor: each gives the changed tensor.
FAULTS: Mapping[str, Callable[[Array], Array]] = {
    "all zero": _zeroed,
    "other sign": _negated,
    "twice as large": _doubled,
    "reversed": _reversed,
    "largest element 0": _largest_dropped,
}


def audit(records: Iterable[Record], tolerances: Tolerances) -> Iterator[Looseness]:
    """Audits each record that has values; the others are left out.

    Args:
        records: records of a golden run.
        tolerances: the gate's tolerances.
    """
    for record in records:
        tolerance = tolerances.of(record.key, record.op_type, record.dtype)
        shown = dtypes.spelled(record.dtype, record.format)
        if tolerance.exact and record.values is not None:
            # Equal bits only: nothing passes, and nothing need be tried.
            yield Looseness(record.key, record.op_type, shown, record.shape, tolerance, 0.0, ())
            continue
        array = record.load()
        if array is None or array.dtype.kind == "c":
            continue
        passing = tuple(name for name, fault in FAULTS.items() if _passes(array, fault, record.dtype, tolerance))
        noise = _admitted_noise(array, record.dtype, tolerance)
        yield Looseness(record.key, record.op_type, shown, record.shape, tolerance, noise, passing)


def _passes(array: Array, fault: Callable[[Array], Array], dtype: str, tolerance: Tolerance) -> bool:
    if not array.size:
        return False
    with np.errstate(all="ignore"):
        changed = fault(array)
        m = measure(array, changed, dtype, tolerance)
    return bool(m.max_abs or m.nonfinite) and m.is_within


def _admitted_noise(array: Array, dtype: str, tolerance: Tolerance) -> float:
    """The noise of the largest change at the edge of the tolerance, after judging it."""
    if tolerance.exact or dtypes.by_name(dtype).kind != "f" or not array.size:
        return 0.0
    flat = np.ascontiguousarray(array).reshape(-1)
    with np.errstate(all="ignore"):
        values = wide(flat)
        finite = np.isfinite(values)
        kept = source(flat)
        bulk = bulk_of(kept, kept)
        admitted = tolerance.floor(min(largest(kept), bulk.reach), bulk.size) + tolerance.rtol * np.abs(values)
        # Rounding to the dtype may step over the edge: the change is made smaller until it passes.
        for part in (1.0, 0.999, 0.99, 0.9, 0.5):
            changed = np.where(finite, values + part * admitted, values).astype(array.dtype)
            changed = np.where(finite, changed, flat).astype(array.dtype)
            m = measure(flat, changed, dtype, tolerance)
            if m.is_within:
                break
        else:
            return 0.0
    if not m.sums.error_squared:
        return 0.0
    return math.sqrt(m.sums.error_squared / m.sums.expected_squared) if m.sums.expected_squared else math.inf
