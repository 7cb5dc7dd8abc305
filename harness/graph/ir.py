"""Writes a graph as MindSpore 2.10 writes ``ms_output_trace_code_graph_N.ir``.

The grammar is the measured one. Two things differ: the numbers in full names are those of the dump files, and the
``subgraph instance`` line holds a constant instead of MindSpore's pointer, so that equal graphs give equal texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.graph.graph import Graph
from harness.graph.ir_types import (
    abstract,
    device_text,
    dims,
    is_monad,
    is_none,
    kind_text,
    operand_type,
    type_text,
    weight_or_data,
)
from harness.graph.ir_values import attributes, constant_text
from harness.graph.node import Const, Node, Operand, Parameter, SourceLine
from harness.recording.spec import TensorSpec

INDENT = " " * 6
STABLE_POINTER = "0x0"
_KINDLESS = frozenset({"Load", "Depend", "UpdateState"})
"""Operators without a line of kinds."""


def source_line(line: SourceLine) -> str:
    """``# In file path:9~10, 4~36/    def construct(self, x):/`` (no indent, no newline)."""
    lines = f"{line.line}" if line.line_end == line.line else f"{line.line}~{line.line_end}"
    columns = "" if line.column is None or line.column_end is None else f", {line.column}~{line.column_end}"
    text = line.text.splitlines()[0] if line.text.strip() else line.text.strip("\r\n")
    return f"# In file {line.path}:{lines}{columns}/{text}/"


def related_headings(kind: str) -> list[str]:
    """``# Corresponding forward node candidate:`` for ``forward node``; ``code`` is the other kind MindSpore has.

    ``code+forward node`` gives both headings (a node that a pass made of a gradient); the lines belong to the last.
    """
    return [f"# Corresponding {one} candidate:" for one in kind.split("+") if one]


