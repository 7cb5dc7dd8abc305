"""A kernel graph: parameters, nodes, and the two orders that matter."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from harness.graph.node import Const, Node, Operand, Parameter


@dataclass(eq=False, slots=True)
class Graph:
    """One kernel graph, as one ``.ir`` file describes it.

    Attributes:
        id: process-wide number of the graph.
        root_id: id of the graph the step started from (its own id unless control flow split it).
        parameters: in ``%para`` order.
        output: the argument of ``Return``.
        nodes: every operator except ``Return``, in printed order: depth first from ``output``, inputs left to right.
        execution_order: the kernels, in the order they are launched.
        attrs: graph attributes the ``.ir`` prints.
        constants: constants in the order the ``.pb`` lists them (``cst1`` ...).
        return_number: the N of ``Return-opN``.
        constant_base: number of constants before this graph's first one.
        recorded: texts and facts that the Running Data Recorder made of the graph, by their kind.
    """

    id: int
    parameters: list[Parameter]
    output: Operand
    nodes: list[Node] = field(default_factory=list)
    execution_order: list[Node] = field(default_factory=list)
    constants: list[Const] = field(default_factory=list)
    root_id: int = -1
    attrs: dict[str, Any] = field(default_factory=dict)
    return_number: int = 0
    constant_base: int = 0
    recorded: dict[tuple[object, ...], Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """``kernel_graph0``."""
        return f"kernel_graph{self.id}"


def printed_order(output: Operand) -> list[Node]:
    """Nodes reachable from ``output``, inputs before users, depth first, inputs left to right.

    This is the order in which MindSpore prints a ``.ir`` and numbers dump files (measured).
    """
    order: list[Node] = []
    if not isinstance(output, Node):
        return order
    # Operands are told apart by identity; each compilation asks a dozen times.
    seen: set[Operand] = {output}
    stack = [(output, iter(output.inputs))]
    while stack:
        node, inputs = stack[-1]
        for operand in inputs:
            if operand in seen:
                continue
            seen.add(operand)
            if isinstance(operand, Node):
                stack.append((operand, iter(operand.inputs)))
                break
        else:
            order.append(node)
            stack.pop()
    return order
