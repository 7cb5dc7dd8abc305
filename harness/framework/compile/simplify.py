"""Removes what MindSpore's graphs do not show: equal nodes, multiplications by one, chained reshapes, some constants.

Every rule was measured on MindSpore 2.10.0; what was seen to stay (two transposes, two negations, ``x / 1``,
``x - 0``, sums of constants) stays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from ml_dtypes import finfo

from harness.dtypes import DType
from harness.framework.compile import reshapes
from harness.framework.compile.arguments import ARGUMENT
from harness.framework.compile.custom_backward import CUSTOM
from harness.framework.compile.differentiate import grouped
from harness.framework.compile.reduced_sums import add_before_reduction
from harness.framework.compile.trace import VIRTUAL
from harness.framework.observed import BEFORE_READS, FOLDED
from harness.framework.ops.base import OPERATORS, Call
from harness.framework.ops.eager import execute
from harness.graph import Const, Node, Operand, Parameter, TensorSpec, TupleSpec, printed_order, spec_of

#: expanded after simplification, so left as they are
_LATE = "Expand/"


_BEFORE_READS = frozenset(row.name for row in BEFORE_READS)


def simplify(output: Operand, of_cell: bool = False) -> Operand:
    """Rewrites the graph behind ``output`` (nodes are changed in place); returns the operand that replaces it.

    ``of_cell``: whether it is a cell's graph, where sums stand before reductions.
    """
    became: dict[int, Operand] = {}
    known: dict[Any, Node] = {}
    order = printed_order(output)
    # Memory that an operator of a gradient writes into is that operator's alone (measured).
    overwritten = {id(n.inputs[0]) for n in order if n.kernel and OPERATORS.get(n.op).overwrites}
    for node in order:
        if node.extra.root is not None and node.op in _BEFORE_READS:
            _hand_on_memory(node, _rewrite(node))  # before it could merge with an equal one
    for node in order:
        node.inputs = [became.get(id(i), i) for i in node.inputs]
        replaced = _rewrite(node) if node.extra.root is None or node.op in _BEFORE_READS else node
        if isinstance(replaced, Node) and replaced is not node and replaced.extra.looped:
            replaced = node  # of what a loop changes, a copy
        if replaced is node and id(node) not in overwritten and not _is_its_own(node):
            replaced = known.setdefault(_key(node), node)
        if replaced is not node:
            if node.extra.root is not None and isinstance(replaced, Node) and replaced.op == "Load" != node.op:
                replaced = replaced.inputs[0]
            became[id(node)] = replaced
            _hand_on_memory(node, replaced)
    simplified = became.get(id(output), output)
    if of_cell and add_before_reduction(simplified):
        return simplify(simplified, of_cell)
    _merge_sums(simplified)
    _reshape_for_transpose(simplified)
    return simplified


def _hand_on_memory(node: Node, replaced: Operand) -> None:
    """The replacement of a node that is changed in place is changed instead."""
    if node.extra.root is None or node.op == "Load":
        return
    if isinstance(replaced, Node):
        if replaced.extra.root is None:
            replaced.extra.root = node.extra.root
    elif isinstance(replaced, Parameter):
        replaced.is_inplace = True


def _is_its_own(node: Node) -> bool:
    """Whether a node never merges with an equal one: it has an effect, or its result is changed in place later."""
    if node.op == "Load":
        return False
    if node.extra.root is not None:
        return True
    if node.op in VIRTUAL:
        return False
    return node.extra.effect is not None or OPERATORS.get(node.op).random


def _key(node: Node) -> Any:
    attrs = tuple(sorted((k, repr(v)) for k, v in node.attrs.items()))
    # The Cast that aligns operands, and that of a gradient, do not merge with an equal one of the network; nor does
    # what a gradient takes of several results (measured).
    kind: object = node.extra.backward
    if node.op == "Cast":
        kind = node.related_kind == "forward node" if node.extra.cast is None else node.extra.cast
    return node.op, attrs, kind, node.extra.layout, node.spec, tuple(constant_key(i) for i in node.inputs)


def constant_key(operand: Operand) -> Any:
    """The key by which operands are equal: identity, or a constant's value."""
    if not isinstance(operand, Const) or operand.memory is not None:
        return id(operand)
    value = operand.value
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.shape, value.tobytes()
    return type(value).__name__, repr(value), operand.spec


