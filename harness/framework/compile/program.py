"""From a Python function to a finished kernel graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from weakref import ref

from harness.devices import Kernels
from harness.devices.cpu import CPU
from harness.errors import HarnessError
from harness.framework.compile import misuse
from harness.framework.compile import statements as _statements  # noqa: F401 - what rewritten functions call
from harness.framework.compile.callers import Around, given, standing_for, whole
from harness.framework.compile.constants import share_equal
from harness.framework.compile.effects import drop_unused_reads, wait_for_readers
from harness.framework.compile.expand import expand
from harness.framework.compile.fuse import fuse
from harness.framework.compile.order import Numbering, arrange, parameter_order
from harness.framework.compile.regions import Block, Region, controls_of, finish_regions, numbered, regions_of
from harness.framework.compile.rewriting import Again, Rewritten
from harness.framework.compile.select import count_axes, hide_dtypes, select_kernels
from harness.framework.compile.simplify import simplify
from harness.framework.compile.structure import Structure
from harness.framework.compile.trace import Tracer
from harness.framework.compile.traced import Traced, members_of
from harness.framework.ops.functions.printing import python_print
from harness.framework.tensor import Parameter as ParameterTensor
from harness.framework.tensor import Tensor, is_eager, is_mutable, using
from harness.graph import Const, Graph, Node, Operand, Parameter, TensorSpec

CPU_KERNELS = CPU.kernels
STAGES = ("traced", "simplified", "ordered", "selected")
"""The stages of a graph: traced, simplified, effects ordered, adapted to the device's kernels."""
Watch = Callable[[str, Sequence[Operand]], None]


@dataclass(eq=False, slots=True)
class Program:
    """A compiled function.

    Attributes:
        graphs: its kernel graphs by id, the root first; more than one only with control flow.
        inputs: the graph parameter of each tensor argument, in the order the arguments are flattened.
        block: what to run, in order.
        of_region: the graph of each region, by the region's ``id``.
        silent: whether it returns one of its parameters, or constants; such a function is not a kernel graph, has no
            id, and observers are not told of it (measured).
        summaries: kind and tag of each value of ``summed``, a tuple.
        structure: of the result; None if it holds no list or dict.
        changes: whether tracing it changed lists or dicts of the caller's, so that it is traced at each call.
        apart: the inputs (by ``id``) whose changes in place do not reach the caller's tensors; None if control flow
            tells.
    """

    graphs: list[Graph]
    inputs: list[Parameter]
    block: Block
    of_region: dict[int, Graph]
    silent: bool = False
    summaries: Sequence[tuple[str, str]] = ()
    summed: Node | None = None
    structure: Structure | None = None
    changes: bool = False
    apart: frozenset[int] | None = None

    @property
    def graph(self) -> Graph:
        """The root graph."""
        return self.graphs[0]

    def given_back(self) -> Parameter | None:
        """The parameter that is the whole result of a silent program: the caller gets the object itself (measured)."""
        value = self.block.result.inputs[0] if isinstance(self.block.result, Node) else None
        while isinstance(value, Node) and value.op == "Load":
            value = value.inputs[0]
        return value if isinstance(value, Parameter) and self.structure is None else None


@dataclass(eq=False, slots=True)
class Trace:
    """A traced function, not compiled yet.

    Attributes:
        block: what runs, in order.
        inputs: the graph parameter of each tensor argument, in the order the arguments are flattened.
        summaries, summed, structure, changes, apart: as of ``Program``.
        of_cell: whether it is a cell in graph mode, not a ``jit`` function.
    """

    block: Block
    inputs: list[Parameter]
    summaries: Sequence[tuple[str, str]] = ()
    summed: Node | None = None
    structure: Structure | None = None
    changes: bool = False
    apart: frozenset[int] | None = None
    of_cell: bool = False


def trace_function(
    function: Callable[..., Any], args: Sequence[Any], names: Sequence[str], dynamic: Sequence[Any] = ()
) -> Trace:
    """Traces ``function(*args)``; arguments as ``compile_function`` takes them. Under the rules of PyNative mode it may
    ask for the data of what it computes."""
    rewritten = Rewritten()
    while True:
        try:
            with rewritten.in_force():
                return _traced(function, args, names, dynamic)
        except Again as again:
            rewritten.add(again)


