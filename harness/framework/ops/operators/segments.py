"""UnsortedSegmentMax, -Min and -Prod; SegmentSum, -Mean, -Max, -Min and -Prod: what slices that share a number give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import ml_dtypes
import numpy as np

from harness import dtypes
from harness.errors import KernelError, UnsupportedError
from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.constants import ints
from harness.framework.ops.elementwise import check_kind
from harness.framework.ops.expansion import scalar
from harness.framework.tensor import Tensor
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec


def _full(like: Any, shape: Sequence[int], value: Any) -> Tensor:
    return Tensor(np.full(tuple(shape), value, like.dtype.numpy), like.dtype)


def _ends(dtype: Any) -> tuple[Any, Any]:
    """The least and the largest value of a dtype."""
    if dtype.kind == "f":
        top = ml_dtypes.finfo(dtype.numpy).max  # type: ignore[no-untyped-call]
        return -top, top
    ends = np.iinfo(dtype.numpy)
    return ends.min, ends.max


class _Unsorted(Operator):
    """x, segment numbers in the leading axes of x, and how many segments there are; negative numbers drop out."""

    functional = False
    tensors = (0, 1, 2)
    #: what two slices of a segment give
    change: ClassVar[Any]

    def infer(self, call: Call) -> Spec:
        x, ids, (count,) = call.shape(0), call.shape(1), ints(call, 2)
        if x[: len(ids)] != ids and -1 not in (*x, *ids):
            raise call.fail("the segment numbers must have the leading axes of the values")
        if call.dtype(1).kind not in "iu" or count < 1:
            raise call.fail("whole segment numbers and at least one segment are needed")
        return TensorSpec(call.dtype(0), (count, *x[len(ids) :]))

    def empty(self, call: Call) -> Any:
        """What a segment without slices gives."""
        raise NotImplementedError

    def kernel(self, call: Call, x: Array, ids: Array, _count: Any) -> Array:
        count, *rest = call.outputs()[0].shape
        if ids.size and ids.max() >= count:
            raise KernelError(f"{self.name}: segment number {ids.max()} of {count} segments")
        values = x if x.dtype.kind in "iu" else numerics.wide(x)
        out = np.full((count, *rest), self.empty(call), values.dtype)
        for at, row in zip(ids.reshape(-1), values.reshape(ids.size, *rest), strict=True):
            if at >= 0:
                out[at] = type(self).change(out[at], row)
        return out


def _kept(b: Backward) -> Any:
    """Whether the slice of each element belongs to a segment, in the shape of x."""
    x, ids, _ = b.inputs
    kept = emit("GreaterEqualScalar", ids, 0)
    extra = len(x.shape) - len(ids.shape)
    if extra:
        kept = emit("Reshape", kept, (*ids.shape, *[1] * extra))
    return emit("LogicalAnd", kept, Tensor(np.ones(tuple(x.shape), bool)))


def _taken(per_segment: Any, ids: Any) -> Any:
    at = emit("Maximum", ids, Tensor(np.zeros(ids.shape, ids.dtype.numpy)))
    return emit("Gather", per_segment, at, 0, 0, batch_dims=0)


class _Extreme(_Unsorted):
    def gradient(self, b: Backward) -> Sequence[Any]:
        x, ids, count = b.inputs
        kept, zeros = _kept(b), _full(x, x.shape, 0)
        chosen = emit("LogicalAnd", emit("Equal", x, emit("Select", kept, _taken(b.out, ids), zeros)), kept)
        number = emit("UnsortedSegmentSum", emit("Cast", chosen, x.dtype), ids, count)
        shares = emit("Select", kept, _taken(emit("RealDiv", b.dout, number), ids), zeros)
        return emit("Select", chosen, shares, zeros), None, None


@operator
class UnsortedSegmentMax(_Extreme):
    """The largest of each segment."""

    name = "UnsortedSegmentMax"
    change = staticmethod(np.maximum)

    def empty(self, call: Call) -> Any:
        return _ends(call.dtype(0))[0]


@operator
class UnsortedSegmentMin(_Extreme):
    """The smallest of each segment."""

    name = "UnsortedSegmentMin"
    change = staticmethod(np.minimum)

    def empty(self, call: Call) -> Any:
        return _ends(call.dtype(0))[1]


@operator
class UnsortedSegmentProd(_Unsorted):
    """The product of each segment."""

    name = "UnsortedSegmentProd"
    change = staticmethod(np.multiply)

    def empty(self, call: Call) -> Any:
        return 1

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, ids, count = b.inputs
        kept = _kept(b)
        nothing = emit("Equal", x, scalar(0, x.dtype))
        zeros = emit("UnsortedSegmentSum", emit("Cast", nothing, dtypes.int32), ids, count)
        several = emit("Greater", zeros, scalar(1, dtypes.int32))
        dout = emit("Select", several, _full(x, b.dout.shape, 0), b.dout)
        taken = emit("Select", kept, _taken(dout, ids), _full(x, x.shape, 0))
        others = emit("Select", nothing, _full(x, x.shape, 1), x)
        names = {"output_names": ["y"], "input_names": ["x", "segment_ids", "num_segments"]}
        without = _taken(emit(self.name, others, ids, count, **names), ids)  # type: ignore[arg-type]
        quotient = emit("RealDiv", _taken(b.out, ids), x)
        return emit("Mul", taken, emit("Select", nothing, without, quotient)), None, None


class _Sorted(Operator):
    """x and segment numbers in rising order, one for each slice along the first axis."""

    functional = False
    tensors = (0, 1)
    change: ClassVar[Any] = staticmethod(np.add)
    #: what a segment begins with, and what one without slices gives
    start: ClassVar[Any] = 0

    def infer(self, call: Call) -> Spec:
        check_kind(call, "iuf", 0)
        check_kind(call, "i", 1)
        ids = call.values[1]
        if not call.shape(0) or len(call.shape(1)) != 1 or call.shape(0)[:1] != call.shape(1):
            raise call.fail("one segment number for each slice along the first axis is needed")
        if ids is None:
            raise UnsupportedError(f"{self.name} is supported for segment numbers known while the graph is made")
        if (np.diff(ids) < 0).any() or (ids.size and ids[0] < 0):
            raise call.fail("the segment numbers must rise from 0 on")
        return TensorSpec(call.dtype(0), (int(ids[-1]) + 1 if ids.size else 0, *call.shape(0)[1:]))

    def kernel(self, call: Call, x: Array, ids: Array) -> Array:
        count, *rest = call.outputs()[0].shape
        values = x if x.dtype.kind in "iu" else numerics.wide(x)
        out, begun = np.full((count, *rest), self.start, values.dtype), np.zeros(count, bool)
        for at, row in zip(ids, values, strict=True):
            out[at] = type(self).change(out[at], row) if begun[at] else row
            begun[at] = True
        return out


_SORTED: dict[str, Any] = {
    "output_names": ("output",), "input_names": ("input_x", "segment_ids"), "max_length": 1000000,
}  # fmt: skip


def _spread(per_segment: Any, ids: Any) -> Any:
    return emit("Gather", per_segment, ids, 0, 0, batch_dims=0)


@operator
class SegmentSum(_Sorted):
    """The sum of each segment."""

    name = "SegmentSum"

    def gradient(self, b: Backward) -> Sequence[Any]:
        return _spread(b.dout, b.inputs[1]), None


class _SortedExtreme(_Sorted):
    def gradient(self, b: Backward) -> Sequence[Any]:
        x, ids = b.inputs
        chosen = emit("Equal", x, _spread(b.out, ids))
        number = emit("SegmentSum", emit("Cast", chosen, x.dtype), ids, **_SORTED)
        shares = _spread(emit("Div", b.dout, number), ids)
        return emit("Select", chosen, shares, _full(x, x.shape, 0)), None


@operator
class SegmentMax(_SortedExtreme):
    """The largest of each segment."""

    name = "SegmentMax"
    change = staticmethod(np.maximum)


@operator
class SegmentMin(_SortedExtreme):
    """The smallest of each segment."""

    name = "SegmentMin"
    change = staticmethod(np.minimum)