_FOLDED = frozenset(row.name for row in FOLDED)
#: those that are not computed in a gradient, whose zeros are known late (measured)
_JOINED = frozenset({"Stack"})
#: those that are computed for operands of one shape only (measured)
_OF_TENSORS = frozenset({"Equal", "Greater", "GreaterEqual", "Less", "LessEqual", "Minimum", "Mul", "NotEqual"})


def _fold(node: Node) -> Operand:
    tensors = [i for i in node.inputs if isinstance(i.spec, TensorSpec)]
    if not all(isinstance(i, Const) and not i.late and i.memory is None for i in node.inputs) or not tensors:
        return node
    if node.op in _JOINED and node.scope.startswith("Gradients/"):
        return node
    if node.op in _OF_TENSORS and not _alike(node):
        return node
    values = tuple(grouped(node, [i.value for i in node.inputs]))  # type: ignore[union-attr]
    specs = (
        TupleSpec(spec) if isinstance(spec, tuple) else spec for spec in grouped(node, [i.spec for i in node.inputs])
    )
    if node.op == "ReduceAll" and values[1] is None:
        return node  # measured; an empty tuple is computed
    if node.op == "ReduceAny" and values[0].dtype != np.uint8:
        values = values[0] != 0, *values[1:]  # numpy computes it there, not the kernel, which reads bytes (measured)
    call = Call(node.op, tuple(specs), values, node.attrs, node.spec)
    (array,) = execute(OPERATORS.get(node.op), call, values)
    return Const(array, spec_of(array))


def _rewrite(node: Node) -> Operand:
    """The replacement of ``node``: itself, or the result of the first rule that changes it."""
    if node.op in _FOLDED and not node.scope.startswith(_LATE):
        folded = _fold(node)
        if folded is not node:
            return folded
    for rule in RULES_EVERYWHERE.get(node.op, ()) or (() if node.scope.startswith(_LATE) else RULES.get(node.op, ())):
        replaced = rule(node)
        if replaced is not node:
            return replaced
    return node


def _cast(node: Node) -> Operand:
    """Drops a cast to the tensor's own dtype, and the first of two in a row if it loses nothing or both narrow."""
    given = node.inputs[0]
    if not (isinstance(given.spec, TensorSpec) and isinstance(node.spec, TensorSpec)):
        return node
    if given.spec.dtype is node.spec.dtype:
        return node if _is_reference(given) else given
    if not (isinstance(given, Node) and given.op == "Cast" and given.extra.root is None):
        return node
    source = given.inputs[0]
    if not isinstance(source.spec, TensorSpec) or not _is_one_cast(
        source.spec.dtype, given.spec.dtype, node.spec.dtype
    ):
        return node
    if source.spec.dtype is node.spec.dtype:
        return source
    node.inputs[0] = source
    return node


def _is_one_cast(first: DType, between: DType, last: DType) -> bool:
    """Measured for float16, 32 and 64, Int32 and Int64: f2-f4-f2, f4-f8-f2, i4-i8-f4 and f8-f4-f2 are one cast (or
    none), f4-f2-f4, f4-i4-f4 and i8-i4-i8 stay (``tests/framework/compile/test_simplify.py``)."""
    if first.kind != between.kind or first.kind not in "if":
        return False
    widens = first.itemsize < between.itemsize
    return widens or (first.kind == last.kind == "f" and first.itemsize > between.itemsize > last.itemsize)


def _product(node: Node) -> Operand:
    alone = _multiply(node)  # ones go before constants are brought together (measured)
    return alone if alone is not node else _multiply(_merged_product(node))


def _times_number(node: Node) -> Operand:
    number = node.inputs[1]
    # x * 1.0 and x * True were seen to stay.
    is_one = isinstance(number, Const) and type(number.value) is int and number.value == 1
    return node.inputs[0] if is_one and _same_result(node, node.inputs[0]) else node


def _difference(node: Node) -> Operand:
    return _fold(node) if _alike(node) else node


def _alike(node: Node) -> bool:
    """Whether the operands have one shape or are each a single element, ``[]`` or ``[1]`` (measured: others stay)."""
    shapes = {i.spec.shape for i in node.inputs if isinstance(i.spec, TensorSpec)}
    return len(shapes) == 1 or shapes <= {(), (1,)}


def _chosen(node: Node) -> Operand:
    shapes = {i.spec.shape for i in node.inputs if isinstance(i.spec, TensorSpec)}
    return _fold(node) if len(shapes) == 1 else node


