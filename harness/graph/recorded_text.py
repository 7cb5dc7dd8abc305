"""Texts of graphs as the recorder writes them (MindSpore 2.7.0): after each stage of a compilation, and when built.

The lines are those of ``harness.graph.ir``; the beginning differs, and a stage shows scopes instead of full names
and only the innermost source line. No text holds a pointer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from harness.graph.graph import Graph, printed_order
from harness.graph.ir import INDENT, STABLE_POINTER, Writer, counts, source_line
from harness.graph.node import Const, Operand, Parameter


def build_text(graph: Graph) -> str:
    """A finished kernel graph: full names, whole stacks."""
    writer = Writer(graph)
    attrs = [f"{key}: {_truth(value)}" for key, value in graph.attrs.items()]
    lines = [
        *_parameters(map(writer.device_parameter, graph.parameters)),
        *counts(len(graph.nodes) + 1, len(graph.parameters) + len(graph.constants)), "",
        f"# IR entry: @{graph.name}", "# Total subgraphs: 1", "", "# Attrs:", *attrs, "", "",
        "subgraph attr:", *attrs, f"subgraph instance: {graph.name} : {STABLE_POINTER}", "",
        f"subgraph @{graph.name}() {{", *writer.body(), "}", "", "",
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def _truth(value: object) -> str:
    return {0: "false", 1: "true"}.get(value, str(value)) if isinstance(value, int) else str(value)


def stage_text(name: str, outputs: Sequence[Operand]) -> str:
    """The graph after a stage: one subgraph for each region.

    Args:
        name: name of the compiled function.
        outputs: output of each region.
    """
    graphs = [_listed(output) for output in outputs]
    parameters = list(dict.fromkeys(p for graph in graphs for p in graph.parameters))
    # One numbering of parameters over all subgraphs.
    writers = [Writer(graph) for graph in graphs]
    para = {id(p): number for number, p in enumerate(parameters, 1)}
    for writer in writers:
        writer.para = para
    texts = [writer.parameter(p) for p in parameters for writer in writers[:1]]
    cnodes = sum(len(graph.nodes) + 1 for graph in graphs)
    lines = [
        *_parameters(texts), *counts(cnodes, len(parameters) + sum(len(g.constants) for g in graphs)), "",
        f"# IR entry: @{_named(name, 0)}", f"# Total subgraphs: {len(graphs)}", "", "",
    ]  # fmt: skip
    for at, writer in enumerate(writers):
        lines += _subgraph(_named(name, at), writer)
    return "\n".join(lines) + "\n"


def bootstrap_text(name: str, inputs: Sequence[str]) -> str:
    """The first graph of a compilation: a call of the function, whose parameters have no types yet."""
    texts = [f"%para{at}_{given}: <null>" for at, given in enumerate(inputs, 1)]
    arguments = ", ".join(text.partition(":")[0] for text in texts)
    types = ", ".join("<null>" for _ in inputs)
    entry = f"{name}_0"
    lines = [
        *_parameters(texts), *counts(3, len(inputs) + 2), "",
        f"# IR entry: @{entry}", "# Total subgraphs: 1", "", "",
        "subgraph attr:", f"subgraph instance: {entry} : {STABLE_POINTER}", "", f"subgraph @{entry}() {{",
        f"  %0(CNode_1) = resolve(NameSpace[Entry: '{name}'], {name})",
        f"{INDENT}: (<null>, <null>) -> (<null>)", f"{INDENT}# Scope: (Default)",
        f"  %1(CNode_2) = %0({arguments})",
        f"{INDENT}: ({types}) -> (<null>)", f"{INDENT}# Scope: (Default)",
        "  Return(%1)", f"{INDENT}: (<null>)", f"{INDENT}# Scope: (Default)", "}", "", "",
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def _named(name: str, at: int) -> str:
    return f"{at + 1}_{name}"


def _parameters(texts: Iterable[str]) -> list[str]:
    listed = list(texts)
    return [f"# Total params: {len(listed)}", *(["# Params:"] if listed else []), *listed, ""]


def _listed(output: Operand) -> Graph:
    """A graph of everything that ``output`` depends on, only for its text: nothing in it is changed."""
    nodes = printed_order(output)
    operands = [o for node in nodes for o in node.inputs] + [output]
    parameters = {id(o): o for o in operands if isinstance(o, Parameter)}
    constants = {id(o): o for o in operands if isinstance(o, Const)}
    return Graph(0, list(parameters.values()), output, nodes, constants=list(constants.values()))


def _subgraph(name: str, writer: Writer) -> Iterator[str]:
    graph = writer.graph
    yield from ("subgraph attr:", f"subgraph instance: {name} : {STABLE_POINTER}", "", f"subgraph @{name}() {{")
    for node in graph.nodes:
        yield writer.head(node)
        yield INDENT + writer.signature(node)
        yield f"{INDENT}# Scope: ({node.scope})"
        innermost = node.source or node.related
        if innermost:
            yield INDENT + source_line(innermost[-1])
    yield f"  Return({writer.operand(graph.output)})"
    yield f"{INDENT}: ({writer.types([graph.output])})"
    yield from (f"{INDENT}# Scope: (Default)", "}", "", "")
