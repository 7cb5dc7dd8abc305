"""Whether a failure is a fault of what ran, or what another environment does: filed as one, the other, or neither.

What another environment does is rounding, or one of a few things that one of its facts turns on and off (subnormal
numbers, TF32, an order of sets). Whatever lies beyond that, or is shown by settings and graphs, is a fault; what lies
beyond it and has no cause cannot be told.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.compare.policy import Judgement
from harness.compare.spread import noise
from harness.compare.tolerances import DEFAULTS
from harness.compare.verdict import Comparison, SlotVerdict, Verdict
from harness.environment import DISTRIBUTIONS, Changed
from harness.environment import told as changes_told
from harness.explain.explanation import Cause, Certainty, Change, Explanation
from harness.explain.text import CANNOT_TELL
from harness.records import GIVEN_SCOPE

if TYPE_CHECKING:
    from harness.explain.claim import Check

FAULT, ENVIRONMENT = "fault", "environment"

#: causes that say which values differ, but not why
_VALUES = frozenset({"parameter", "data", "input"})
#: causes that a fact of the environment turns on and off, by kind
_OF_FACTS = {
    "flushed": frozenset({"subnormals", "features", "processor", "machine", "torch", "CUDA_VISIBLE_DEVICES"}),
    "narrower type": frozenset({"tf32", "NVIDIA_TF32_OVERRIDE", "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE"}),
    "permuted": frozenset({"hash seed", "seed"}),
}
#: facts from which any values may follow
_SEEDS = frozenset({"seed", "hash seed"})
#: another order of sums, other threads or another processor do not change values by so much of their size
_GROSS = 0.01
#: nor one element by so much of its size, or of that of most elements
_GROSS_ELEMENT = 0.1
#: facts that may add and take away what a program gives
_SOFTWARE = frozenset({*DISTRIBUTIONS, "python"})


def reached(judged: Judgement, emulated: bool) -> bool:
    """Whether an environment can reach what differs: emulated operators have the same bits in all of them.

    Args:
        judged: the judgement.
        emulated: whether both sides are emulated.
    """
    failing = judged.comparison.failures()
    return not emulated or any(each.key.operator.startswith(f"{GIVEN_SCOPE}/") for each in failing)


def beyond(judged: Judgement, rounding: Judgement) -> Judgement:
    """The judgement under ``noise``, in which what holds under ``judged`` holds, too."""
    held = {slot.key: slot for slot in judged.comparison.slots if slot.verdict.holds}
    slots = [held.get(slot.key, slot) for slot in rounding.comparison.slots]
    comparison = replace(rounding.comparison, slots=slots)
    return replace(rounding, comparison=comparison, texts_hold=judged.texts_hold, notes=judged.notes)


def filed(
    judged: Judgement,
    changed: Sequence[Changed],
    again: Callable[[], Judgement],
    explain: Callable[[Comparison], Explanation],
) -> Explanation:
    """The explanation of a failure whose environment changed, with what it is filed as.

    Args:
        judged: the judgement, which does not hold.
        changed: the changes, at least one.
        again: judges both sides under ``noise``.
        explain: explains a comparison.
    """
    made = explain(judged.comparison)
    if _is_shown(made.cause):
        return replace(made, environment=tuple(changed), filed=FAULT)
    left = beyond(judged, again())
    if left.slots_hold and left.texts_hold is not False:
        text = f"the environment, {changes_told(changed)}; rounding accounts for all that differs"
        changes = tuple(Change(*each) for each in changed)
        cause = Cause(Certainty.LIKELY, "environment", text, changes, check=_rounding(judged))
        return replace(made, cause=cause, environment=tuple(changed), filed=ENVIRONMENT)
    if len(left.comparison.failures()) != len(judged.comparison.failures()):
        made = explain(left.comparison)
    return replace(made, environment=tuple(changed), filed=_of_rest(left, made.cause, changed))


def _is_shown(cause: Cause | None) -> bool:
    """Whether settings, graphs, or an operator computed again with another setting show a fault."""
    check = None if cause is None else cause.check
    if cause is None or check is None or not check.exact or cause.kind in _VALUES:
        return False
    return check.transformation in ("replay", "fact")


def _rounding(judged: Judgement) -> Check:
    from harness.explain.claim import Check  # most judgements hold

    count = len(judged.comparison.failures())
    return Check("rounding", {"slots": count}, False, count, count)


def _is_gross(left: Judgement) -> bool:
    """Whether something is missing or unexpected, or far beyond what another order of sums gives."""
    comparison = left.comparison
    if any(comparison.counts[each] for each in (Verdict.MISSING, Verdict.UNEXPECTED)):
        return True
    return any(_noise(each) > _GROSS or _error(each) > _GROSS_ELEMENT for each in comparison.failures())


def _is_of_another_kind(left: Judgement) -> bool:
    """Whether something has another dtype or shape: no threads, no processor and no order of a set gives that."""
    pairs = left.comparison.pairs
    failing = (pairs[each.key] for each in left.comparison.failures() if each.key in pairs)
    return any((one.dtype, one.shape) != (other.dtype, other.shape) for one, other in failing)


def _error(slot: SlotVerdict) -> float:
    """The error of the element furthest outside, as a part of its size or of that of most elements."""
    measured = slot.measurement
    if measured is None or measured.worst is None or slot.dtype not in DEFAULTS:
        return 0.0
    expected, found = complex(measured.worst.expected), complex(measured.worst.found)
    size = max(abs(expected), measured.bulk)
    return abs(found - expected) / size if size else 0.0


def _noise(slot: SlotVerdict) -> float:
    """The root mean square of a slot's error over that of its values."""
    return 0.0 if slot.measurement is None else noise(slot.measurement) or 0.0


def _of_rest(left: Judgement, cause: Cause | None, changed: Sequence[Changed]) -> str:
    """What a difference beyond rounding is filed as."""
    names = {each.name for each in changed}
    if _is_of_another_kind(left) and not names & (_SOFTWARE | {"seed"}):
        return FAULT
    if cause is None or cause.kind == "rounding":
        return FAULT if _is_gross(left) and not names & (_SEEDS | _SOFTWARE) else CANNOT_TELL
    if cause.kind in _VALUES and (cause.check is None or names & _SEEDS):
        return CANNOT_TELL
    facts = _OF_FACTS.get(cause.kind)
    if facts is not None and names & facts:
        return CANNOT_TELL if cause.kind == "permuted" else ENVIRONMENT
    return FAULT
