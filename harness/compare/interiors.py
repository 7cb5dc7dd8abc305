"""At granularity ``modules``: what lies inside a module counts only if what modules give does not hold.

A refactoring inside a module makes other calls of modules within (a container that is walked in place of called, a
dropout that a fused attention does itself, a forward that is run again for its gradients), and gives modules further
tensors to take and give (a mask, attention weights). If everything both sides have holds, results, losses, gradients
and parameters among it, such calls and tensors change no number: they are told, and accepted.

The parameters of one module are judged by one size: a bias is the weight of an input of ones, and its gradient a sum of
the same terms. Where that sum cancels to zero, as for the keys' bias before a softmax, what is left is rounding.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np

from harness.compare.verdict import Comparison, SlotVerdict, Verdict
from harness.records import Record

#: the type of records at modules' boundaries
MODULE = "Module"
INSIDE = "inside a module: all that modules give holds"
OF_ONE_MODULE = "within tolerance of the size that the module's parameters have"
_ALONE = (Verdict.MISSING, Verdict.UNEXPECTED)
#: One of them has to hold: what a model is for.
_ENDS = frozenset({"Result", "Loss", "Gradient"})
_OWNED = frozenset({"Parameter", "Gradient"})


def leave_out_interiors(comparison: Comparison) -> Comparison:
    """A comparison in which such slots are accepted; if anything else does not hold, one that says so."""
    comparison = _by_one_size(comparison)
    apart = [slot for slot in comparison.slots if not slot.verdict.holds]
    other_inputs = _calls_with_other_inputs(comparison)
    if not apart or not all(_inside(slot, other_inputs) for slot in apart):
        return comparison
    if not any(slot.op_type in _ENDS and slot.verdict.holds for slot in comparison.slots):
        return comparison
    accepted = [replace(slot, verdict=Verdict.ACCEPTED, reason=INSIDE, measurement=None) for slot in apart]
    comparison.forget_counts()
    slots = [slot for slot in comparison.slots if slot.verdict.holds]
    return replace(comparison, slots=slots, gaps=[*comparison.gaps, *accepted])


def _inside(slot: SlotVerdict, calls: Collection[tuple[object, ...]]) -> bool:
    if slot.op_type != MODULE:
        return False
    return slot.verdict in _ALONE or (slot.key.io == "input" and tuple(slot.key[:5]) in calls)


def _calls_with_other_inputs(comparison: Comparison) -> set[tuple[object, ...]]:
    """Calls that take other kinds of tensors on both sides: a mask or none, of bools or of floats."""
    inputs = [slot for slot in comparison.slots if slot.op_type == MODULE and slot.key.io == "input"]
    found = {tuple(slot.key[:5]) for slot in inputs if slot.verdict in _ALONE}
    for slot in inputs:
        one, other = comparison.pairs.get(slot.key, (None, None))
        if one is not None and other is not None and (one.dtype, one.shape) != (other.dtype, other.shape):
            found.add(tuple(slot.key[:5]))
    return found


def _by_one_size(comparison: Comparison) -> Comparison:
    """A comparison in which a parameter or gradient may differ by the tolerance of its module's largest one."""
    apart = [slot for slot in comparison.slots if slot.verdict is Verdict.DIFFERS and slot.op_type in _OWNED]
    if not apart:
        return comparison
    owners = {_owner(slot) for slot in apart}
    sizes: dict[tuple[object, ...], float] = {}
    for slot in comparison.slots:
        if slot.op_type in _OWNED and (owner := _owner(slot)) in owners and slot.key in comparison.pairs:
            sizes[owner] = max(sizes.get(owner, 0.0), _largest(*comparison.pairs[slot.key]))
    held = {
        slot.key: replace(slot, verdict=Verdict.WITHIN, reason=OF_ONE_MODULE) for slot in apart
        if slot.key in comparison.pairs and _near(slot, *comparison.pairs[slot.key], sizes[_owner(slot)])
    }  # fmt: skip
    comparison.forget_counts()
    return replace(comparison, slots=[held.get(slot.key, slot) for slot in comparison.slots])


def _owner(slot: SlotVerdict) -> tuple[object, ...]:
    return (*slot.key[:3], slot.op_type, slot.key.operator.removesuffix(".grad").rpartition(".")[0])


def _largest(one: Record, other: Record) -> float:
    """The golden's largest value; of the run, where the golden kept none."""
    values = _wide(one)
    values = _wide(other) if values is None else values
    finite = values[np.isfinite(values)] if values is not None else np.zeros(0)
    return float(np.abs(finite).max()) if finite.size else 0.0


def _near(slot: SlotVerdict, one: Record, other: Record, size: float) -> bool:
    expected, found = _wide(one), _wide(other)
    if expected is None or found is None or (one.dtype, one.shape) != (other.dtype, other.shape):
        return False
    admitted = slot.tolerance.rtol * np.abs(expected) + slot.tolerance.scaled * size
    return bool((np.abs(found - expected) <= admitted).all())


def _wide(record: Record) -> np.ndarray[Any, np.dtype[np.float64]] | None:
    """Real values in float64; None where they were not kept, or are of another kind."""
    values = record.load()
    return values.astype(np.float64) if values is not None and values.dtype.kind in "fV" else None
