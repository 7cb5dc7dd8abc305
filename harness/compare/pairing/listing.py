"""All pairs of operators of a step, with their slots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from harness.compare.pairing.corresponding import Corresponding, Found
from harness.compare.pairing.flow import Flow, Numbers
from harness.compare.pairing.result import Pair, SlotPair
from harness.compare.pairing.slots import StepSlots, makes

Array = np.ndarray[Any, np.dtype[Any]]
_SLOT_PAIR, _PAIR = makes(SlotPair), makes(Pair)


@dataclass
class Listing:
    """The pairs of a step.

    Attributes:
        pairs: by the expected operator's name.
        paired: of each side, of each operator, whether it is paired (bool).
        covered: of each side, of each slot, whether it is paired (bool).
    """

    pairs: tuple[Pair, ...]
    paired: tuple[Array, Array]
    covered: tuple[Array, Array]


def listed(left: Flow, right: Flow, pairs: Sequence[tuple[int, int, str]]) -> Listing:
    """Lists pairs of nodes.

    Args:
        left, right: the data flows of both sides.
        pairs: the nodes that are paired, and the rule that did.
    """
    pairs = [pair for pair in pairs if left.owners[pair[0]] >= 0 and right.owners[pair[1]] >= 0]
    ones, others = (np.array([pair[side] for pair in pairs], np.int64) for side in (0, 1))
    found = Corresponding(left, right, ones, others).slots()
    operators = np.array(left.owners, np.int64)[ones], np.array(right.owners, np.int64)[others]
    ranks = left.ranks[operators[0]] * len(right.order) + right.ranks[operators[1]]
    _, firsts, groups = np.unique(ranks, return_index=True, return_inverse=True)
    beside = _same_type(left, right, operators[0][firsts], operators[1][firsts], found, groups)
    beside.pairs = firsts[beside.pairs]
    found = Found.joined([found, beside])
    order = np.argsort(groups, kind="stable")
    slots = _slot_pairs(left, right, found, np.argsort(order))
    kinds = [left.kind(node) for node in ones[order].tolist()]
    names = (
        map(flow.step.names.__getitem__, side[order].tolist())
        for flow, side in zip((left, right), operators, strict=True)
    )
    rules = [pairs[each][2] for each in order.tolist()]
    made = tuple(map(_PAIR, zip(*names, kinds, rules, slots, strict=True)))
    paired = tuple(_marked(len(flow.of), side) for flow, side in zip((left, right), operators, strict=True))
    covered = _marked(len(left.places), found.mine), _marked(len(right.places), found.its)
    return Listing(made, (paired[0], paired[1]), covered)


def _marked(count: int, at: Array) -> Array:
    marked = np.zeros(count, bool)
    marked[at] = True
    return marked


def _slot_pairs(left: Flow, right: Flow, found: Found, places: Array) -> list[tuple[SlotPair, ...]]:
    """The slots of each pair, in the order of their names, each once.

    Args:
        places: place of each pair in the list.
    """
    columns = places[found.pairs], left.places[found.mine], right.places[found.its]
    order = np.lexsort(columns[::-1])
    pairs, mine, its = (column[order] for column in columns)
    new = np.ones(len(order), bool)
    new[1:] = (pairs[1:] != pairs[:-1]) | (mine[1:] != mine[:-1]) | (its[1:] != its[:-1])
    chosen = order[new]
    ones = map(left.step.ats.__getitem__, found.mine[chosen].tolist())
    others = map(right.step.ats.__getitem__, found.its[chosen].tolist())
    slots = tuple(map(_SLOT_PAIR, zip(ones, others, strict=True)))
    ends = np.searchsorted(pairs[new], np.arange(len(places) + 1)).tolist()
    return [slots[start:end] for start, end in pairwise(ends)]


def _same_type(left: Flow, right: Flow, ones: Array, others: Array, found: Found, groups: Array) -> Found:
    """For pairs of operators of the same type, the slots at the same place that are still unpaired.

    Args:
        ones, others: the operators of each pair.
        groups: of each pair of nodes, the pair of operators.
    """
    types, places = Numbers(), Numbers()
    kinds = []
    for step in (left.step, right.step):
        slots_, starts = step.table
        kinds.append(step.each(lambda form: types[form.op_type])[slots_[starts]])
    alike = np.flatnonzero(kinds[0][ones] == kinds[1][others])
    keys, slots = [], []
    for flow, operators, taken in ((left, ones, found.mine), (right, others, found.its)):
        step = flow.step
        nth = step.each(lambda form: places[form.io, form.slot])
        pairs, at = _slots_of(step, operators[alike], alike)
        free = ~np.isin(pairs * len(nth) + at, groups[found.pairs] * len(nth) + taken)
        keys.append((pairs[free], nth[at[free]]))
        slots.append(at[free])
    mine, its = (pairs * len(places) + nth for pairs, nth in keys)
    both, one, other = np.intersect1d(mine, its, assume_unique=True, return_indices=True)
    return Found(both // max(len(places), 1), slots[0][one], slots[1][other])


def _slots_of(step: StepSlots, operators: Array, labels: Array) -> tuple[Array, Array]:
    """All slots of some operators, and the label of each one's operator."""
    flat, starts = step.table
    counts = np.bincount(step.owners, minlength=len(step.names))[operators]
    first = np.cumsum(counts) - counts
    at = np.arange(int(counts.sum())) - np.repeat(first, counts) + np.repeat(starts[operators], counts)
    return np.repeat(labels, counts), flat[at]
