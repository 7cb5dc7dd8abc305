"""ReduceMax and ReduceMin, and Max and Min over all elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, operator
from harness.framework.ops.elementwise import is_wide
from harness.framework.ops.expansion import Composite
from harness.framework.ops.operators.inplace import zeros
from harness.framework.ops.reduce import Reduction, keep, reduced
from harness.framework.tensor import call as emit
from harness.graph import Spec


class _Extreme(Reduction):
    """The extreme over axes; NaN counts only where it comes first (measured).

    Its gradient is shared among equal elements.
    """

    accepts = "biuf"
    function: ClassVar[np.ufunc]

    def kernel(self, call: Call, x: Array, _axes: Any, keep: bool) -> Array:
        axes = self.axes(call)
        if not is_wide(x) or not axes:
            return np.asarray(self.function.reduce(x, axis=axes, keepdims=keep))
        x = numerics.wide(x)
        first = x[tuple(slice(0, 1) if a in axes else slice(None) for a in range(x.ndim))]
        out = np.where(np.isnan(first), np.nan, self.function.reduce(x, axis=axes, keepdims=True))
        return out if keep else out.reshape(reduced(x.shape, axes, False))

    def infer(self, call: Call) -> Spec:
        spec = super().infer(call)
        if call.tensor(0).size == 0:
            raise call.fail("an empty tensor has no extreme")
        return spec

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, axis, kept = b.inputs
        dout, out = keep(b.dout, x, axis, kept), keep(b.out, x, axis, kept)
        chosen = emit("Cast", emit("Equal", out, x), b.dout.dtype)
        share = emit("Div", dout, emit("SumExt", chosen, axis, True, None))
        return emit("Mul", share, chosen), None, None


@operator
class ReduceMax(_Extreme):
    """The largest."""

    name = "ReduceMax"
    function = np.fmax


@operator
class ReduceMin(_Extreme):
    """The smallest."""

    name = "ReduceMin"
    function = np.fmin


class _Whole(Composite):
    """The extreme of all elements."""

    tensors = (0,)
    reduction: ClassVar[str]

    def expand(self, x: Any) -> Any:
        return emit(self.reduction, x, tuple(range(len(x.shape))), False)

    def gradient(self, b: Backward) -> Sequence[Any]:
        """The branch MindSpore takes for results that are not NaN; the real graph chooses at run time."""
        x = b.inputs[0]
        chosen = emit("Equal", x, b.out)
        count = emit("Cast", emit("SumExt", chosen, (), False, None), b.dout.dtype)
        start = zeros(tuple(x.shape), x.dtype)
        return (emit("InplaceMaskedFillTensor", start, chosen, emit("Div", b.dout, count)),)


@operator
class Max(_Whole):
    """The largest."""

    name = "Max"
    reduction = "ReduceMax"


@operator
class Min(_Whole):
    """The smallest."""

    name = "Min"
    reduction = "ReduceMin"
