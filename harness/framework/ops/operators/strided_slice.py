"""StridedSlice: Python's slices with steps, single positions and new axes; and its gradient.

The five masks are read bit by bit, bit ``i`` for entry ``i`` of begin, end and strides: begin and end masks mean "from
the start" and "to the end", a shrink bit takes the single position ``begin`` and drops the axis, a new-axis bit adds an
axis, an ellipsis bit stands for all axes not named.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.constants import int_tensor, ints
from harness.framework.ops.operators.slice import constant
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec


def index_of(begin: Iterable[int], end: Iterable[int], strides: Iterable[int], masks: Sequence[int]) -> tuple[Any, ...]:
    """The numpy index of a strided slice; ``masks``: begin, end, ellipsis, new axis, shrink axis."""
    begin_mask, end_mask, ellipsis_mask, new_mask, shrink_mask = masks
    index: list[Any] = []
    for i, (first, last, step) in enumerate(zip(begin, end, strides, strict=True)):
        bit = 1 << i
        if ellipsis_mask & bit:
            index.append(Ellipsis)
        elif new_mask & bit:
            index.append(None)
        elif shrink_mask & bit:
            index.append(int(first))
        else:
            start = None if begin_mask & bit else int(first)
            index.append(slice(start, None if end_mask & bit else int(last), int(step)))
    return tuple(index)


def sliced_shape(call: Call, shape: tuple[int, ...], index: tuple[Any, ...]) -> tuple[int, ...]:
    """Shape of ``x[index]``; a sliced dynamic axis stays dynamic.

    Raises ``ShapeError`` (through ``call.fail``) for an index that does not fit.
    """
    #: a length no real axis has, so that a dynamic axis can be told in the result
    unknown = (1 << 31) - 1
    probe = np.broadcast_to(np.empty((), np.int8), tuple(unknown if n == -1 else n for n in shape))
    for part in index:
        if isinstance(part, slice) and part.step == 0:
            raise call.fail("strides must not be 0")
    try:
        taken: tuple[int, ...] = probe[index].shape
    except (IndexError, ValueError) as error:
        raise call.fail(str(error)) from None
    if -1 not in shape:
        return taken
    return tuple(-1 if n > 1 << 20 else n for n in taken)


@operator
class StridedSlice(Operator):
    """x, begin, end, strides, begin mask, end mask, ellipsis mask, new axis mask, shrink axis mask."""

    name = "StridedSlice"
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        begin, end, strides = ints(call, 1), ints(call, 2), ints(call, 3)
        if not len(begin) == len(end) == len(strides):
            raise call.fail("begin, end and strides must be equally long")
        index = index_of(begin, end, strides, [int(m) for m in call.values[4:9]])
        return TensorSpec(call.dtype(0), sliced_shape(call, call.shape(0), index))

    def kernel(self, call: Call, x: Array, begin: Any, end: Any, strides: Any, *masks: int) -> Array:
        return np.asarray(x[index_of(begin, end, strides, masks)])

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, begin, end, strides, begin_mask, end_mask, ellipsis_mask, new_mask, shrink_mask = b.inputs
        attrs = {
            "new_axis_mask": new_mask, "shrink_axis_mask": shrink_mask, "end_mask": end_mask,
            "input_names": ("dy", "shapex", "begin", "end", "strides"), "output_names": ("output",),
            "begin_mask": begin_mask, "ellipsis_mask": ellipsis_mask,
        }  # fmt: skip
        bounds = [int_tensor(v) for v in (x.shape, begin, end, strides)]
        return emit("StridedSliceGrad", b.dout, *bounds, **attrs), *[None] * 8


@operator
class StridedSliceGrad(Operator):
    """Zeros of shape argument 1, with argument 0 where the slice was taken."""

    name = "StridedSliceGrad"
    functional = False

    def infer(self, call: Call) -> Spec:
        return TensorSpec(call.dtype(0), ints(call, 1))

    def kernel(self, call: Call, dout: Array, _shape: Array, begin: Array, end: Array, strides: Array) -> Array:
        out = np.zeros(call.outputs()[0].shape, dout.dtype)
        masks = [int(call.attrs[f"{m}_mask"]) for m in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")]
        out[index_of(begin, end, strides, masks)] = dout
        return out

    def gradient(self, b: Backward) -> Sequence[Any]:
        bounds = [constant(t) for t in b.inputs[2:5]]
        masks = [b.attrs[f"{m}_mask"] for m in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")]
        return emit("StridedSlice", b.dout, *bounds, *masks), None, None, None, None
