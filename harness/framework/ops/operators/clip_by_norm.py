"""ClipByNorm: a tensor made shorter where its norm is above a bound."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.broadcast import reduce_to
from harness.framework.ops.elementwise import check_kind
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec


def _axes(axis: Any, rank: int) -> tuple[int, ...]:
    given = (axis,) if isinstance(axis, int) else tuple(axis)
    return tuple(a % rank for a in given) if given else tuple(range(rank))


@operator
class ClipByNorm(Operator):
    """x and a bound that broadcasts: bound * x / max(norm over attribute ``axis``, bound)."""

    name = "ClipByNorm"
    functional = False
    tensors = (0, 1)

    def infer(self, call: Call) -> Spec:
        check_kind(call, "f", 0, 1)
        return TensorSpec(call.dtype(0), call.shape(0))

    def kernel(self, call: Call, x: Array, bound: Array) -> Array:
        values, most = numerics.wide(x), numerics.wide(bound)
        norm = np.sqrt(numerics.total(values * values, _axes(call.attrs["axis"], x.ndim), keepdims=True))
        return np.asarray(values * most / np.maximum(norm, most))

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, bound = b.inputs
        axes = _axes(b.attrs["axis"], len(x.shape))
        given = axes if not isinstance(b.attrs["axis"], tuple) or b.attrs["axis"] else ()
        norm = emit("Sqrt", emit("ReduceSum", emit("Square", x), given, True, False))
        over = emit("Maximum", norm, bound)
        share = emit("Div", b.dout, over)
        dx = emit("Mul", bound, share)
        dover = emit("Neg", emit("Mul", share, b.out))
        back = emit("SumExt", dover, axes, True, None) if over.shape == norm.shape else reduce_to(dover, over)
        parts = emit("MaximumGrad", norm, bound, back, True, True)
        through = emit("Tile", emit("SqrtGrad", norm, reduce_to(parts[0], norm)), _repeats(x, norm))
        dx = emit("Add", dx, emit("Muls", emit("Mul", through, x), 2.0))
        dbound = (
            emit("Add", reduce_to(emit("Mul", x, share), bound), reduce_to(parts[1], bound)) if b.needs[1] else None
        )
        return dx, dbound


def _repeats(x: Any, norm: Any) -> tuple[int, ...]:
    return tuple(n if m == 1 else 1 for n, m in zip(x.shape, norm.shape, strict=True))