class Writer:
    """Writes the texts of one graph; holds the tables that every line needs.

    Attributes:
        number: the k of ``%k`` of each node, by ``id``.
        para: the k of ``%parak`` of each parameter, by ``id``.
        debug: what stands in brackets after ``%k``, by the ``id`` of the node.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.number = {id(node): k for k, node in enumerate(graph.nodes)}
        self.para = {id(p): i for i, p in enumerate(graph.parameters, 1)}
        self.inplace = frozenset(p.name for p in graph.parameters if p.is_inplace)
        self.debug: dict[int, str] = {}
        unnamed = len(graph.parameters)
        for node in graph.nodes:
            if not node.debug_name:
                unnamed += 1
            self.debug[id(node)] = node.debug_name or f"CNode_{unnamed}"
        self.return_debug = f"CNode_{unnamed + 1}"

    def operand(self, operand: Operand) -> str:
        if isinstance(operand, Const):
            return constant_text(operand)
        if isinstance(operand, Parameter):
            return f"%para{self.para[id(operand)]}_{operand.name}"
        return f"%{self.number[id(operand)]}"

    def types(self, operands: list[Operand]) -> str:
        return ", ".join(operand_type(o, self.inplace) for o in operands)

    def parameter(self, parameter: Parameter) -> str:
        spec = parameter.spec
        text = f"%para{self.para[id(parameter)]}_{parameter.name}: <{type_text(spec, inplace=self.inplace)}>"
        if parameter.is_weight:
            text += "  :  has_default"
        elif self.graph.root_id in (-1, self.graph.id) and isinstance(spec, TensorSpec):
            # Parameters of graphs that control flow splits off have no symbolic shape.
            text += f" : [{parameter_dims(spec.shape)}]"
        return text

    def device_parameter(self, parameter: Parameter) -> str:
        tail = f"  :  {weight_or_data(parameter)}  :  IsWeight: {str(parameter.is_weight).lower()}"
        return self.parameter(parameter) + tail

    def head(self, node: Node) -> str:
        """``  %1(x) = PrimFunc_MatMul(...)`` and the attributes."""
        functional = "PrimFunc_" if node.kernel and node.extra.functional else ""
        args = ", ".join(self.operand(o) for o in node.inputs)
        head = f"  %{self.number[id(node)]}({self.debug[id(node)]}) = {functional}{node.op}({args})"
        return head + _brackets(node)

    def signature(self, node: Node) -> str:
        """The line of types, without the indent."""
        return f": ({self.types(node.inputs)}) -> (<{type_text(abstract(node), inplace=self.inplace)}>)"

    def node(self, node: Node) -> list[str]:
        lines = [self.head(node), INDENT + self.signature(node)]
        real = [o for o in node.inputs if not (node.kernel and is_monad(o))]
        if node.kernel:
            absent = node.extra.absent
            inputs = [device_text(o.spec, absent.get(i) if is_none(o) else None) for i, o in enumerate(real)]
            lines.append(f"{INDENT}: ({', '.join(inputs)}) -> ({', '.join(device_text(s) for s in node.outputs)})")
        if node.kernel or node.op not in _KINDLESS:
            lines.append(f"{INDENT}: ({', '.join(map(kind_text, real))}) -> ({kind_text(node)})")
        lines.append(f"{INDENT}# Fullname with scope: ({node.name})")
        lines += [INDENT + heading for heading in related_headings(node.related_kind)]
        lines += [INDENT + source_line(line) for line in node.related]
        lines += [INDENT + source_line(line) for line in node.source]
        return lines

    def body(self) -> list[str]:
        """Every node, and ``Return``."""
        graph = self.graph
        lines: list[str] = []
        for node in graph.nodes:
            lines += self.node(node)
        return [
            *lines,
            f"  Return({self.operand(graph.output)})",
            f"{INDENT}: ({self.types([graph.output])})",
            f"{INDENT}# Fullname with scope: (Default/Return-op{graph.return_number})",
        ]

    def lines(self) -> Iterator[str]:
        graph = self.graph
        yield from (f"# IR entry: @{graph.name}", "# Total subgraphs: 1", "", "# Attrs:")
        yield from _graph_attrs(graph.attrs)
        yield from ("", f"# Total params: {len(graph.parameters)}")
        if graph.parameters:
            yield "# Params:"
            yield from map(self.device_parameter, graph.parameters)
        yield from ("", *counts(len(graph.nodes) + 1, len(graph.parameters) + len(graph.constants)))
        yield from ("", "subgraph attr:")
        yield from _graph_attrs(graph.attrs)
        yield from (f"subgraph instance: {graph.name} : {STABLE_POINTER}", "", f"subgraph @{graph.name}() {{")
        yield from self.body()
        yield from ("}", "# Order:")
        last = self.debug.get(id(graph.output), self.operand(graph.output))
        yield f"#   1: @{graph.name}:{self.return_debug}{{[0]: ValueNode<Primitive> Return, [1]: {last}}}"
        yield from ("", "")


def parameter_dims(shape: tuple[int, ...]) -> str:
    """The symbolic shape of a data parameter: ``2, 4``; a dimension known only at run time is ``s1<[1,inf]>``."""
    unknown = 0
    parts = []
    for size in shape:
        unknown += size < 0
        parts.append(f"s{unknown}<[1,inf]>" if size < 0 else dims((size,)))
    return ", ".join(parts)


def counts(cnodes: int, others: int) -> tuple[str, ...]:
    """The lines that count nodes; every cnode counts once more for its primitive."""
    total = 2 * cnodes + others
    return "Node counting information:", f"Total number of nodes: {total}", f"Total number of cnodes: {cnodes}"


def _graph_attrs(attrs: Mapping[str, Any]) -> Iterator[str]:
    return (f"{key}: {int(value) if isinstance(value, bool) else value}" for key, value in attrs.items())


def _brackets(node: Node) -> str:
    text = ""
    instance = node.extra.instance_name
    if instance:
        text += f" {{instance name: {instance}}}"
    blocks = (
        ("primitive_attrs", node.attrs),
        ("cnode_attrs", node.extra.cnode_attrs),
        ("cnode_primal_attrs", node.extra.primal_attrs),
    )
    for title, attrs in blocks:
        if attrs:
            text += f" {title}: {attributes(attrs)}"
    return text


def write(graph: Graph) -> str:
    """The ``.ir`` text of ``graph``.

    Every operand of ``graph.nodes`` and ``graph.output`` must be a constant, one of ``graph.parameters`` or one of
    ``graph.nodes``; ``KeyError`` otherwise.
    """
    return "\n".join(Writer(graph).lines()) + "\n"
