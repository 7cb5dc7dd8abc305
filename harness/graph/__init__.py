"""The graph: nodes, graphs, and their ``.ir`` and ``.pb`` texts."""

from harness.graph.graph import Graph, printed_order
from harness.graph.node import IO, Const, Node, NodeExtra, Operand, Parameter, SourceLine, U, constant, spec_of
from harness.recording.spec import IOMONAD, UMONAD, OpaqueSpec, ScalarSpec, Spec, TensorSpec, TupleSpec

__all__ = [
    "IO", "IOMONAD", "UMONAD", "Const", "Graph", "Node", "NodeExtra", "OpaqueSpec", "Operand", "Parameter",
    "ScalarSpec", "SourceLine", "Spec", "TensorSpec", "TupleSpec", "U", "constant", "printed_order", "spec_of",
]  # fmt: skip
