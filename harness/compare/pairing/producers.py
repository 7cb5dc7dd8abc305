"""The outputs of a step that its inputs, and the parameters that are kept, hold."""

from __future__ import annotations

from collections import defaultdict

from harness.compare.pairing.kinds import is_layout
from harness.compare.pairing.slots import Held, StepSlots

#: Content held by more outputs than this does not tell its origin.
_MAX_HOLDERS = 16
#: Share of inputs whose maker comes earlier; above it, the order of records counts as the order of execution.
_TRUSTED = 0.8


def producers(step: StepSlots) -> dict[int, int]:
    """The output that an input, or a kept parameter, holds in every iteration, where it is exactly one.

    Only earlier operators count if the order can be trusted, that is if nearly all inputs held by an output of the step
    are held by an earlier one. Parameters, which are dumped last, count if no operator does.
    """
    owners, forms = step.owners, step.forms
    same = _holders(step)
    makers = {at: [each for each in found if not forms[each].is_parameter] for at, found in same.items()}
    earlier = {at: [e for e in found if owners[e] < owners[at]] for at, found in makers.items()}
    trusted = sum(map(bool, earlier.values())) >= _TRUSTED * sum(map(bool, makers.values()))
    if trusted:
        makers = earlier
    chosen = {at: _only(step, at, makers[at], found, trusted) for at, found in same.items()}
    return {at: made for at, made in chosen.items() if made >= 0}


def _holders(step: StepSlots) -> dict[int, list[int]]:
    """Of each input and each kept parameter, the outputs of other operators that hold what it holds in every iteration,
    if there are any, and not too many hold it in each."""
    held, owners = step.held, step.owners
    found: dict[Held, list[int]] = defaultdict(list)
    for at, form in enumerate(step.forms):
        if form.io == "output":
            found[held[at]].append(at)
    same, single = {}, len(step.contents) == 1
    for at, form in enumerate(step.forms):
        if form.io == "input" or form.is_parameter:
            holders = found.get(held[at])
            if holders is None or (len(holders) > _MAX_HOLDERS if single else _crowded(step, at)):
                continue
            mine = owners[at]
            others = [each for each in holders if owners[each] != mine]
            if others:
                same[at] = others
    return same


def _crowded(step: StepSlots, at: int) -> bool:
    """Whether too many outputs hold what a slot holds, in every iteration."""
    counts = zip(step.counts, step.contents.values(), strict=True)
    return min(count[contents[at]] for count, contents in counts) > _MAX_HOLDERS


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
