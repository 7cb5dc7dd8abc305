"""ReduceProd, and ProdExt, the form of ``prod`` with a dtype."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from harness import dtypes
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.elementwise import as_result
from harness.framework.ops.expansion import Composite, cast
from harness.framework.ops.reduce import Reduction, axes_of, reduced, repeat, total_dtype
from harness.framework.tensor import call as emit
from harness.graph import Node, Spec, TensorSpec, constant


@operator
class ReduceProd(Reduction):
    """Product over axes, from first to last."""

    name = "ReduceProd"

    def kernel(self, call: Call, x: Array, given: Any, keep: bool) -> Array:
        (x,) = as_result(call, x)
        axes = self.axes(call, given)
        rest = [a for a in range(x.ndim) if a not in axes]
        rows = x.transpose([*axes, *rest]).reshape(-1, *(x.shape[a] for a in rest))
        out = np.ones(rows.shape[1:], x.dtype)
        for row in rows:
            out = out * row
        return out.reshape(reduced(x.shape, axes, keep))

    def gradient(self, b: Backward) -> Sequence[Any]:
        """As in MindSpore, where it is wrong over all axes: it takes the products along an axis of length 1."""
        x, axis, kept = b.inputs
        return product_gradient(x, axis, kept, b.dout, flat_axis=0), None, None


@operator
class RealMakeTuple(Operator):
    """Makes a tuple of numbers while the graph runs: the axis of ``ProdExt``."""

    name = "RealMakeTuple"
    tensors = ()

    def infer(self, call: Call) -> Spec:
        return TensorSpec(dtypes.int64, (len(call.values),))

    def kernel(self, call: Call, *numbers: int) -> Array:
        return np.asarray(numbers, np.int64)


@operator
class ProdExt(Composite):
    """Arguments: tensor, axis (None for all), keep_dims, dtype (None: ``total_dtype``)."""

    name = "ProdExt"
    tensors = (0,)

    def expand(self, x: Any, axis: Any, keep: bool, dtype: Any) -> Any:
        if dtype is None:
            dtype = total_dtype(x.dtype)
        return emit("ReduceProd", cast(x, dtype), axes_of(axis), keep)

    def finish(self, parts: Sequence[Node], *argument: Any) -> None:
        """A single axis is made a tuple by an operator (measured)."""
        (axis,) = argument
        if isinstance(axis, int):
            product = parts[-1]
            made = Node("RealMakeTuple", [constant(axis)], {}, product.scope, TensorSpec(dtypes.int64, (1,)))
            made.related_kind, made.related = product.related_kind, product.related
            made.extra = replace(product.extra, layout=(None,))
            product.inputs[1] = made

    def gradient(self, b: Backward) -> Sequence[Any]:
        """The form that holds with zeros too; the real graph chooses at run time."""
        x, axis, kept, _dtype = b.inputs
        return product_gradient(x, axis, kept, b.dout), None, None, None


def product_gradient(x: Any, axis: Any, kept: bool, dout: Any, flat_axis: int = 1) -> Any:
    """dout times the product of all other elements: exclusive products from both ends."""
    rank, shape = len(x.shape), tuple(x.shape)
    axes = sorted({a % rank for a in axes_of(axis)}) if rank else []
    if not axes or len(axes) == rank:
        count = prod(shape)
        flat = emit("Reshape", x, (1, count))
        others = emit("Reshape", _others(flat, flat_axis), shape)
        return emit("Mul", others, repeat(dout, x, axis, kept))
    order = (*axes, *(a for a in range(rank) if a not in axes))
    still = order == tuple(range(rank))
    moved = x if still else emit("Transpose", x, order)
    if len(axes) > 1:
        rest = tuple(shape[a] for a in order[len(axes) :])
        rows = emit("Reshape", moved, (prod(shape[a] for a in axes), *rest))
        others = emit("Reshape", _others(rows, 0), tuple(shape[a] for a in order))
    else:
        others = _others(moved, 0)
    if not still:
        others = emit("Transpose", others, tuple(order.index(a) for a in range(rank)))
    return emit("Mul", others, repeat(dout, x, axis, kept))


def _others(x: Any, axis: int) -> Any:
    return emit("Mul", emit("CumProd", x, axis, True, False), emit("CumProd", x, axis, True, True))
