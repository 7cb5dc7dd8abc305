"""Finds the slots of two paired parts that hold the same thing."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from itertools import accumulate
from operator import mul

from harness.compare.pairing.flow import Chain, Flow, FlowNode
from harness.compare.pairing.kinds import PERMUTING
from harness.compare.pairing.result import SlotPair
from harness.compare.pairing.slots import At

Shape = tuple[int, ...]


def slot_pairs(left: Flow, right: Flow, one: FlowNode, other: FlowNode, outputs: Mapping[At, At]) -> Iterator[SlotPair]:
    """The slots of two paired parts that correspond.

    Args:
        left, right: the data flows of both sides.
        one, other: a part of each.
        outputs: output slots of the left side -> those of the right, of all paired parts.
    """
    mine, its = _by_port(one.outputs), _by_port(other.outputs)
    for port in mine.keys() & its.keys():
        for a, b in zip(mine[port], its[port], strict=False):
            if same_layout(left.step.slots[a].shape, right.step.slots[b].shape):
                yield SlotPair(a, b)
    mine, its = _by_port(one.inputs), _by_port(other.inputs)
    for port in mine.keys() & its.keys():
        for a, b in _inputs(left, right, mine[port], its[port], outputs):
            found = _before_layouts(left, right, a, b)
            if found is not None and _overwritten(left, found[0]) == _overwritten(right, found[1]):
                yield SlotPair(*found)


def _by_port(slots: list[tuple[At, str]]) -> dict[str, list[At]]:
    ports: dict[str, list[At]] = defaultdict(list)
    for at, port in slots:
        ports[port].append(at)
    return ports


def _inputs(
    left: Flow, right: Flow, mine: list[At], its: list[At], outputs: Mapping[At, At]
) -> Iterator[tuple[At, At]]:
    """Pairs the inputs of one port: by what gave them, then by their sizes, then where one is left on each side."""
    if len(mine) == len(its) == 1:
        a, b = mine[0], its[0]
        root = left.chains[a].root
        if (root is not None and outputs.get(root, a) == right.chains[b].root) or (
            left.step.slots[a].elements == right.step.slots[b].elements
        ):
            yield a, b
        return
    mine, its = list(mine), list(its)
    roots: dict[At, list[At]] = defaultdict(list)
    for each in its:
        if (root := right.chains[each].root) is not None:
            roots[root].append(each)
    for each in list(mine):
        root = left.chains[each].root
        same = roots.get(outputs[root], []) if root is not None and root in outputs else []
        if same:
            yield each, same[0]
            mine.remove(each)
            its.remove(same.pop(0))
    sizes = (
        Counter(left.step.slots[each].elements for each in mine),
        Counter(right.step.slots[each].elements for each in its),
    )
    for each in list(mine):
        count = left.step.slots[each].elements
        if sizes[0][count] == sizes[1][count] == 1:
            same = [found for found in its if right.step.slots[found].elements == count]
            yield each, same[0]
            mine.remove(each)
            its.remove(same[0])


def _before_layouts(left: Flow, right: Flow, one: At, other: At) -> tuple[At, At] | None:
    """The slots to compare: the inputs, or their values before one side exchanged the axes."""
    chains = left.chains[one], right.chains[other]
    if not (chains[0].kinds or chains[1].kinds):
        same = same_layout(left.step.slots[one].shape, right.step.slots[other].shape)
        return (one, other) if same else None
    choices = [(one, other), tuple(_unpermuted(chain) for chain in chains)]
    if _permuted(chains[0]) != _permuted(chains[1]):
        choices.reverse()
    for a, b in choices:
        if same_layout(left.step.slots[a].shape, right.step.slots[b].shape):
            return a, b
    return None


def _permuted(chain: Chain) -> bool:
    return any(kind in PERMUTING for kind in chain.kinds)


def _unpermuted(chain: Chain) -> At:
    """The slot before the first layout that exchanged axes; the input itself if there is none."""
    last = max((at for at, kind in enumerate(chain.kinds) if kind in PERMUTING), default=-1)
    return chain.slots[last + 1]


def same_layout(one: Shape, other: Shape) -> bool:
    """Whether elements correspond in memory order, because axes are only split or merged."""
    if one == other:
        return True
    cuts = [set(accumulate(shape, mul, initial=1)) for shape in (one, other)]
    return max(cuts[0]) == max(cuts[1]) and 0 not in (*one, *other) and (cuts[0] <= cuts[1] or cuts[1] <= cuts[0])


def _overwritten(flow: Flow, at: At) -> bool:
    """Whether an input holds the same as an output of its operator, because it was recorded after it was written."""
    if at.io != "input":
        return False
    held = flow.contents_of(at)
    return any(flow.contents_of(each) == held for index in flow.of[at.name] for each, _ in flow.nodes[index].outputs)
