"""FractionalMaxPoolWithFixedKsize and FractionalMaxPool3DWithFixedKsize: the largest of windows of one size whose
distances a random number settles; and the gradient of the second."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, ClassVar

import numpy as np

from harness import dtypes
from harness.errors import DtypeError
from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.elementwise import check_kind
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec, TupleSpec


def _starts(sample: Any, given: int, wanted: int, window: int) -> list[int]:
    """Where the windows along an axis begin; the last one ends with the axis."""
    last = given - window
    if wanted == 1:
        return [last]
    step = np.float32(last) / np.float32(wanted - 1)
    first = int(np.float32(sample) * step)
    return [int((np.float32(at) + np.float32(sample)) * step) - first for at in range(wanted - 1)] + [last]


class _Fractional(Operator):
    """x ([n,] c, *sides), samples (n, c, axes) in [0, 1): the largest of each window, and their places (Int64).
    Attributes ``ksize`` and ``output_shape``."""

    functional = False
    tensors = (0, 1)
    axes: ClassVar[int]
    #: which of the samples each axis takes
    order: ClassVar[tuple[int, ...]]
    places: ClassVar[dtypes.DType] = dtypes.int64

    def infer(self, call: Call) -> Spec:
        check_kind(call, "iuf", 0)
        check_kind(call, "f", 1)
        x, axes = call.shape(0), self.axes
        window, wanted = tuple(call.attrs["ksize"]), tuple(call.attrs["output_shape"])
        if len(x) not in (axes + 1, axes + 2) or len(call.shape(1)) != 3 or call.shape(1)[-1] != axes:
            raise call.fail(f"x of {axes + 1} or {axes + 2} axes and samples (n, c, {axes}) are needed")
        if any(w + k - 1 > n for n, w, k in zip(x[-axes:], wanted, window, strict=True)):
            raise call.fail(f"windows of {list(window)} do not fit {list(wanted)} times")
        shape = (*x[:-axes], *wanted)
        return TupleSpec((TensorSpec(call.dtype(0), shape), TensorSpec(self.places, shape)))

    def kernel(self, call: Call, x: Array, samples: Array) -> tuple[Array, Array]:
        window, wanted = call.attrs["ksize"], call.attrs["output_shape"]
        sides = x.shape[-self.axes :]
        flat = x.reshape(-1, *sides)
        drawn = samples.reshape(-1, self.axes)
        out = np.empty((len(flat), *wanted), x.dtype)
        found = np.empty(out.shape, np.int64)
        numbers = np.arange(int(np.prod(sides))).reshape(sides)
        for at, plane in enumerate(flat):
            settings = zip(self.order, sides, wanted, window, strict=True)
            starts = [_starts(drawn[at, which], n, m, k) for which, n, m, k in settings]
            for spot in product(*(range(m) for m in wanted)):
                begins = [starts[axis][p] for axis, p in enumerate(spot)]
                cut = tuple(slice(b, b + k) for b, k in zip(begins, window, strict=True))
                values = plane[cut].reshape(-1)
                best = int(values.argmax())
                out[(at, *spot)], found[(at, *spot)] = values[best], numbers[cut].reshape(-1)[best]
        shape = (*x.shape[: -self.axes], *wanted)
        return out.reshape(shape), found.reshape(shape)


@operator
class FractionalMaxPoolWithFixedKsize(_Fractional):
    """Of pictures."""

    name = "FractionalMaxPoolWithFixedKsize"
    axes = 2
    order = (1, 0)

    def gradient(self, b: Backward) -> Sequence[Any]:
        raise DtypeError(f"{self.name}: MindSpore's CPU refuses its gradient, too")


@operator
class FractionalMaxPool3DWithFixedKsize(_Fractional):
    """Of volumes."""

    name = "FractionalMaxPool3DWithFixedKsize"
    axes = 3
    order = (0, 1, 2)

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, samples = b.inputs
        names: dict[str, Any] = {"input_names": ("origin_input", "out_backprop", "argmax"), "output_names": ("y",)}
        dx = emit("FractionalMaxPool3DGradWithFixedKsize", x, b.dout[0], b.out[1], **names, format=b.attrs["format"])
        return dx, emit("ZerosLike", samples)


@operator
class FractionalMaxPool3DGradWithFixedKsize(Operator):
    """x, dout, places: dout where it was taken from."""

    name = "FractionalMaxPool3DGradWithFixedKsize"
    functional = False
    tensors = (0, 1, 2)

    def infer(self, call: Call) -> Spec:
        return TensorSpec(call.dtype(1), call.shape(0))

    def kernel(self, call: Call, x: Array, dout: Array, found: Array) -> Array:
        out = np.zeros((int(np.prod(x.shape[:-3])), int(np.prod(x.shape[-3:]))))
        rows = np.arange(len(out))[:, None]
        np.add.at(out, (rows, found.reshape(len(out), -1)), numerics.wide(dout).reshape(len(out), -1))
        return out.reshape(x.shape)