def _axes_in_order(node: Node) -> Operand:
    """A ``Transpose`` that moves nothing."""
    axes = node.inputs[1]
    if not isinstance(axes, Const) or not isinstance(axes.value, tuple):
        return node
    rank = len(axes.value)
    return node.inputs[0] if [a % rank for a in axes.value] == list(range(rank)) else node


def _once(node: Node) -> Operand:
    """A ``Tile`` that repeats nothing."""
    times = node.inputs[1]
    is_once = isinstance(times, Const) and isinstance(times.value, tuple) and set(times.value) <= {1}
    return node.inputs[0] if is_once and _same_result(node, node.inputs[0]) else node


def _without_zeros(node: Node) -> Operand:
    """A sum without the zeros that are the gradients of what does not depend on something; none of one (measured)."""
    kept = [i for i in node.inputs if not (isinstance(i, Const) and i.late and not np.any(i.value))]
    if len(kept) == len(node.inputs) > 1:
        return node
    if len(kept) < 2:
        return kept[0] if kept else node.inputs[0]
    node.inputs, node.extra.layout = kept, (len(kept),)
    return node


def _merged_product(node: Node) -> Node:
    """``C1 * (C2 * x)`` is ``x * C``, in whatever order they stand and whatever else takes the inner product."""
    for inner, outer in (node.inputs, node.inputs[::-1]):
        if not (isinstance(inner, Node) and inner.op == "Mul" and _is_tensor_constant(outer)):
            continue
        for x, factor in (inner.inputs, inner.inputs[::-1]):
            alike = _one_dtype(factor, outer) and _one_dtype(x, inner, node)
            if _is_tensor_constant(factor) and not isinstance(x, Const) and alike:
                product = np.asarray(factor.value * outer.value)  # type: ignore[union-attr]
                node.inputs = [x, Const(product, spec_of(product))]
                return node
    return node


def _is_tensor_constant(o: Operand) -> bool:
    return isinstance(o, Const) and isinstance(o.value, np.ndarray) and not o.late and o.memory is None


def _one_dtype(*operands: Operand) -> bool:
    return len({o.spec.dtype if isinstance(o.spec, TensorSpec) else None for o in operands}) == 1


def _taken_apart(node: Node) -> Operand:
    """A tuple put together and taken apart again, as a tuple or along one axis of a tensor."""
    inner = node.inputs[0]
    if not isinstance(inner, Node):
        return node
    if node.op == "TupleGetItem":
        at = node.inputs[1]
        return inner.inputs[at.value] if inner.op == "MakeTuple" and isinstance(at, Const) else node
    if inner.op != "Stack" or not isinstance(inner.spec, TensorSpec):
        return node
    rank = len(inner.spec.shape)
    if node.attrs["axis"] % rank != inner.attrs["axis"] % rank:
        return node
    parts = Node("MakeTuple", list(inner.inputs), {}, node.scope, node.spec, kernel=False)
    parts.extra = replace(node.extra, layout=(None,) * len(inner.inputs), functional=False)
    return parts


def _reshape_for_transpose(output: Operand) -> None:
    """A ``Transpose`` that moves nothing but axes of length 1 is a ``Reshape``, one with an equal one (measured)."""
    order = printed_order(output)
    for node in order:
        spec, given = node.spec, node.inputs[0].spec if node.inputs else None
        if node.op != "Transpose" or not (isinstance(spec, TensorSpec) and isinstance(given, TensorSpec)):
            continue
        axes = node.inputs[1]
        if -1 in given.shape or not isinstance(axes, Const) or 1 not in given.shape:
            continue
        long = [axis % len(given.shape) for axis in axes.value if given.shape[axis] != 1]
        if long == sorted(long):
            node.op, node.attrs = "Reshape", {}
            node.inputs[1] = Const(spec.shape, spec_of(spec.shape))
    known: dict[Any, Node] = {}
    became: dict[int, Operand] = {}
    for node in order:
        node.inputs = [became.get(id(i), i) for i in node.inputs]
        if node.op == "Reshape" and not _is_its_own(node):
            became[id(node)] = known.setdefault(_key(node), node)


