"""Chooses each kernel's dtype on the device and inserts the casts that choice needs.

Where a device has no float16 kernel for an operator, the operator runs in float32: its float16 inputs are cast, its
result stays float32, and whoever needs it in float16 casts it back (measured on MindSpore 2.10.0 CPU).
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from harness import dtypes
from harness.dtypes import DType
from harness.graph import Const, Node, OpaqueSpec, Operand, Spec, TensorSpec, TupleSpec, printed_order

#: nodes that hand on what they are given
_HAND_ON = frozenset({"Depend", "TupleGetItem", "MakeTuple"})


def select_kernels(output: Operand, widened: AbstractSet[str]) -> None:
    """Inserts casts into the graph behind ``output``.

    Args:
        output: what ``Return`` is given; nodes are changed in place.
        widened: operators that compute float16 in float32.
    """
    asked: dict[int, Spec] = {}
    for node in printed_order(output):
        asked[id(node)] = node.spec
        if node.op == "UpdateState":
            continue
        if node.kernel:
            wide = node.op in widened
            node.inputs = [_given(node, operand, asked, wide) for operand in node.inputs]
            if wide:
                node.spec = _in_float32(node.spec)
            if node.spec != asked[id(node)]:
                node.extra["abstract"] = asked[id(node)]
        elif node.op == "Depend":
            node.spec = node.inputs[0].spec
        elif node.op == "TupleGetItem":
            source = node.inputs[0].spec
            at = node.inputs[1]
            if isinstance(source, TupleSpec) and isinstance(at, Const):
                node.spec = source.items[at.value]
        elif node.op == "MakeTuple":
            node.inputs = [_given(node, operand, asked, False) for operand in node.inputs]
            node.spec = TupleSpec(tuple(i.spec for i in node.inputs))


def _given(user: Node, operand: Operand, asked: dict[int, Spec], wide: bool) -> Operand:
    """``operand`` in the dtype ``user`` takes it in: itself, or a new ``Cast``."""
    wanted = asked.get(id(operand), operand.spec)
    if not isinstance(wanted, TensorSpec) or not isinstance(operand.spec, TensorSpec):
        return operand
    dtype = dtypes.float32 if wide and wanted.dtype is dtypes.float16 else wanted.dtype
    if operand.spec.dtype is dtype:
        return operand
    return _cast(operand, dtype, user.scope)


def _cast(operand: Operand, dtype: DType, scope: str) -> Node:
    assert isinstance(operand.spec, TensorSpec)
    target = Const(dtype, OpaqueSpec("Type"))
    node = Node("Cast", [operand, target], {}, scope, TensorSpec(dtype, operand.spec.shape))
    node.extra = {"layout": (None, None), "functional": True}
    node.related_kind = "code"
    return node


def _in_float32(spec: Spec) -> Spec:
    if isinstance(spec, TupleSpec):
        return TupleSpec(tuple(_in_float32(s) for s in spec.items))
    if isinstance(spec, TensorSpec) and spec.dtype is dtypes.float16:
        return TensorSpec(dtypes.float32, spec.shape)
    return spec


def hide_dtypes(output: Operand) -> None:
    """Takes dtype arguments out of ``inputs``: the finished graphs do not show them. ``layout`` keeps the value."""
    for node in printed_order(output):
        if not any(isinstance(i, Const) and i.spec == OpaqueSpec("Type") for i in node.inputs):
            continue
        layout: list[object] = []
        kept: list[Operand] = []
        at = 0
        for count in node.extra["layout"]:
            operand = node.inputs[at]
            if count is None and isinstance(operand, Const) and operand.spec == OpaqueSpec("Type"):
                layout.append((operand.value,))
            else:
                layout.append(count)
                kept += node.inputs[at : at + (count or 1)]
            at += count or 1
        monads = node.inputs[at:]
        node.inputs = kept + monads
        node.extra["layout"] = tuple(layout)
