"""Removes what MindSpore's graphs do not show: equal nodes, multiplications by one, chained reshapes, some constants.

Every rule was measured on MindSpore 2.10.0; what was seen to stay (two transposes, two negations, ``x / 1``,
``x - 0``, sums of constants) stays.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.compile.trace import VIRTUAL
from harness.graph import Const, Node, Operand, Parameter, TensorSpec, printed_order, spec_of
from harness.ops.base import OPERATORS, Call
from harness.ops.eager import execute

#: expanded after the simplifying passes ran, so left as they are
_LATE = "Expand/"


#: simplified even where their result is changed in place later (measured)
_BEFORE_READS = frozenset({"Add", "Cast", "Load", "Reshape"})


def simplify(output: Operand) -> Operand:
    """Rewrites the graph behind ``output`` (nodes are changed in place); returns the operand that replaces it."""
    became: dict[int, Operand] = {}
    known: dict[Any, Node] = {}
    for node in printed_order(output):
        node.inputs = [became.get(id(i), i) for i in node.inputs]
        replaced = _rewrite(node) if "root" not in node.extra or node.op in _BEFORE_READS else node
        if replaced is node and not _is_its_own(node):
            replaced = known.setdefault(_key(node), node)
        if replaced is not node:
            if "root" in node.extra and isinstance(replaced, Node) and replaced.op == "Load" != node.op:
                replaced = replaced.inputs[0]
            became[id(node)] = replaced
            _hand_on_memory(node, replaced)
    return became.get(id(output), output)


def _hand_on_memory(node: Node, replaced: Operand) -> None:
    """What replaces a node that is changed in place is changed in its stead."""
    if "root" not in node.extra or node.op == "Load":
        return
    if isinstance(replaced, Node):
        replaced.extra.setdefault("root", node.extra["root"])
    elif isinstance(replaced, Parameter):
        replaced.is_inplace = True


def _is_its_own(node: Node) -> bool:
    """Whether a node is never one with an equal one: it has an effect, or what it gives is changed in place later."""
    if node.op == "Load":
        return False
    if "root" in node.extra:
        return True
    if node.op in VIRTUAL:
        return False
    return "effect" in node.extra or getattr(OPERATORS.get(node.op), "random", False)


def _key(node: Node) -> Any:
    attrs = tuple(sorted((k, repr(v)) for k, v in node.attrs.items()))
    return node.op, attrs, node.extra.get("layout"), node.spec, tuple(constant_key(i) for i in node.inputs)


def constant_key(operand: Operand) -> Any:
    """What makes two operands equal: identity, or a constant's value."""
    if not isinstance(operand, Const):
        return id(operand)
    value = operand.value
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.shape, value.tobytes()
    return type(value).__name__, repr(value), operand.spec


#: operators seen to be computed at compile time when all their tensors are constants
_FOLDED = frozenset({"BroadcastTo", "Cast", "Divs", "Mul", "Muls", "Neg", "Reshape", "SumExt", "Tile"})


def _fold(node: Node) -> Operand:
    tensors = [i for i in node.inputs if isinstance(i.spec, TensorSpec)]
    if not all(isinstance(i, Const) for i in node.inputs) or not tensors:
        return node
    values = tuple(i.value for i in node.inputs)  # type: ignore[union-attr]
    call = Call(node.op, tuple(i.spec for i in node.inputs), values, node.attrs, node.spec)
    (array,) = execute(OPERATORS.get(node.op), call, values)
    return Const(array, spec_of(array))


def _rewrite(node: Node) -> Operand:
    if node.op in _FOLDED and not node.scope.startswith(_LATE):
        folded = _fold(node)
        if folded is not node:
            return folded
    if node.op == "Reshape":
        return _reshape(node)
    if node.op == "Depend":
        return _depend(node)
    if node.op == "MakeTuple":
        return _whole_tuple(node)
    if node.scope.startswith(_LATE):
        return node
    if node.op == "Cast" and isinstance(node.spec, TensorSpec):
        source = node.inputs[0].spec
        if isinstance(source, TensorSpec) and source.dtype is node.spec.dtype and not _is_reference(node.inputs[0]):
            return node.inputs[0]
    if node.op == "Mul":
        return _multiply(node)
    if node.op == "Muls":
        number = node.inputs[1]
        # x * 1.0 and x * True were seen to stay.
        is_one = isinstance(number, Const) and type(number.value) is int and number.value == 1
        return node.inputs[0] if is_one and _same_result(node, node.inputs[0]) else node
    if node.op == "Add":
        return _add(node)
    return node


def _whole_tuple(node: Node) -> Operand:
    """A tuple of all results of one operator, in order, is that operator's result."""
    first = node.inputs[0] if node.inputs else None
    if not isinstance(first, Node) or first.op != "TupleGetItem":
        return node
    source = first.inputs[0]
    for at, item in enumerate(node.inputs):
        if not isinstance(item, Node) or item.op != "TupleGetItem" or item.inputs[0] is not source:
            return node
        if not isinstance(item.inputs[1], Const) or item.inputs[1].value != at:
            return node
    return source if source.spec == node.spec else node


def _is_reference(operand: Operand) -> bool:
    return isinstance(operand, Parameter) and operand.is_weight


def _reshape(node: Node) -> Operand:
    inner = node.inputs[0]
    if isinstance(inner, Node) and inner.op == "Reshape":
        node.inputs[0] = inner = inner.inputs[0]
    same = isinstance(inner.spec, TensorSpec) and isinstance(node.spec, TensorSpec)
    if same and inner.spec.shape == node.spec.shape and -1 not in node.spec.shape:  # type: ignore[union-attr]
        return inner
    return node


def _depend(node: Node) -> Operand:
    """A result that waits for nothing but effects, then for the final state: that says it already."""
    inner, state = node.inputs
    if not (isinstance(inner, Node) and inner.op == "Depend" and isinstance(state, Node) and state.op == "UpdateState"):
        return node
    value, on = inner.inputs
    members = on.inputs if isinstance(on, Node) and on.op == "MakeTuple" else [on]
    if members and all(isinstance(m, Node) and "effect" in m.extra for m in members) and not isinstance(value, Const):
        node.inputs[0] = value
    return node


def _filled_with(operand: Operand, value: int) -> bool:
    return isinstance(operand, Const) and isinstance(operand.value, np.ndarray) and bool((operand.value == value).all())


def _same_result(node: Node, kept: Operand) -> bool:
    return (
        isinstance(kept.spec, TensorSpec)
        and isinstance(node.spec, TensorSpec)
        and (kept.spec.tensor == node.spec.tensor)
    )


def _multiply(node: Node) -> Operand:
    a, b = node.inputs
    if _filled_with(b, 1) and _same_result(node, a):
        return a
    if _filled_with(a, 1) and _same_result(node, b):
        return b
    return node


def _add(node: Node) -> Operand:
    a, b = node.inputs
    if _same_result(node, a) and _same_result(node, b) and isinstance(a.spec, TensorSpec) and a.spec.shape:
        folded = _fold(node)
        if folded is not node:
            return folded
    for kept, other in ((a, b), (b, a)):
        if _filled_with(other, 0) and _same_result(node, kept):
            return kept
    return node