def _traced(function: Callable[..., Any], args: Sequence[Any], names: Sequence[str], dynamic: Sequence[Any]) -> Trace:
    tracer = Tracer()
    inputs, traced = list[Parameter](), list[Any]()
    with using(tracer):
        changes = None if is_eager() else list[str]()
    around = tracer.around = None if changes is None else Around(function)
    for position, (value, name) in enumerate(zip(args, names, strict=True)):
        shape = dynamic[position] if position < len(dynamic) else None
        if isinstance(value, ParameterTensor):
            tracer.handed[id(value)] = name
        traced.append(_input(value, name, shape, inputs, changes))
    if is_eager():
        arrays = [t.asnumpy() for t in data_inputs(args)]
        tracer.knows({id(parameter): array for parameter, array in zip(inputs, arrays, strict=True)})
        tracer.known.seen.extend(map(ref, members_of(traced)))  # type: ignore[union-attr]
    tracer.closures.checks = True
    try:
        with using(tracer), python_print(), misuse.told(), whole(around):
            # What the function gives is left without a name: what a name holds is settled.
            result = tracer.finish(function(*traced) if around is None else around.settled(function(*traced)))
        apart = tracer.unreached(inputs, result)
        del traced
        if tracer.known is not None:
            tracer.known.settle()
    except Exception:
        if tracer.known is not None:
            with suppress(HarnessError):  # what the error holds is to be shown; what is not known stays as it is
                tracer.known.settle()
        raise
    finally:
        for owner, name in tracer.exchanged:
            owner.__dict__.pop(name, None)
        tracer.known = None  # the tracer is part of a cycle: arrays would stay until the collector comes
    changed = around is not None and around.restore()
    labels = [(kind, tag) for kind, tag, _value in tracer.summaries]
    changes_lists = changed or bool(changes)
    told = labels, tracer.summed, tracer.structure, changes_lists, apart
    return Trace(tracer.block, inputs, *told, tracer.of_cell)


def compile_function(
    function: Callable[..., Any],
    args: Sequence[Any],
    names: Sequence[str],
    graph_id: int,
    numbering: Numbering,
    dynamic: Sequence[Any] = (),
    kernels: Kernels = CPU_KERNELS,
    fuses: bool = False,
    watch: Watch = lambda _stage, _outputs: None,
) -> Program:
    """Traces ``function(*args)`` and finishes its graph.

    Args:
        function: called once, with traced values in place of the tensors of ``args``.
        args: arguments; tensors, and the members of what is ``mutable``, become data inputs of the graph; other values
            are constants.
        names: name of each argument (``x``, ``inputs0``), as dump files name the data inputs.
        graph_id: id of the graph.
        numbering: the process's numbering.
        dynamic: for each argument, a shape to trace with instead of the tensor's own (-1 for dynamic), or None; for a
            tuple a tuple of such.
        kernels: restrictions of the device's kernels.
        fuses: elementwise chains become one kernel each.
        watch: called after each of ``STAGES`` with the outputs of each region.
    """
    return compile_trace(trace_function(function, args, names, dynamic), graph_id, numbering, kernels, fuses, watch)


def compile_trace(
    trace: Trace,
    graph_id: int,
    numbering: Numbering,
    kernels: Kernels = CPU_KERNELS,
    fuses: bool = False,
    watch: Watch = lambda _stage, _outputs: None,
) -> Program:
    """Finishes the graph of what was traced; arguments as ``compile_function`` takes them."""
    region_graphs: dict[int, Graph] = {}
    block = trace.block
    finish_regions(block)
    graphs: list[Graph] = []
    regions = numbered(block)
    for region, parameters in zip(regions, _finish(regions, kernels, watch, trace.of_cell), strict=True):
        graph = Graph(graph_id + len(graphs), parameters, region.output, root_id=graph_id)  # type: ignore[arg-type]
        graph.attrs = {"enable_zero_copy_in_graph": 1}
        arrange(graph)
        for node in graph.nodes:
            node.extra.graph = graph
        graphs.append(graph)
        region_graphs[id(region)] = graph
    silent = len(graphs) == 1 and not graphs[0].execution_order and _gives_back(graphs[0].output)
    if not silent:
        for graph in graphs:
            if fuses:
                fuse(graph, numbering.unfused)
            numbering.number(graph.nodes)
    _follow(block)
    told = trace.summaries, trace.summed, trace.structure, trace.changes, trace.apart
    return Program(graphs, trace.inputs, block, region_graphs, silent, *told)


