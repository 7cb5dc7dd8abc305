"""From a Python function to a finished kernel graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

from harness.compile.effects import wait_for_readers
from harness.compile.order import Numbering, arrange
from harness.compile.select import hide_dtypes, select_kernels
from harness.compile.simplify import simplify
from harness.compile.trace import Tracer
from harness.compile.traced import Traced
from harness.devices.cpu import FLOAT16_AS_FLOAT32
from harness.graph import Graph, Parameter, TensorSpec
from harness.tensor import Tensor, using


@dataclass(eq=False, slots=True)
class Program:
    """A compiled function.

    Attributes:
        graph: its kernel graph.
        inputs: the graph parameter of each tensor argument, in the order the arguments are flattened.
    """

    graph: Graph
    inputs: list[Parameter]


def compile_function(
    function: Callable[..., Any],
    args: Sequence[Any],
    names: Sequence[str],
    graph_id: int,
    numbering: Numbering,
    dynamic: Sequence[tuple[int, ...] | None] = (),
    widened: AbstractSet[str] = FLOAT16_AS_FLOAT32,
) -> Program:
    """Traces ``function(*args)`` and finishes its graph.

    Args:
        function: called once, with traced values in place of the tensors of ``args``.
        args: arguments; tensors (also inside tuples) become data inputs of the graph, the rest stays as it is.
        names: name of each argument (``x``, ``inputs0``), as dump files name the data inputs.
        graph_id: id of the graph.
        numbering: the process's numbering.
        dynamic: for each argument, a shape to trace with in place of the tensor's own (-1 for dynamic), or None.
        widened: operators the device computes in float32 where the network says float16.
    """
    tracer = Tracer()
    inputs: list[Parameter] = []
    traced: list[Any] = []
    for position, (value, name) in enumerate(zip(args, names, strict=True)):
        shape = dynamic[position] if position < len(dynamic) else None
        traced.append(_input(value, name, shape, inputs))
    with using(tracer):
        output = tracer.finish(function(*traced))
    output = simplify(output)
    wait_for_readers(output)
    select_kernels(output, widened)
    hide_dtypes(output)
    graph = Graph(graph_id, inputs[:], output, root_id=graph_id, attrs={"enable_zero_copy_in_graph": 1})
    arrange(graph)
    numbering.number(graph.nodes)
    for node in graph.nodes:
        node.extra["graph"] = graph
    return Program(graph, inputs)


def _input(value: Any, name: str, shape: tuple[int, ...] | None, inputs: list[Parameter]) -> Any:
    if isinstance(value, (tuple, list)) and any(isinstance(v, Tensor) for v in value):
        return tuple(_input(v, f"{name}_{i}", None, inputs) for i, v in enumerate(value))
    if not isinstance(value, Tensor) or hasattr(value, "requires_grad"):
        return value
    spec = TensorSpec(value.dtype, shape if shape is not None else value.shape)
    parameter = Parameter(name, spec, False)
    inputs.append(parameter)
    return Traced(parameter, spec)
