"""Finds an operator's statement in a graph's text: the way from a dumped tensor to its IR and its script's lines."""

from __future__ import annotations

import re
from collections.abc import Mapping

from harness.capture.join import file_names
from harness.graph.ir_parse import IrNode
from harness.graph.ir_parse import parse as parse_ir

_GRAPH = re.compile(r"(?:rank_(\d{1,9})/)?graphs/ms_output_trace_code_graph_(\d{1,9})\.ir$")


def statements(artefacts: Mapping[str, bytes]) -> dict[tuple[int, str], IrNode]:
    """The statement of each kernel in the graphs of a run, by graph id and the full name of its files.

    Raises:
        TreeError: a graph's text is damaged.
    """
    graphs = []
    for name in artefacts:
        if _GRAPH.match(name):
            graphs.append(parse_ir(artefacts[name].decode("utf-8", "replace"), name))
    graphs.sort(key=lambda graph: graph.id)
    return {(graph.id, name): node for graph, node, name in file_names(graphs)}
