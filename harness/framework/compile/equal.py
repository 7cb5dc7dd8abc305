"""Which nodes are equal, so that MindSpore makes one of them (measured on MindSpore 2.10.0)."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.framework.compile.trace import VIRTUAL
from harness.framework.ops.base import OPERATORS
from harness.graph import Const, Node, Operand


def is_its_own(node: Node) -> bool:
    """Whether a node never merges with an equal one: it has an effect, or its result is changed in place later."""
    if node.op == "Load":
        return False
    if node.extra.root is not None:
        return True
    if node.op in VIRTUAL:
        return False
    return node.extra.effect is not None or getattr(OPERATORS.get(node.op), "random", False)


def key(node: Node) -> Any:
    """What is equal of equal nodes; their operands by identity, or by value."""
    attrs = tuple(sorted((k, repr(v)) for k, v in node.attrs.items()))
    # The Cast that aligns operands, and that of a gradient, do not merge with an equal one of the network; nor does
    # what a gradient takes of several results (measured).
    kind: object = node.extra.backward
    if node.op == "Cast":
        kind = node.related_kind == "forward node" if node.extra.cast is None else node.extra.cast
    return node.op, attrs, kind, node.extra.layout, node.spec, tuple(constant_key(i) for i in node.inputs)


def constant_key(operand: Operand) -> Any:
    """The key by which operands are equal: identity, or a constant's value."""
    if not isinstance(operand, Const):
        return id(operand)
    value = operand.value
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.shape, value.tobytes()
    return type(value).__name__, repr(value), operand.spec
