"""The data flow of one step, read from the contents of its slots: the output, and the layouts, that each input came
from.

An input comes from an output if, in every iteration, exactly this output of the step has the same content. If several
have it (zeros, for example), none is chosen. Content that no operator made is a value node, shared by all its takers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from harness.compare.pairing.kinds import LAYOUT, ORDERED, PERMUTING, VALUE_KIND
from harness.compare.pairing.operators import VALUE_FORM, OperatorForm, PartForm, form_of
from harness.compare.pairing.producers import producers
from harness.compare.pairing.scopes import parameter_name, place_of
from harness.compare.pairing.slots import Form, Held, Name, StepSlots

Array = np.ndarray[Any, np.dtype[Any]]

#: Longest chain of layouts to follow.
_MAX_CHAIN = 24


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


@dataclass(eq=False, slots=True)
class FlowNode:
    """A part of an operator, a parameter, or a value that no operator of the step made.

    Attributes:
        name: name of its operator; None for a value.
        operator: number of its operator; -1 for a value.
        path, backward: its place, see ``ScopePath``.
        look: number of its kind, ``backward`` and ``counts``, see ``Words``.
        label: a parameter's name, common to all frameworks; for a value, its parameter's name, or empty.
        form: what it has in common with others.
        slots: the slots of its operator.
        joined: whether it is one of several parts that run one after another within an operator.
    """

    name: Name | None
    operator: int
    kind: str
    path: tuple[str, ...] | None
    backward: bool
    look: int
    label: str = ""
    form: PartForm = VALUE_FORM
    slots: Sequence[int] = ()
    joined: bool = False

    def inputs(self) -> list[int]:
        """Its input slots."""
        return [self.slots[nth] for nth, _ in self.form.inputs]

    def outputs(self) -> list[int]:
        """Its output slots."""
        return [self.slots[nth] for nth, _ in self.form.outputs]


class Joined:
    """The edges of all nodes in one direction, in the order in which they were made.

    Attributes:
        ports, others: of all edges, those of a node side by side: number of their ports, and the other end (int64).
        heres: this end.
    """

    def __init__(self, heres: Array, others: Array, ports: Array, count: int) -> None:
        order = np.argsort(heres, kind="stable")
        self.heres, self.ports, self.others = heres[order], ports[order], others[order]
        self._edges = list(zip(self.ports.tolist(), self.others.tolist(), strict=True))
        self._starts = np.searchsorted(self.heres, np.arange(count + 1)).tolist()

    def __getitem__(self, at: int) -> list[tuple[int, int]]:
        return self._edges[self._starts[at] : self._starts[at + 1]]


@dataclass(eq=False)
class Flow:
    """The data flow of a step.

    Attributes:
        step: the step.
        nodes: all parts, parameters and values.
        of: the parts of each operator.
        order: the operators in the order of their names.
        roots: of each input slot, the slot that gave it before all layouts; -1 if nothing in the step did.
        chains: of each input slot that came through layouts.
        sorted: the slots in the order of their names.
        ins, outs: edges to the makers, and to the takers.
        words: numbers that are common to both sides.
    """

    step: StepSlots
    nodes: list[FlowNode]
    of: list[list[int]]
    order: list[int]
    roots: list[int]
    chains: dict[int, Chain]
    sorted: list[int]
    ins: Joined
    outs: Joined
    words: Words

    def type_of(self, operator: int) -> str:
        """The type of an operator."""
        return self.step.forms[self.step.slots[operator][0]].op_type

    def named(self, name: Name) -> list[int]:
        """The parts of the operator of a name."""
        number = self._numbers.get(name)
        return [] if number is None else self.of[number]

    @cached_property
    def ranks(self) -> list[int]:
        """Of each operator, its place in the order of their names."""
        ranks = [0] * len(self.order)
        for rank, number in enumerate(self.order):
            ranks[number] = rank
        return ranks

    @cached_property
    def places(self) -> list[int]:
        """Of each slot, its place in the order of their names."""
        places = np.empty(len(self.sorted), np.int64)
        places[self.sorted] = np.arange(len(self.sorted))
        return places.tolist()

    @cached_property
    def _numbers(self) -> dict[Name, int]:
        return {name: number for number, name in enumerate(self.step.names)}

    @cached_property
    def overwritten(self) -> set[int]:
        """The inputs that hold the same as an output of their operator, because they were recorded after they were
        written."""
        step, found = self.step, set()
        given = {(step.owners[at], step.held[at]) for at, form in enumerate(step.forms) if form.io == "output"}
        for at, form in enumerate(step.forms):
            if form.io == "input" and (step.owners[at], step.held[at]) in given:
                parts = [self.nodes[each] for each in self.of[step.owners[at]]]
                if any(step.held[each] == step.held[at] for part in parts for each in part.outputs()):
                    found.add(at)
        return found

    def is_unused_exchange(self, operator: int) -> bool:
        """Whether an operator exchanges axes and only layouts take its output, so that the output is a result.

        Not so if another operator holds the output, if the layout received it, or if it has fewer than two axes.
        """
        last: dict[int, None] = dict.fromkeys(self.of[operator])
        if not any(self.nodes[each].kind in PERMUTING for each in last):
            return False
        waiting = list(last)
        while waiting:
            more = {other: None for _, other in self.outs[waiting.pop()] if self._is_layout(other)}
            waiting += [each for each in more if each not in last]
            last |= more
        given = [at for each in last for at in self.nodes[each].outputs()]
        held = self.step.held
        own = {held[at] for each in self.of[operator] for at in self.nodes[each].inputs()}
        flat = all(sum(axis > 1 for axis in self.step.forms[at].shape) < 2 for at in given)
        return not flat and not any(held[at] in own or held[at] in self._held for at in given)

    def _is_layout(self, node: int) -> bool:
        return self.nodes[node].kind in LAYOUT

    @cached_property
    def _held(self) -> set[Held]:
        """The contents of the slots of all operators except layouts."""
        return {
            self.step.held[at]
            for slots, nodes in zip(self.step.slots, self.of, strict=True)
            if not all(map(self._is_layout, nodes))
            for at in slots
        }


def flow_of(step: StepSlots, names: Mapping[bytes, str], words: Words) -> Flow:
    """Reads the data flow of a step.

    Args:
        step: step of one rank.
        names: parameters' names by content, of all steps.
        words: numbers that are common to both sides.
    """
    return _Reader(step, names, words).read()


#: The form of an operator, and the looks of its parts forward and backward.
_Known = tuple[OperatorForm, list[tuple[int, int]]]


class _Reader:
    def __init__(self, step: StepSlots, names: Mapping[bytes, str], words: Words) -> None:
        self._step, self._names, self._words, self._ports = step, names, words, words.ports
        self._nodes: list[FlowNode] = []
        self._of: list[list[int]] = [[] for _ in step.names]
        self._gives: list[tuple[int, str] | None] = [None] * len(step.ats)
        self._makers: list[int] = []
        self._takers: list[int] = []
        self._edges: list[int] = []
        self._producers = producers(step)
        self._roots = [-1] * len(step.ats)
        self._values: dict[Held, int] = {}
        self._chains: dict[int, Chain] = {}
        self._sorted: list[int] = []

    def read(self) -> Flow:
        step = self._step
        order = sorted(range(len(step.names)), key=step.names.__getitem__)
        self._operators(order)
        for user, node in enumerate(self._nodes.copy()):
            for nth, port in node.form.inputs:
                self._connect(user, node.slots[nth], port)
        for at, made in self._producers.items():
            if step.forms[at].is_parameter:
                self._edge(self._gives[made], self._of[step.owners[at]][0], "kept")
        makers, takers, ports = (np.array(e, np.int64) for e in (self._makers, self._takers, self._edges))
        count = len(self._nodes)
        ins, outs = Joined(takers, makers, ports, count), Joined(makers, takers, ports, count)
        return Flow(step, self._nodes, self._of, order, self._roots, self._chains, self._sorted, ins, outs, self._words)

    def _operators(self, order: list[int]) -> None:
        """Makes the nodes of all operators."""
        forms, slots = self._step.forms, self._step.slots
        updated = {made for at, made in self._producers.items() if forms[at].is_parameter}
        known: dict[tuple[Form, ...], _Known] = {}
        updates: dict[tuple[Form, ...], _Known] = {}
        for number in order:
            mine = slots[number]
            look = tuple([forms[at] for at in mine])
            found = known.get(look)
            if found is None:
                found = known[look] = self._known(look, False)
            if found[0].in_place and any(at in updated and forms[at].io == "output" for at in mine):
                found = updates.get(look) or updates.setdefault(look, self._known(look, True))
            self._operator(number, mine, *found)

    def _known(self, look: tuple[Form, ...], updates: bool) -> _Known:
        form, looks = form_of(look, updates), self._words.looks
        return form, [
            (looks[part.kind, False, part.counts], looks[part.kind, True, part.counts]) for part in form.parts
        ]

    def _operator(self, number: int, mine: list[int], form: OperatorForm, looks: list[tuple[int, int]]) -> None:
        name, nodes, gives = self._step.names[number], self._nodes, self._gives
        if form.is_parameter:
            label, path, backward = parameter_name(name.operator), None, False
        else:
            label, (path, backward) = "", place_of(form.last or name.operator, form.op_type)
        made = self._of[number]
        for part, look in zip(form.parts, looks, strict=True):
            at = len(nodes)
            nodes.append(FlowNode(name, number, part.kind, path, backward, look[backward], label, part, mine))
            for nth, port in part.outputs:
                gives[mine[nth]] = at, port
            if part.link:
                before = nodes[made[-1]]
                self._edge((made[-1], "dx" if before.kind.endswith("_grad") else "y"), at, part.link)
                nodes[at].joined = before.joined = True
            made.append(at)
        for nth, port in form.rest:
            gives[mine[nth]] = made[-1], port
        self._sorted += [mine[nth] for nth in form.places]

    def _edge(self, made: tuple[int, str] | None, user: int, port: str) -> None:
        if made is not None:
            self._makers.append(made[0])
            self._takers.append(user)
            self._edges.append(self._ports[made[1], port])

    def _connect(self, user: int, at: int, port: str) -> None:
        """Adds the edges of one input: from its root, and from the layouts on the way."""
        made, last = self._producers.get(at, -1), at
        if made >= 0 and (node := self._maker(made)) is not None and node.kind in LAYOUT and node.form.inputs:
            made, last = self._past_layouts(user, at, made, port)
        form = self._step.forms[at]
        if made >= 0 and (given := self._gives[made]) is not None:
            self._roots[at] = made
            self._edge(given, user, port)
            if self._nodes[user].kind in ORDERED:
                self._edge(given, user, f"{form.slot} of {form.op_type}~")
        elif form.elements > 1:
            self._edge((self._value(last), "y"), user, port)

    def _maker(self, slot: int) -> FlowNode | None:
        given = self._gives[slot]
        return None if given is None else self._nodes[given[0]]

    def _past_layouts(self, user: int, at: int, made: int, port: str) -> tuple[int, int]:
        """Follows an input through layouts; gives what made it before them (-1 for nothing), and the last slot."""
        slots, kinds, forms = [at], [], self._step.forms
        while made >= 0 and (given := self._gives[made]) is not None and len(slots) < _MAX_CHAIN:
            node = self._nodes[given[0]]
            if node.kind not in LAYOUT or not node.form.inputs:
                break
            before = node.inputs()[0]
            if before in slots or forms[before].elements != forms[made].elements:
                break
            slots.append(before)
            kinds.append(node.kind)
            self._edge((given[0], "laid"), user, port + "~")
            made = self._producers.get(before, -1)
        if kinds:
            self._chains[at] = Chain(tuple(slots), tuple(kinds))
        return made, slots[-1]

    def _value(self, at: int) -> int:
        """The node of a value that no operator of the step made: one for all slots that hold it in every iteration."""
        held = self._step.held[at]
        value = self._values.get(held)
        if value is None:
            labels = {self._names.get(each, "") for each in (held if isinstance(held, tuple) else (held,))}
            label = labels.pop() if len(labels) == 1 else ""
            value = self._values[held] = len(self._nodes)
            self._nodes.append(
                FlowNode(None, -1, VALUE_KIND, None, False, self._words.looks[VALUE_KIND, False, ()], label)
            )
        return value
