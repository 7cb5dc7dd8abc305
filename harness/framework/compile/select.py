"""Chooses each kernel's dtype on the device and inserts the casts this choice needs.

Where a device has no float16 (or float64) kernel for an operator, it runs in float32: such inputs are cast, and its
result stays float32. A user that needs another dtype casts it back: kernels do, and ``Return`` does for a result that
is not a tuple; the members of a tuple are given back as they are (measured on MindSpore 2.10.0 CPU).
"""

from __future__ import annotations

import numpy as np

from harness import dtypes
from harness.devices import Kernels
from harness.dtypes import DType
from harness.framework.ops.base import OPERATORS
from harness.framework.ops.constants import TYPE_IDS
from harness.graph import (
    Const,
    Node,
    NodeExtra,
    OpaqueSpec,
    Operand,
    Spec,
    TensorSpec,
    TupleSpec,
    printed_order,
    spec_of,
)

#: nodes that pass on their input
_HAND_ON = frozenset({"Depend", "TupleGetItem", "MakeTuple"})


def select_kernels(output: Operand, kernels: Kernels) -> None:
    """Inserts casts into the graph behind ``output`` (nodes are changed in place)."""
    asked: dict[int, Spec] = {}
    for node in printed_order(output):
        asked[id(node)] = node.spec
        if node.op == "UpdateState":
            continue
        if node.kernel:
            node.op = OPERATORS.get(node.op).runs_as or node.op
            is_mixed = kernels.is_mixed(node)
            node.inputs = [_given(node, i, operand, asked, kernels) for i, operand in enumerate(node.inputs)]
            node.spec = _float32(node.spec) if is_mixed else _in_float32(node.op, node.spec, kernels)
        elif node.op == "Depend":
            node.spec = node.inputs[0].spec
        elif node.op == "TupleGetItem":
            source = node.inputs[0].spec
            at = node.inputs[1]
            if isinstance(source, TupleSpec) and isinstance(at, Const):
                node.spec = source.items[at.value]
        elif node.op == "MakeTuple":
            if node is output:
                node.inputs = [_given(node, i, operand, asked, Kernels()) for i, operand in enumerate(node.inputs)]
            node.spec = TupleSpec(tuple(i.spec for i in node.inputs))
        if node.spec != asked[id(node)]:
            node.extra.abstract = asked[id(node)]


def _given(user: Node, argument: int, operand: Operand, asked: dict[int, Spec], kernels: Kernels) -> Operand:
    """``operand`` in the dtype ``user`` takes it in: itself, or a new ``Cast``."""
    wanted = asked.get(id(operand), operand.spec)
    if not isinstance(wanted, TensorSpec) or not isinstance(operand.spec, TensorSpec):
        return operand
    dtype = kernels.takes(user, argument, wanted.dtype)
    if operand.spec.dtype is dtype:
        return operand
    return _cast(operand, dtype, user.scope)


def _cast(operand: Operand, dtype: DType, scope: str) -> Node:
    assert isinstance(operand.spec, TensorSpec)
    target = Const(dtype, OpaqueSpec("Type"))
    node = Node("Cast", [operand, target], {}, scope, TensorSpec(dtype, operand.spec.shape))
    node.extra = NodeExtra(layout=(None, None), inserted=True)
    node.related_kind = "code"
    return node


def _in_float32(op: str, spec: Spec, kernels: Kernels) -> Spec:
    if isinstance(spec, TupleSpec):
        return TupleSpec(tuple(_in_float32(op, s, kernels) for s in spec.items))
    if isinstance(spec, TensorSpec) and kernels.in_float32(op, spec.dtype):
        return TensorSpec(dtypes.float32, spec.shape)
    return spec


def _float32(spec: Spec) -> Spec:
    return TensorSpec(dtypes.float32, spec.shape) if isinstance(spec, TensorSpec) else spec


def count_axes(output: Operand) -> None:
    """Makes each ``Squeeze`` name its axes from the front, all of length 1 where it names none (measured)."""
    for node in printed_order(output):
        spec = node.inputs[0].spec if node.op == "Squeeze" else None
        if isinstance(spec, TensorSpec) and -1 not in spec.shape and isinstance(node.inputs[1], Const):
            named = node.inputs[1].value or (at for at, length in enumerate(spec.shape) if length == 1)
            axes = tuple(axis % max(len(spec.shape), 1) for axis in named)
            node.inputs[1] = Const(axes, spec_of(axes))


def hide_dtypes(output: Operand) -> None:
    """Takes dtype arguments out of ``inputs``: the finished graphs do not show them. ``layout`` keeps the value.

    A ``Cast`` that is part of an expansion shows the number of its dtype instead (measured).
    """
    for node in printed_order(output):
        if node.op == "Cast" and node.scope.startswith("Expand/") and not node.extra.inserted:
            assert isinstance(node.inputs[1], Const)
            number = np.array(TYPE_IDS[node.inputs[1].value.name], np.int64)
            node.inputs[1] = Const(number, spec_of(number))
        if not any(isinstance(i, Const) and i.spec == OpaqueSpec("Type") for i in node.inputs):
            continue
        layout: list[object] = []
        kept: list[Operand] = []
        at = 0
        for count in node.extra.layout:
            operand = node.inputs[at]
            if count is None and isinstance(operand, Const) and operand.spec == OpaqueSpec("Type"):
                layout.append((operand.value,))
            else:
                layout.append(count)
                kept += node.inputs[at : at + (count or 1)]
            at += count or 1
        monads = node.inputs[at:]
        node.inputs = kept + monads
        node.extra.layout = tuple(layout)
