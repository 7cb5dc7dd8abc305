"""The launches of a program in order, and the values that each launch frees."""

from __future__ import annotations

from collections.abc import Iterator

from harness.devices import Device
from harness.framework.compile.program import Program
from harness.framework.compile.regions import Control, Crossing, Region, controls_of
from harness.framework.runtime.fused import FusedLaunch
from harness.framework.runtime.launch import Launch
from harness.graph import Const, Node, Operand, Parameter

#: nodes that pass a value on unchanged
_HAND_ON = frozenset({"Load", "Depend", "TupleGetItem"})


def launches_of(program: Program, device: Device) -> dict[int, list[Launch]]:
    """The launches of each region (by its ``id``), in order, with what each of them frees."""
    kept = {id(node) for root in _roots(program) for node in sources(root)}
    changing = any(node.extra.effect is not None for graph in program.graphs for node in graph.execution_order)
    # Values other than parameters change: then no result may be a view of another value.
    all_copy = any(
        node.extra.root is not None and node.op != "Load" for graph in program.graphs for node in graph.nodes
    )
    found: dict[int, list[Launch]] = {}
    for region, graph in program.of_region.items():
        found[region] = [_launch(node, device) for node in graph.execution_order]
        last: dict[int, Launch] = {}
        for launch in found[region]:
            last[id(launch.node)] = launch
            read = [source for i in launch.node.inputs for source in sources(i)]
            last.update((id(source), launch) for source in read if id(source) in last)
            may_copy = changing and launch.node.extra.effect is None
            launch.copies = may_copy and (all_copy or any(map(_is_memory, read)))
        for value, launch in last.items():
            if value not in kept:
                launch.frees += (value,)
    return found


def sources(operand: Operand | None) -> Iterator[Node | Parameter]:
    """The nodes and parameters whose values ``operand`` is made of."""
    if isinstance(operand, Parameter) or (isinstance(operand, Node) and (operand.kernel or operand.op == "Switch")):
        yield operand
    elif not isinstance(operand, Node):
        return
    elif operand.op in _HAND_ON:
        yield from sources(operand.inputs[0])
    elif operand.op == "MakeTuple":
        for member in operand.inputs:
            yield from sources(member)


def is_lasting(source: Node | Parameter) -> bool:
    """Whether a value lies in memory that outlives the step: a weight's, or a constant's."""
    root = source.extra.root if isinstance(source, Node) else source
    if isinstance(root, Parameter) and isinstance(root.handle, Crossing):
        return any(map(is_lasting, sources(root.handle.operand)))
    return isinstance(root, Const) or (isinstance(root, Parameter) and root.is_weight)


def apart_from_callers(program: Program) -> frozenset[int]:
    """The inputs (by ``id``) whose changes in place do not reach the caller's tensor: in a program with control flow
    all but those that a kernel reads (or the result is), outside of branches, in front of its first loop or of the
    first branch that gives nothing, or the condition of a loop that begins it, as its own variable.

    Held by tests/data/programs/loops_in_place.txt and decided_in_place.txt, measured with MindSpore 2.10.0.
    """
    if program.apart is not None:
        return program.apart
    items = program.block.items
    controls = [item for item in items if isinstance(item, Control)]
    if not controls:
        return frozenset()
    end = next((at for at, item in enumerate(items) if isinstance(item, Control) and _ends(item)), len(items))
    reached = {each for item in items[:end] for each in _read(program, item)}
    if end == len(items):
        reached |= {id(_origin(source)) for source in sources(program.block.result)}
    if controls[0].is_loop:
        own = _read(program, controls[0].first.items[0])
        reached |= {
            id(source)
            for variable, init in zip(controls[0].state, controls[0].init, strict=True)
            if id(variable) in own
            for source in sources(init)
        }
    return frozenset(id(each) for each in program.inputs) - reached


def _ends(control: Control) -> bool:
    """Whether what follows a loop or branch is another graph than what is in front of it."""
    return control.is_loop or not any(True for _source in sources(control.first.result))


def _origin(source: Node | Parameter) -> Node | Parameter:
    """What a value is where it was made."""
    while isinstance(source, Parameter) and isinstance(source.handle, Crossing):
        within = [*sources(source.handle.operand)]
        if len(within) != 1:
            break
        source = within[0]
    return source


def _read(program: Program, region: Region | Control) -> set[int]:
    """What the kernels of a region read, where it was made."""
    graph = program.of_region.get(id(region))
    nodes = graph.execution_order if graph is not None else ()
    return {id(_origin(source)) for node in nodes for operand in node.inputs for source in sources(operand)}


def _roots(program: Program) -> Iterator[Operand | None]:
    """The values needed after the kernels of its graph have run: results, and values that control flow reads."""
    yield program.block.result
    yield program.summed
    for graph in program.graphs:
        yield graph.output
        for parameter in graph.parameters:
            if isinstance(parameter.handle, Crossing):
                yield parameter.handle.operand
    for control in controls_of(program.block):
        yield from (control.pred, *control.init, control.first.result, control.second.result)


def _is_memory(source: Node | Parameter) -> bool:
    """Whether a value is a parameter's own memory: a weight, or what an update in place gives."""
    if isinstance(source, Parameter):
        return source.is_weight or isinstance(source.handle, Crossing)
    return source.extra.effect is not None


def _launch(node: Node, device: Device) -> Launch:
    return FusedLaunch(node, device) if node.extra.fusion is not None else Launch(node, device)
