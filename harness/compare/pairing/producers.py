"""The outputs of a step that its inputs, and the parameters that are kept, hold."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from harness.compare.pairing.kinds import is_layout
from harness.compare.pairing.slots import StepSlots

Array = np.ndarray[Any, np.dtype[Any]]

#: Content held by more outputs than this does not tell its origin.
_MAX_HOLDERS = 16
#: Share of inputs whose maker comes earlier; above it, the order of records counts as the order of execution.
_TRUSTED = 0.8


def producers(step: StepSlots) -> list[int]:
    """The output that each input, and each kept parameter, holds in every iteration; -1 unless it is exactly one.

    Only earlier operators count if the order can be trusted, that is if nearly all inputs held by an output of the step
    are held by an earlier one. Parameters, which are dumped last, count if no operator does.
    """
    chosen = np.full(len(step.ats), -1, np.int64)
    owners, is_parameter = np.array(step.owners, np.int64), step.is_parameter
    outputs = np.flatnonzero(step.is_output)
    counts = np.bincount(step.numbers[outputs], minlength=len(chosen))[step.numbers]
    takes = step.each(lambda form: form.io == "input" or form.is_parameter, bool)
    takes &= (counts > 0) & (step.fewest <= _MAX_HOLDERS)
    last = np.zeros(len(chosen), np.int64)  # the only one, where there is one
    last[step.numbers[outputs]] = outputs
    singly = np.flatnonzero(takes & (counts == 1))
    made = last[step.numbers[singly]]
    singly, made = (each[owners[singly] != owners[made]] for each in (singly, made))
    same = _several(step, outputs, np.flatnonzero(takes & (counts > 1)))
    makers = {at: [each for each in found if not is_parameter[each]] for at, found in same.items()}
    earlier = {at: [e for e in found if owners[e] < owners[at]] for at, found in makers.items()}
    is_maker, is_earlier = ~is_parameter[made], owners[made] < owners[singly]
    before = sum(map(bool, earlier.values())) + np.count_nonzero(is_maker & is_earlier)
    trusted = bool(before >= _TRUSTED * (sum(map(bool, makers.values())) + np.count_nonzero(is_maker)))
    if trusted:
        makers = earlier
    is_made = np.where(is_maker, is_earlier | (not trusted), ~is_parameter[singly])
    chosen[singly[is_made]] = made[is_made]
    for at, found in same.items():
        chosen[at] = _only(step, at, makers[at], found, trusted)
    return chosen.tolist()


def _several(step: StepSlots, outputs: Array, takers: Array) -> dict[int, list[int]]:
    """Of some slots, the outputs of other operators that hold what they hold in every iteration."""
    found: dict[int, list[int]] = defaultdict(list)
    wanted = np.isin(step.numbers[outputs], step.numbers[takers])
    for number, at in zip(step.numbers[outputs[wanted]].tolist(), outputs[wanted].tolist(), strict=True):
        found[number].append(at)
    same = {}
    for number, at in zip(step.numbers[takers].tolist(), takers.tolist(), strict=True):
        others = [each for each in found[number] if step.owners[each] != step.owners[at]]
        if others:
            same[at] = others
    return same


def _only(step: StepSlots, at: int, makers: list[int], same: list[int], ordered: bool) -> int:
    if not makers and not step.forms[at].is_parameter:
        makers = [each for each in same if step.forms[each].is_parameter]
    if len(makers) > 1:
        makers = _before_copies(step, makers, ordered)
    return makers[0] if len(makers) == 1 else -1


def _before_copies(step: StepSlots, makers: list[int], ordered: bool) -> list[int]:
    """The makers of a content without the layouts that pass it on: only the first if all others are layouts in
    order."""
    others = [each for each in makers if not is_layout(step.forms[each].op_type)]
    return others or (makers[:1] if ordered else [])