def _gives_back(output: Operand) -> bool:
    """Whether a result is one of the parameters as it is, or constants; a tuple with zeros that a gradient gave is
    put together by the graph (measured)."""
    assert isinstance(output, Node)
    value = output.inputs[0]
    while isinstance(value, Node) and value.op in ("Depend", "Load"):
        value = value.inputs[0]
    return not isinstance(value, Node) or (value.op == "MakeTuple" and all(map(_is_constant, value.inputs)))


def _is_constant(value: Operand) -> bool:
    if isinstance(value, Const):
        return not value.late
    return isinstance(value, Node) and value.op == "MakeTuple" and all(map(_is_constant, value.inputs))


def _finish(regions: Sequence[Region], kernels: Kernels, watch: Watch, of_cell: bool) -> list[list[Parameter]]:
    """Simplifies the regions' graphs and inserts what the device needs; gives the parameters of each, whose order is
    that of the graph before composites are taken apart (measured)."""

    def done(stage: str) -> None:
        watch(stage, [region.output for region in regions if region.output is not None])

    share_equal(region.output for region in regions if region.output is not None)
    done("traced")
    for region in regions:
        assert region.output is not None
        region.output = simplify(region.output, of_cell)
    done("simplified")
    parameters = []
    for region in regions:
        assert region.output is not None
        drop_unused_reads(region.output)
        wait_for_readers(region.output)
        parameters.append(parameter_order(region.output))
    done("ordered")
    for region in regions:
        assert region.output is not None
        region.output = expand(region.output)
        select_kernels(region.output, kernels)
        count_axes(region.output)
        hide_dtypes(region.output)
    done("selected")
    return parameters


def _follow(block: Block) -> None:
    """Points everything that names a value of another region to what that value became."""
    became: dict[int, Operand] = {}
    for region in regions_of(block):
        if region is not block.items[-1] and isinstance(region.output, Node):
            skip = 1 if region.effect is not None else 0
            for export, now in zip(region.exports, region.output.inputs[skip:], strict=True):
                became[id(export)] = now
    for region in regions_of(block):
        for parameter in region.crossings.values():
            parameter.handle.operand = became.get(id(parameter.handle.operand), parameter.handle.operand)
    for control in controls_of(block):
        if control.pred is not None:
            control.pred = became.get(id(control.pred), control.pred)
        control.init = [became.get(id(i), i) for i in control.init]
        for side in (control.first, control.second):
            assert side.result is not None
            side.result = became.get(id(side.result), side.result)
    last = block.items[-1]
    assert isinstance(last, Region)
    block.result = last.output


def is_input(value: Any) -> bool:
    """Whether a value is a data input of the graph: a tensor that is neither a weight nor a constant
    (``const_arg``)."""
    return isinstance(value, Tensor) and not isinstance(value, ParameterTensor) and not value.const_arg


def data_inputs(values: Sequence[Any]) -> Iterator[Tensor]:
    """The tensors among arguments that become data inputs, in the order they are flattened."""
    for value in values:
        if is_mutable(value):
            yield from data_inputs(list(value.values()) if isinstance(value, dict) else value)
        elif is_input(value):
            yield value


def _input(
    value: Any, name: str, shape: Any, inputs: list[Parameter], changes: list[str] | None, member: bool = False
) -> Any:
    if is_mutable(value):
        if isinstance(value, dict):
            named = {key: _input(v, f"{name}_{key}", None, inputs, changes, member=True) for key, v in value.items()}
            return named if changes is None else standing_for(value, named)
        within = shape if shape is not None else [None] * len(value)
        members = enumerate(zip(value, within, strict=True))
        found = [_input(v, f"{name}_{i}", s, inputs, changes, member=True) for i, (v, s) in members]
        if not isinstance(value, list):
            return tuple(found)
        return found if changes is None else standing_for(value, found)
    if not is_input(value):
        return value if changes is None else given(value, changes)
    spec = TensorSpec(value.dtype, shape if shape is not None else value.shape)
    parameter = Parameter(name, spec, False, is_member=member)
    inputs.append(parameter)
    return Traced(parameter, spec)
