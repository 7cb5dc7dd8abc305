"""The data flow of one step, read from the contents of its slots: the output, and the layouts, that each input came
from.

An input comes from an output if, in every iteration, exactly this output of the step has the same content. If several
have it (zeros, for example), none is chosen. Content that no operator made is a value node, shared by all its takers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from harness.compare.divergence import PARAMETER
from harness.compare.pairing.kinds import (
    LAYOUT,
    ORDERED,
    PARAMETER_KIND,
    PERMUTING,
    UPDATE_KIND,
    VALUE_KIND,
    Part,
    is_layout,
    kind_of,
    parts_of,
)
from harness.compare.pairing.scopes import parameter_name, place_of, type_of
from harness.compare.pairing.slots import At, Name, Slot, StepSlots

_DERIVES_ITSELF = "SparseSoftmaxCrossEntropyWithLogits"
#: Longest chain of layouts to follow.
_MAX_CHAIN = 24
#: Content held by more outputs than this does not tell its origin.
_MAX_HOLDERS = 16
#: Share of inputs whose maker comes earlier; above it, the order of records counts as the order of execution.
_TRUSTED = 0.8


class Edge(NamedTuple):
    """A flow from one part to another.

    Attributes:
        port: port at this end.
        other: the part at the other end.
        other_port: port at the other end.
    """

    port: str
    other: int
    other_port: str


class Chain(NamedTuple):
    """The chain of layouts from an input back to its maker.

    Attributes:
        slots: the slots that hold it in turn, the input first: inputs of the layouts it went through.
        kinds: of those layouts; the last slot lies before the last of them.
        root: the slot that gave it before all layouts; None if nothing in the step did.
    """

    slots: tuple[At, ...]
    kinds: tuple[str, ...]
    root: At | None


@dataclass(eq=False)
class FlowNode:
    """A part of an operator, a parameter, or a value that no operator of the step made.

    Attributes:
        name: name of its operator; None for a value.
        label: a parameter's name, common to all frameworks; for a value, its parameter's name, or empty.
        inputs, outputs: its slots with their ports.
        ins, outs: its edges; ports of edges through a layout are marked.
        counts: number of elements of each output.
        joined: whether it is one of several parts that run one after another within an operator.
    """

    name: Name | None
    kind: str
    path: tuple[str, ...] | None = None
    backward: bool = False
    label: str = ""
    inputs: list[tuple[At, str]] = field(default_factory=list)
    outputs: list[tuple[At, str]] = field(default_factory=list)
    ins: list[Edge] = field(default_factory=list)
    outs: list[Edge] = field(default_factory=list)
    counts: tuple[tuple[str, int], ...] = ()
    joined: bool = False


@dataclass(eq=False)
class Flow:
    """The data flow of a step.

    Attributes:
        step: the step.
        nodes: all parts, parameters and values.
        of: the parts of each operator.
        slots: the slots of each operator.
        chains: chain of each input slot.
    """

    step: StepSlots
    nodes: list[FlowNode]
    of: dict[Name, list[int]]
    slots: dict[Name, list[At]]
    chains: dict[At, Chain]

    def type_of(self, name: Name) -> str:
        """The type of an operator."""
        return self._types[name]

    def contents_of(self, at: At) -> bytes | tuple[bytes, ...]:
        """What a slot holds: of one iteration, or of each."""
        return self._only[at] if self._only is not None else self._contents(at)

    @cached_property
    def _types(self) -> dict[Name, str]:
        return {name: self.step.slots[slots[0]].op_type for name, slots in self.slots.items()}

    @cached_property
    def _only(self) -> dict[At, bytes] | None:
        contents = self.step.contents
        return next(iter(contents.values())) if len(contents) == 1 else None

    def is_unused_exchange(self, name: Name) -> bool:
        """Whether an operator exchanges axes and only layouts take its output, so that the output is a result.

        Not so if another operator holds the output, if the layout received it, or if it has fewer than two axes.
        """
        last: dict[int, None] = dict.fromkeys(self.of[name])
        if not any(self.nodes[each].kind in PERMUTING for each in last):
            return False
        waiting = list(last)
        while waiting:
            more = {edge.other: None for edge in self.nodes[waiting.pop()].outs if self._is_layout(edge.other)}
            waiting += [each for each in more if each not in last]
            last |= more
        given = [at for each in last for at, _ in self.nodes[each].outputs]
        own = {self._contents(at) for each in self.of[name] for at, _ in self.nodes[each].inputs}
        flat = all(sum(axis > 1 for axis in self.step.slots[at].shape) < 2 for at in given)
        return not flat and not any((held := self._contents(at)) in own or held in self._held for at in given)

    def _is_layout(self, node: int) -> bool:
        return self.nodes[node].kind in LAYOUT

    def _contents(self, at: At) -> tuple[bytes, ...]:
        return tuple(found[at] for found in self.step.contents.values())

    @cached_property
    def _held(self) -> set[tuple[bytes, ...]]:
        """The contents of the slots of all operators except layouts."""
        return {
            self._contents(at)
            for name, slots in self.slots.items()
            if not all(self._is_layout(each) for each in self.of[name])
            for at in slots
        }


def flow_of(step: StepSlots, names: Mapping[bytes, str]) -> Flow:
    """Reads the data flow of a step.

    Args:
        step: step of one rank.
        names: parameters' names by content, of all steps.
    """
    return _Reader(step, names).read()


class _Reader:
    def __init__(self, step: StepSlots, names: Mapping[bytes, str]) -> None:
        self._step, self._names = step, names
        self._nodes: list[FlowNode] = []
        self._of: dict[Name, list[int]] = {}
        self._gives: dict[At, tuple[int, str]] = {}
        self._producers: dict[At, At | None] = {}
        self._values: dict[tuple[bytes, ...], int] = {}
        self._chains: dict[At, Chain] = {}

    def read(self) -> Flow:
        operators: dict[Name, list[At]] = defaultdict(list)
        for at in self._step.slots:
            operators[at.name].append(at)
        self._producers = _producers(self._step)
        updated = {
            made for at, made in self._producers.items() if made and self._step.slots[at].op_type == PARAMETER
        }  # fmt: skip
        for name, slots in sorted(operators.items()):
            self._of[name] = self._operator(name, sorted(slots), updated)
        for index, node in list(enumerate(self._nodes)):
            for at, port in node.inputs:
                self._connect(index, at, port)
        for at, made in self._producers.items():
            if made is not None and self._step.slots[at].op_type == PARAMETER:
                self._edge(self._gives[made], self._of[at.name][0], "kept")
        for node in self._nodes:
            counts = [(port, self._step.slots[at].elements) for at, port in node.outputs]
            node.counts = tuple(sorted(counts) if len(counts) > 1 else counts)
        return Flow(self._step, self._nodes, self._of, dict(operators), self._chains)

    def _operator(self, name: Name, slots: list[At], updated: set[At]) -> list[int]:
        """Makes the nodes of one operator."""
        first = self._step.slots[slots[0]]
        inputs = [at for at in slots if at.io == "input"]
        outputs = [at for at in slots if at.io == "output"]
        if first.op_type == PARAMETER:
            node = FlowNode(name, PARAMETER_KIND, label=parameter_name(name.operator))
            node.outputs = [(at, "y") for at in outputs]
            return [self._add(node)]
        operator, op_type = name.operator, first.op_type
        if first.members:
            operator = first.members[-1]
            op_type, inputs = type_of(operator), []
        place = place_of(operator, op_type)
        made: list[int] = []
        for part in self._parts(op_type, inputs, outputs, updated):
            node = FlowNode(name, part.kind, *place)
            node.inputs = [(at, part.inputs[at.slot]) for at in inputs if at.slot in part.inputs]
            node.outputs = [(at, part.outputs[at.slot]) for at in outputs if at.slot in part.outputs]
            made.append(self._add(node))
            if part.link:
                before = self._nodes[made[-2]]
                self._edge((made[-2], "dx" if before.kind.endswith("_grad") else "y"), made[-1], part.link)
                node.joined = before.joined = True
        for at in outputs:
            self._gives.setdefault(at, (made[-1], str(at.slot)))
        return made

    def _parts(self, op_type: str, inputs: list[At], outputs: list[At], updated: set[At]) -> tuple[Part, ...]:
        slots = self._step.slots
        if op_type == "convolution_backward":
            return _convolution_backward({at.slot: slots[at] for at in inputs}, [slots[at] for at in outputs])
        if op_type.endswith("_") and any(at in updated for at in outputs):
            rest = {at.slot: "x" for at in inputs if at.slot}
            return (Part(UPDATE_KIND, rest, {0: "weight"}),)
        shapes = [slots[at].shape for at in (*inputs[:1], *outputs[:1])]
        differentiates = op_type == _DERIVES_ITSELF and len(shapes) == 2 and shapes[0] == shapes[1]
        parts = parts_of(op_type, len(inputs), differentiates)
        if parts is not None:
            return parts
        mine, given = ({at.slot: str(at.slot) for at in side} for side in (inputs, outputs))
        return (Part(kind_of(op_type), mine, given),)

    def _add(self, node: FlowNode) -> int:
        self._nodes.append(node)
        for at, port in node.outputs:
            self._gives[at] = len(self._nodes) - 1, port
        return len(self._nodes) - 1

    def _edge(self, made: tuple[int, str], user: int, port: str) -> None:
        maker, given = made
        self._nodes[maker].outs.append(Edge(given, user, port))
        self._nodes[user].ins.append(Edge(port, maker, given))

    def _connect(self, user: int, at: At, port: str) -> None:
        """Adds the edges of one input: from its root, and from the layouts on the way."""
        chain, layouts = self._chain(at)
        self._chains[at] = chain
        for layout in layouts:
            self._edge((layout, "laid"), user, port + "~")
        if chain.root is not None:
            self._edge(self._gives[chain.root], user, port)
            if self._nodes[user].kind in ORDERED:
                self._edge(self._gives[chain.root], user, f"{at.slot} of {self._step.slots[at].op_type}~")
        elif self._step.slots[at].elements > 1:
            self._edge((self._value(chain.slots[-1]), "y"), user, port)

    def _chain(self, at: At) -> tuple[Chain, list[int]]:
        slots, kinds, layouts = [at], [], []
        made = self._producers.get(at)
        while made is not None and made in self._gives and len(slots) < _MAX_CHAIN:
            index, _ = self._gives[made]
            node = self._nodes[index]
            if node.kind not in LAYOUT or not node.inputs:
                break
            before = node.inputs[0][0]
            if before in slots or self._step.slots[before].elements != self._step.slots[made].elements:
                break
            slots.append(before)
            kinds.append(node.kind)
            layouts.append(index)
            made = self._producers.get(before)
        root = made if made in self._gives else None
        return Chain(tuple(slots), tuple(kinds), root), layouts

    def _value(self, at: At) -> int:
        """The node of a value that no operator of the step made: one for all slots that hold it in every iteration."""
        contents = tuple(found[at] for found in self._step.contents.values())
        if contents not in self._values:
            labels = {self._names.get(content, "") for content in contents}
            self._values[contents] = self._add(
                FlowNode(None, VALUE_KIND, label=labels.pop() if len(labels) == 1 else "")
            )
        return self._values[contents]


def _producers(step: StepSlots) -> dict[At, At | None]:
    """The output that each input, and each kept parameter, holds in every iteration; None unless it is exactly one.

    Only earlier operators count if the order can be trusted, that is if nearly all inputs held by an output of the step
    are held by an earlier one. Parameters, which are dumped last, count if no operator does.
    """
    order = {name: place for place, name in enumerate(dict.fromkeys(at.name for at in step.slots))}
    same = _holders(step)
    makers = {at: [each for each in found if step.slots[each].op_type != PARAMETER] for at, found in same.items()}
    earlier = {at: [e for e in found if order[e.name] < order[at.name]] for at, found in makers.items()}
    trusted = sum(map(bool, earlier.values())) >= _TRUSTED * sum(map(bool, makers.values()))
    if trusted:
        makers = earlier
    return {at: _only(step, at, makers[at], found, trusted) for at, found in same.items()}


def _holders(step: StepSlots) -> dict[At, list[At]]:
    """Of each input and each kept parameter, the outputs that hold what it holds in every iteration."""
    outputs = [at for at in step.slots if at.io == "output"]
    holders: list[tuple[dict[At, bytes], dict[bytes, list[At]]]] = []
    for contents in step.contents.values():
        found: dict[bytes, list[At]] = defaultdict(list)
        for at in outputs:
            found[contents[at]].append(at)
        holders.append((contents, found))
    same: dict[At, list[At]] = {}
    for at, slot in step.slots.items():
        if at.io == "input" or slot.op_type == PARAMETER:
            fewest = min((found.get(contents[at], []) for contents, found in holders), key=len)
            same[at] = _same(step, at, fewest) if 0 < len(fewest) <= _MAX_HOLDERS else []
    return same


def _same(step: StepSlots, at: At, holders: list[At]) -> list[At]:
    """Those of ``holders`` that, of another operator, hold in every iteration what ``at`` holds."""
    others = [each for each in holders if each.name != at.name]
    if len(step.contents) == 1:  # they are holders by that
        return others
    return [each for each in others if all(found[each] == found[at] for found in step.contents.values())]


def _only(step: StepSlots, at: At, makers: list[At], same: list[At], ordered: bool) -> At | None:
    if not makers and step.slots[at].op_type != PARAMETER:
        makers = [each for each in same if step.slots[each].op_type == PARAMETER]
    if len(makers) > 1:
        makers = _before_copies(step, makers, ordered)
    return makers[0] if len(makers) == 1 else None


def _before_copies(step: StepSlots, makers: list[At], ordered: bool) -> list[At]:
    """The makers of a content without the layouts that pass it on: only the first if all others are layouts in
    order."""
    others = [each for each in makers if not is_layout(step.slots[each].op_type)]
    return others or (makers[:1] if ordered else [])


def _convolution_backward(inputs: Mapping[int, Slot], outputs: list[Slot]) -> tuple[Part, ...]:
    """PyTorch gives the gradients of input, weight and bias, and omits those that were not requested."""
    parts: list[Part] = []
    kinds = (("convolution_grad_x", {0: "dy", 2: "w"}, "dx", 1), ("convolution_grad_w", {0: "dy", 1: "x"}, "dw", 2))
    at = 0
    for kind, ports, given, like in kinds:
        if at < len(outputs) and like in inputs and outputs[at].shape == inputs[like].shape:
            parts.append(Part(kind, ports, {at: given}))
            at += 1
    return (*parts, Part("sum", {0: "x"}, {at: "y"}))
