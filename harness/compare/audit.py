"""Measures how loose a gate is: changes each golden tensor, and judges it as a run would be judged.

For each slot the largest change that still passes is found, element by element at the edge of what its tolerance
admits, and confirmed by judging it; and faults that no gate should let through are tried.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from harness import dtypes
from harness.compare.bulk import BLOCK, bulk_of, largest
from harness.compare.floats import wide
from harness.compare.measure import measure
from harness.compare.measurement import Number
from harness.compare.source import Source, number, source
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


class _Changed(Source):
    """Numbers made of those of an array, block by block: a tensor of any size takes no more memory, and time only for
    the blocks that are looked at.

    Args:
        array: 1-D.
        change: gives the changed block from its start and the array's block.
    """

    def __init__(self, array: Array, change: Callable[[int, Array], Array]) -> None:
        super().__init__(array)
        self._change = change

    def whole(self) -> Array | None:
        """Not in memory."""
        return None

    def blocks(self, size: int) -> Iterator[Array]:
        """See ``Source``."""
        for start, block in zip(range(0, self.size, size), super().blocks(size), strict=True):
            yield self._change(start, block).astype(self.dtype, copy=False)

    def item(self, at: int) -> Number:
        """See ``Source``."""
        start = at - at % BLOCK  # a change may look at all of a block
        return number(self._change(start, self._flat[start : start + BLOCK]).astype(self.dtype)[at - start])


def _zeroed(array: Array) -> _Changed:
    return _Changed(array, lambda _, block: np.zeros_like(block))


def _negated(array: Array) -> _Changed:
    return _Changed(array, lambda _, block: np.asarray(~block if block.dtype == np.bool_ else np.negative(block)))


def _doubled(array: Array) -> _Changed:
    return _Changed(array, lambda _, block: np.asarray(block + block))


def _reversed(array: Array) -> _Changed:
    return _Changed(array, lambda start, block: np.ascontiguousarray(array[::-1][start : start + block.size]))


def _largest_dropped(array: Array) -> _Changed:
    peaks = [
        (size[at], start + at)
        for start in range(0, array.size, BLOCK)
        for size in (np.abs(array[start : start + BLOCK].astype(np.float64)),)
        for at in (int(size.argmax()),)
    ]
    place = peaks[int(np.array([size for size, _ in peaks]).argmax())][1]

    def dropped(start: int, block: Array) -> Array:
        if start <= place < start + block.size:
            block = block.copy()
            block[place - start] = 0
        return block

    return _Changed(array, dropped)


#: Faults to try on each tensor: each gives the changed numbers of a 1-D array.
FAULTS: Mapping[str, Callable[[Array], Source]] = {
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
        flat = np.ascontiguousarray(array).reshape(-1)
        flat = flat if flat.dtype.isnative else flat.astype(flat.dtype.newbyteorder("="))
        with np.errstate(all="ignore"):
            kept = source(flat)
            passing = (
                tuple(name for name, fault in FAULTS.items() if _passes(kept, fault(flat), record.dtype, tolerance))
                if flat.size
                else ()
            )
            noise = _admitted_noise(kept, flat, record.dtype, tolerance)
        yield Looseness(record.key, record.op_type, shown, record.shape, tolerance, noise, passing)


def _passes(kept: Source, changed: Source, dtype: str, tolerance: Tolerance) -> bool:
    m = measure(kept, changed, dtype, tolerance, until_outside=True)
    return bool(m.max_abs or m.nonfinite) and m.is_within


def _admitted_noise(kept: Source, flat: Array, dtype: str, tolerance: Tolerance) -> float:
    """The noise of the largest change at the edge of the tolerance, after judging it."""
    if tolerance.exact or dtypes.by_name(dtype).kind != "f" or not flat.size:
        return 0.0
    bulk = bulk_of(kept, kept)
    floor = tolerance.floor(min(largest(kept), bulk.reach), bulk.size)
    # Rounding to the dtype may step over the edge: the change is made smaller until it passes.
    for part in (1.0, 0.999, 0.99, 0.9, 0.5):
        m = measure(kept, _Changed(flat, partial(_at_the_edge, part, floor, tolerance.rtol)), dtype, tolerance,
                    until_outside=True)  # fmt: skip
        if m.is_within:
            break
    else:
        return 0.0
    if not m.sums.error_squared:
        return 0.0
    return math.sqrt(m.sums.error_squared / m.sums.expected_squared) if m.sums.expected_squared else math.inf


def _at_the_edge(part: float, floor: float, rtol: float, _: int, block: Array) -> Array:
    """Finite numbers changed by a part of what is admitted."""
    values = wide(block)
    changed = (values + part * (floor + rtol * np.abs(values))).astype(block.dtype)
    return np.where(np.isfinite(values), changed, block)
