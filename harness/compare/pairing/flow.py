"""The data flow of one step: its nodes, and what flows from one to another."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from harness.compare.pairing.kinds import LAYOUT, PERMUTING
from harness.compare.pairing.operators import PartForm, Ported
from harness.compare.pairing.scopes import ScopePath
from harness.compare.pairing.slots import Held, Name, StepSlots

Array = np.ndarray[Any, np.dtype[Any]]

#: Where a node stands that is no operator.
NOWHERE = ScopePath(None, False)


class Numbers(dict[Any, int]):
    """Gives each new key the next number."""

    def __missing__(self, key: Any) -> int:
        self[key] = number = len(self)
        return number


class Ports(dict[tuple[str, str], int]):
    """Numbers for the ports of the maker and the taker at the ends of an edge, odd for an edge past a layout.

    Attributes:
        taken: the taker's port, by half the number.
    """

    def __init__(self) -> None:
        super().__init__()
        self.taken: list[str] = []

    def __missing__(self, ends: tuple[str, str]) -> int:
        self[ends] = number = 2 * len(self) + (ends[1][-1] == "~")
        self.taken.append(ends[1])
        return number


class Words:
    """What the flows of both sides have the same numbers for.

    Attributes:
        ports: see ``Ports``.
        looks: kinds of nodes, whether they are backward, and sizes of what they give.
    """

    def __init__(self) -> None:
        self.ports, self.looks = Ports(), Numbers()


class Chain(NamedTuple):
    """The chain of layouts from an input back to its maker.

    Attributes:
        slots: the slots that hold it in turn, the input first: inputs of the layouts it went through.
        kinds: of those layouts; the last slot lies before the last of them.
    """

    slots: tuple[int, ...]
    kinds: tuple[str, ...]


class Joined:
    """The edges of all nodes in one direction, in the order in which they were made.

    Attributes:
        ports, others: of all edges, those of a node side by side: number of their ports, and the other end (int64).
        heres: this end.
        of: ports and the other ends of the edges of each node.
    """

    def __init__(self, heres: Array, others: Array, ports: Array, count: int) -> None:
        order = np.argsort(heres, kind="stable")
        self.heres, self.ports, self.others = heres[order], ports[order], others[order]
        edges = list(zip(self.ports.tolist(), self.others.tolist(), strict=True))
        ends = np.searchsorted(self.heres, np.arange(count + 1)).tolist()
        self.of = [edges[start:end] for start, end in pairwise(ends)]


@dataclass(eq=False)
class Flow:
    """The data flow of a step. A node is a part of an operator, a parameter, or a value that no operator made.

    Attributes:
        step: the step.
        owners: the operator of each node; -1 for a value.
        forms: of each node, what it has in common with others.
        looks: of each node, the number of its kind, ``backward`` and what it gives, see ``Words``.
        labels: of some nodes, a parameter's name, common to all frameworks; values have it, too.
        joined: the nodes that are one of several parts that run one after another within an operator.
        scopes: the place of each operator.
        of: the nodes of each operator.
        order: the operators in the order of their names.
        roots: of each input slot, the slot that gave it before all layouts; -1 if nothing in the step did.
        chains: of each input slot that came through layouts.
        ins, outs: edges to the makers, and to the takers.
        words: numbers that are common to both sides.
    """

    step: StepSlots
    owners: list[int]
    forms: list[PartForm]
    looks: list[int]
    labels: dict[int, str]
    joined: set[int]
    scopes: list[ScopePath]
    of: list[list[int]]
    order: list[int]
    roots: list[int]
    chains: dict[int, Chain]
    ins: Joined
    outs: Joined
    words: Words

    def type_of(self, operator: int) -> str:
        """The type of an operator."""
        return self.step.forms[self.step.slots[operator][0]].op_type

    def kind(self, node: int) -> str:
        """The kind of a node."""
        return self.forms[node].kind

    def scope(self, node: int) -> ScopePath:
        """The place of a node."""
        owner = self.owners[node]
        return NOWHERE if owner < 0 else self.scopes[owner]

    def name(self, node: int) -> Name | None:
        """The name of a node's operator; None for a value."""
        owner = self.owners[node]
        return None if owner < 0 else self.step.names[owner]

    def inputs(self, node: int) -> list[int]:
        """The input slots of a node."""
        return self._slots(node, self.forms[node].inputs)

    def outputs(self, node: int) -> list[int]:
        """The output slots of a node."""
        return self._slots(node, self.forms[node].outputs)

    def _slots(self, node: int, ported: Ported) -> list[int]:
        return [self.step.slots[self.owners[node]][nth] for nth, _ in ported]

    def named(self, name: Name) -> list[int]:
        """The parts of the operator of a name."""
        number = self._numbers.get(name)
        return [] if number is None else self.of[number]

    @cached_property
    def ranks(self) -> Array:
        """Of each operator, its place in the order of their names (int64)."""
        return _inverse(self.order)

    @cached_property
    def places(self) -> Array:
        """Of each slot, its place in the order of their names (int64)."""
        step = self.step
        ends = sorted({(form.io, form.slot) for form in dict.fromkeys(step.forms)})
        numbers = {end: number for number, end in enumerate(ends)}
        last = step.each(lambda form: numbers[form.io, form.slot])
        return _inverse(np.lexsort((last, self.ranks[np.array(step.owners, np.int64)])))

    @cached_property
    def _numbers(self) -> dict[Name, int]:
        return {name: number for number, name in enumerate(self.step.names)}

    @cached_property
    def is_chained(self) -> Array:
        """Of each slot, whether it is an input that came through layouts (bool)."""
        found = np.zeros(len(self.step.ats), bool)
        found[list(self.chains)] = True
        return found

    @cached_property
    def is_overwritten(self) -> Array:
        """Of each slot, whether it is an input that holds the same as an output of its operator, because it was
        recorded after it was written (bool)."""
        step = self.step
        held = np.array(step.owners, np.int64) * len(step.ats) + step.numbers
        found = step.each(lambda form: form.io == "input", bool) & np.isin(held, held[step.is_output])
        for at in np.flatnonzero(found).tolist():
            given = [each for node in self.of[step.owners[at]] for each in self.outputs(node)]
            found[at] = step.numbers[at] in step.numbers[given]
        return found

    def slots_at(self, nodes: Array, nth: int) -> Array:
        """The slots (int64) at some place in the operators of nodes."""
        slots, starts = self.step.table
        return np.asarray(slots[starts[self._owners[nodes]] + nth])

    @cached_property
    def _owners(self) -> Array:
        return np.array(self.owners, np.int64)

    def is_unused_exchange(self, operator: int) -> bool:
        """Whether an operator exchanges axes and only layouts take its output, so that the output is a result.

        Not so if another operator holds the output, if the layout received it, or if it has fewer than two axes.
        """
        last: dict[int, None] = dict.fromkeys(self.of[operator])
        if not any(self.kind(each) in PERMUTING for each in last):
            return False
        waiting = list(last)
        while waiting:
            more = {other: None for _, other in self.outs.of[waiting.pop()] if self._is_layout(other)}
            waiting += [each for each in more if each not in last]
            last |= more
        given = [at for each in last for at in self.outputs(each)]
        held = self.step.held
        own = {held[at] for each in self.of[operator] for at in self.inputs(each)}
        flat = all(sum(axis > 1 for axis in self.step.forms[at].shape) < 2 for at in given)
        return not flat and not any(held[at] in own or held[at] in self._held for at in given)

    def _is_layout(self, node: int) -> bool:
        return self.kind(node) in LAYOUT

    @cached_property
    def _held(self) -> set[Held]:
        """The contents of the slots of all operators except layouts."""
        return {
            self.step.held[at]
            for slots, nodes in zip(self.step.slots, self.of, strict=True)
            if not all(map(self._is_layout, nodes))
            for at in slots
        }


def _inverse(order: Array | list[int]) -> Array:
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    return places