def _merge_sums(output: Operand) -> None:
    """An ``AddN`` that nothing else takes is part of the ``AddN`` that takes it first or last; what then stands there
    is looked at again (measured: ``tests/data/graphs/nets/merged_sums.py``)."""
    order = printed_order(output)
    users = Counter(id(operand) for node in order for operand in node.inputs)

    def parts(inner: Operand) -> list[Operand]:
        return inner.inputs if isinstance(inner, Node) and inner.op == "AddN" and users[id(inner)] == 1 else []

    for node in reversed(order):
        if node.op != "AddN":
            continue
        while len(node.inputs) > 1 and (last := parts(node.inputs[-1])):
            node.inputs[-1:] = last
        while first := parts(node.inputs[0]):
            node.inputs[:1] = first
        node.extra.layout = (len(node.inputs),)


def _whole_tuple(node: Node) -> Operand:
    """What waits for all results of one operator, in order, waits for that operator."""
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


def _depend(node: Node) -> Operand:
    """A result that waits only for effects, then for the final state, which already implies them."""
    if isinstance(node.inputs[1], Node) and node.inputs[1].op == "MakeTuple":
        node.inputs[1] = _whole_tuple(node.inputs[1])
    inner, state = node.inputs
    if not (isinstance(inner, Node) and inner.op == "Depend" and isinstance(state, Node) and state.op == "UpdateState"):
        return node
    value, on = inner.inputs
    members = on.inputs if isinstance(on, Node) and on.op == "MakeTuple" else [on]
    if (
        members
        and all(isinstance(m, Node) and m.extra.effect is not None for m in members)
        and not isinstance(value, Const)
    ):
        node.inputs[0] = value
    return node


def _filled_with(operand: Operand, value: int) -> bool:
    return _is_tensor_constant(operand) and bool((operand.value == value).all())  # type: ignore[union-attr]


def _same_result(node: Node, kept: Operand) -> bool:
    return (
        isinstance(kept.spec, TensorSpec)
        and isinstance(node.spec, TensorSpec)
        and (kept.spec.tensor == node.spec.tensor)
    )


def _multiply(node: Node) -> Operand:
    a, b = node.inputs
    if node.spec.dtype.itemsize == 2:  # type: ignore[union-attr]
        return node  # ones of float16 are not looked for (measured)
    for kept, other in ((a, b), (b, a)):
        if _filled_with(other, 1) and _one_dtype(kept, other):
            if _same_result(node, kept):
                return kept
            if _is_tensor_constant(kept) and not kept.late and kept.value.size == 1:  # type: ignore[union-attr]
                filled = np.full(node.spec.shape, kept.value.item(), kept.value.dtype)  # type: ignore[union-attr]
                return Const(filled, spec_of(filled))
    return node


def _add(node: Node) -> Operand:
    a, b = node.inputs
    if _alike(node):
        folded = _fold(node)
        if folded is not node:
            return folded
    for kept, other in ((a, b), (b, a)):
        if _filled_with(other, 0) and _same_result(node, kept):
            return kept
    return node


def _bounded(node: Node) -> Operand:
    """``Maximum`` of a tensor and what no finite number lies below, ``Minimum`` likewise: the tensor, but
    not with the bound in front (tests/framework/compile/test_simplify.py)."""
    kept, bound = node.inputs[:2]
    if not isinstance(bound, Const) or not isinstance(node.spec, TensorSpec) or node.spec.dtype.kind != "f":
        return node
    limits, least = finfo(node.spec.dtype.numpy), node.op == "Maximum"  # type: ignore[no-untyped-call]
    value = np.asarray(bound.value)
    if value.size != 1 or value.dtype.kind not in "fiu" or not _same_result(node, kept):
        return node
    number = float(value.reshape(-1)[0])
    return kept if (number <= float(limits.min) if least else number >= float(limits.max)) else node


Rule = Callable[[Node], Operand]
#: rules by operator, for nodes of composites taken apart, too
RULES_EVERYWHERE: dict[str, tuple[Rule, ...]] = {
    "Reshape": (reshapes.merged,),
    "Depend": (_depend,),
    ARGUMENT: (lambda node: node.inputs[0],),
    CUSTOM: (lambda node: node.inputs[0],),
}
#: rules by operator; the first that changes a node counts
RULES: dict[str, tuple[Rule, ...]] = {
    "Add": (_add,),
    "AddN": (_without_zeros,),
    "Cast": (_cast,),
    "Maximum": (_bounded,),
    "Minimum": (_bounded,),
    "Mul": (_product,),
    "Muls": (_times_number,),
    "RealDiv": (_difference,),
    "Select": (_chosen,),
    "Sub": (_difference,),
    "Tile": (_once,),
    "Transpose": (_axes_in_order,),
    "TupleGetItem": (_taken_apart,),
    "Unstack": (_taken_apart,),
}
