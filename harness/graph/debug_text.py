"""A node in one line, as MindSpore's logs and execution orders show it (measured on 2.7.0).

``@kernel_graph0:x{[0]: ValueNode<Primitive> PrimFunc_Mul, [1]: param_x, [2]: ValueNode<Int64Imm> 2}``: its names are
those of the graph's ``.ir``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from harness import dtypes
from harness.dtypes import DType
from harness.graph.graph import Graph
from harness.graph.ir import Writer
from harness.graph.ir_values import number, tensor
from harness.graph.node import Const, Node, Operand, Parameter
from harness.recording.spec import OpaqueSpec


class DebugTexts:
    """Texts of one graph's nodes.

    Args:
        graph: graph that lists all requested nodes.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._debug = Writer(graph).debug

    def node(self, node: Node) -> str:
        """One node with its arguments."""
        functional = "PrimFunc_" if node.kernel and node.extra.functional else ""
        inputs = [f"ValueNode<Primitive> {functional}{node.op}", *map(self._operand, node.inputs)]
        listed = ", ".join(f"[{at}]: {text}" for at, text in enumerate(inputs))
        return f"@{self._graph.name}:{self._debug[id(node)]}{{{listed}}}"

    def _operand(self, operand: Operand) -> str:
        if isinstance(operand, Parameter):
            return f"param_{operand.name}"
        if isinstance(operand, Const):
            return value_node(operand)
        return self._debug[id(operand)]


def value_node(const: Const) -> str:
    """``ValueNode<Int64Imm> 0``."""
    if isinstance(const.spec, OpaqueSpec) and const.spec.kind.endswith("Monad"):
        return f"ValueNode<{const.spec.kind}> {const.value}"
    return f"ValueNode<{_kind(const.value)}> {_plain(const.value)}"


def _kind(value: Any) -> str:
    if isinstance(value, (tuple, list)):
        return "ValueTuple" if isinstance(value, tuple) else "ValueList"
    if isinstance(value, (bool, np.bool_)):
        return "BoolImm"
    if isinstance(value, str):
        return "StringImm"
    if isinstance(value, np.ndarray):
        return "Tensor"
    if value is None:
        return "None"
    if isinstance(value, DType):
        return f"Type{value.name}"
    if isinstance(value, (int, float)):
        return "Int64Imm" if isinstance(value, int) else "FP32Imm"
    return f"{dtypes.from_numpy(value.dtype).name.replace('Float', 'FP')}Imm"


def _plain(value: Any) -> str:
    if isinstance(value, (tuple, list)):
        text = ", ".join(map(_plain, value))
        return f"({text})" if isinstance(value, tuple) else f"[{text}]"
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value)).lower()
    if isinstance(value, np.ndarray):
        return tensor(value)
    if isinstance(value, DType):
        return value.name
    return number(value) if isinstance(value, (float, np.floating)) else str(value)
