"""Regions: the kernel graphs that control flow splits a function into.

A block is what runs in sequence: regions with controls between them. A region becomes one kernel graph; values that
cross from one region to another become nameless parameters of the graph that uses them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from harness.graph import Node, NodeExtra, Operand, Parameter, TupleSpec


@dataclass(eq=False, slots=True)
class Region:
    """One kernel graph to be.

    Attributes:
        effect: the state after its effects, or None if it has none.
        exports: what others use of it.
        output: the tuple of state and exports, once finished.
        crossings: the parameter that stands for each value of another region.
    """

    effect: Operand | None = None
    exports: list[Operand] = field(default_factory=list)
    output: Operand | None = None
    crossings: dict[int, Parameter] = field(default_factory=dict)


@dataclass(eq=False, slots=True)
class Crossing:
    """Handle of a parameter whose value another region computes."""

    operand: Operand


@dataclass(eq=False, slots=True)
class Block:
    """Regions and controls in the order they run; ``result`` is what the block gives."""

    items: list[Region | Control] = field(default_factory=list)
    result: Operand | None = None


@dataclass(eq=False, slots=True)
class Control:
    """A branch or a loop.

    Attributes:
        node: stands for the result in the graphs.
        pred: what a branch decides on; None for a loop.
        first, second: true and false block of a branch; condition and body of a loop.
        state: a loop's variables; ``init`` are their first values.
    """

    node: Node
    pred: Operand | None
    first: Block
    second: Block
    state: list[Parameter] = field(default_factory=list)
    init: list[Operand] = field(default_factory=list)

    @property
    def is_loop(self) -> bool:
        return self.pred is None

    @property
    def blocks(self) -> tuple[Block, Block]:
        """Both blocks."""
        return self.first, self.second


def finish_regions(main: Block) -> None:
    """Finds what crosses between the regions of ``main`` and gives each region its output. An unused control
    is taken out, with the region before it if that is left with nothing to do."""
    _Crosser().run(main)


class _Crosser:
    def __init__(self) -> None:
        self.seen: set[tuple[int, int]] = set()
        self.needed: set[int] = set()

    def run(self, main: Block) -> None:
        last = main.items[-1]
        assert isinstance(last, Region)
        assert main.result is not None
        self._visit(last, main.result)
        for control in controls_of(main):
            if any(region.effect is not None for side in control.blocks for region in regions_of(side)):
                self._need(control.node)
        for region in regions_of(main):
            if region.effect is not None:
                region.effect = self._enter(region, region.effect)
        self._prune(main)
        for region in regions_of(main):
            if region is last:
                region.output = main.result
            else:
                members = ([region.effect] if region.effect is not None else []) + region.exports
                spec = TupleSpec(tuple(m.spec for m in members))
                region.output = Node("MakeTuple", members, {}, "Default", spec, kernel=False)
                region.output.extra = NodeExtra(layout=(None,) * len(members), functional=False)

    def _prune(self, block: Block) -> None:
        kept: list[Region | Control] = []
        for item in block.items:
            if isinstance(item, Region):
                kept.append(item)
            elif id(item) in self.needed:
                for side in item.blocks:
                    self._prune(side)
                kept.append(item)
            elif isinstance(before := kept[-1], Region) and before.effect is None and not before.exports:
                kept.pop()
        block.items = kept

    def _enter(self, region: Region, operand: Operand) -> Operand:
        """``operand`` as ``region`` sees it: its own, or a crossing."""
        owner = operand.extra.region if isinstance(operand, Node) else None
        if not isinstance(operand, Node) or owner is region:
            self._visit(region, operand)
            return operand
        if id(operand) not in region.crossings:
            region.crossings[id(operand)] = Parameter("", operand.spec, False, handle=Crossing(operand))
            self._export(owner, operand)
        return region.crossings[id(operand)]

    def _export(self, owner: Region | None, operand: Node) -> None:
        if owner is not None:
            if not any(e is operand for e in owner.exports):
                owner.exports.append(operand)
            self._visit(owner, operand)
            return
        control: Control = operand.extra.control
        if id(control) in self.needed:
            return
        self.needed.add(id(control))
        for init in control.init:
            self._need(init)
        # The values for the sides are returned before the value that decides between them (measured).
        for value in (*(block.result for block in control.blocks), control.pred):
            if value is not None:
                self._need(value)

    def _need(self, operand: Operand) -> None:
        if isinstance(operand, Node):
            self._export(operand.extra.region, operand)

    def _visit(self, region: Region, operand: Operand) -> None:
        stack = [operand]
        while stack:
            node = stack.pop()
            if not isinstance(node, Node) or (id(region), id(node)) in self.seen:
                continue
            self.seen.add((id(region), id(node)))
            for i, given in enumerate(node.inputs):
                mine = not isinstance(given, Node) or given.extra.region is region
                if not mine:
                    node.inputs[i] = self._enter(region, given)
                stack.append(node.inputs[i])


def regions_of(block: Block) -> Iterator[Region]:
    """Every region of a block and of the blocks inside it, in program order."""
    for item in block.items:
        if isinstance(item, Region):
            yield item
        else:
            yield from regions_of(item.first)
            yield from regions_of(item.second)


def controls_of(block: Block) -> Iterator[Control]:
    """Every control of a block and of the blocks inside it."""
    for item in block.items:
        if isinstance(item, Control):
            yield item
            yield from controls_of(item.first)
            yield from controls_of(item.second)


def numbered(main: Block) -> list[Region]:
    """Regions in the order of their graph ids (measured): what follows a branch comes before its two sides, a loop's
    condition and body before what follows; the false side of a branch that is not the first control goes last, and
    such a branch behind a loop comes before the loop."""
    deferred: list[Block] = []
    order = list(_ids(main.items, True, deferred))
    for block in deferred:
        order += numbered(block)
    return order


def _ids(items: list[Region | Control], leading: bool, deferred: list[Block]) -> Iterator[Region]:
    region = items[0]
    assert isinstance(region, Region)
    yield region
    if len(items) == 1:
        return
    control, rest = items[1], items[2:]
    if isinstance(control, Region):  # what stood between them was taken out
        yield from _ids(items[1:], leading, deferred)
        return
    after = _ids(rest, False, deferred)
    if control.is_loop:
        follows = rest[1] if len(rest) > 1 else None
        hoisted = isinstance(follows, Control) and not follows.is_loop
        if hoisted:
            yield from after
        yield from _ids(control.first.items, True, deferred)
        yield from _ids(control.second.items, True, deferred)
        if not hoisted:
            yield from after
        return
    yield from after
    yield from _ids(control.first.items, True, deferred)
    if leading:
        yield from _ids(control.second.items, True, deferred)
    else:
        deferred.append(control.second)
