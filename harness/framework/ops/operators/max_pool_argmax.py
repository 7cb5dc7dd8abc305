"""Maximum pooling of images that also gives the place of each maximum; gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from harness import dtypes
from harness.dtypes import DType
from harness.errors import UnsupportedError
from harness.framework.ops import numerics, window
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.operators.max_pool import geometry
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec, TupleSpec

Geometry = tuple[window.Pair, window.Pair, window.Pads, window.Pair]


class Pool(Operator):
    """Windows over the last two axes."""

    functional = False
    tensors = (0,)
    #: of the places
    places: ClassVar[DType] = dtypes.int64

    def geometry(self, call: Call) -> Geometry:
        """Kernel, stride, padding and dilation."""
        raise NotImplementedError

    def infer(self, call: Call) -> Spec:
        x = call.tensor(0)
        kernel, stride, pads, dilation = self.geometry(call)
        out = window.out_size((x.shape[-2], x.shape[-1]), kernel, stride, pads, dilation)
        if min(out) < 1:
            raise call.fail(f"a window of {list(kernel)} does not fit")
        shape = (*x.shape[:-2], *out)
        return TupleSpec((TensorSpec(x.dtype, shape), TensorSpec(self.places, shape)))

    def kernel(self, call: Call, x: Array) -> tuple[Array, Array]:
        kernel, stride, pads, dilation = self.geometry(call)
        view = window.windows(window.pad(numerics.wide(x), pads, -np.inf), kernel, stride, dilation)
        flat = view.reshape(*view.shape[:-4], kernel[0] * kernel[1], *view.shape[-2:])
        best = flat.argmax(axis=-3)
        rows = np.arange(view.shape[-2])[:, None] * stride[0] - pads[0] + best // kernel[1] * dilation[0]
        columns = np.arange(view.shape[-1]) * stride[1] - pads[2] + best % kernel[1] * dilation[1]
        return flat.max(axis=-3), rows * x.shape[-1] + columns


class _PoolGrad(Operator):
    """x, dout, places: dout added at each maximum's place."""

    functional = False

    def infer(self, call: Call) -> Spec:
        return call.tensor(0).tensor

    def spread(self, x: Array, dout: Array, places: Array) -> Array:
        """dout added at the flat places of the last two axes."""
        lead = x.size // max(1, x.shape[-1] * x.shape[-2])
        out = np.zeros((lead, x.shape[-1] * x.shape[-2]))
        rows = np.arange(lead)[:, None]
        np.add.at(out, (rows, places.reshape(lead, -1)), numerics.wide(dout).reshape(lead, -1))
        return out.reshape(x.shape)


@operator
class MaxPoolWithArgmaxV2(Pool):
    """x (n, c, h, w): maxima, and their places in the flattened image."""

    name = "MaxPoolWithArgmaxV2"

    def geometry(self, call: Call) -> Geometry:
        pads, attrs = call.attrs["pads"][2:], call.attrs
        if attrs["ceil_mode"]:
            raise UnsupportedError("MaxPoolWithArgmaxV2 is not supported with ceil_mode")
        pairs = [(attrs[name][2], attrs[name][3]) for name in ("kernel_size", "strides", "dilation")]
        return pairs[0], pairs[1], (pads[0], pads[0], pads[1], pads[1]), pairs[2]

    def gradient(self, b: Backward) -> Sequence[Any]:
        attrs = {k: v for k, v in b.attrs.items() if k != "output_names"}
        names = {"input_names": ("x", "grad", "argmax"), "output_names": ("y",)}
        return (emit("MaxPoolGradWithArgmaxV2", b.inputs[0], b.dout[0], b.out[1], **attrs | names),)


@operator
class MaxPoolGradWithArgmaxV2(_PoolGrad):
    """Gradient of MaxPoolWithArgmaxV2."""

    name = "MaxPoolGradWithArgmaxV2"

    def kernel(self, call: Call, x: Array, dout: Array, places: Array) -> Array:
        return self.spread(x, dout, places)


@operator
class MaxPoolWithArgmax(Pool):
    """x (n, c, h, w): maxima, and their Int32 places among all elements of an entry of the batch (measured)."""

    name = "MaxPoolWithArgmax"
    places = dtypes.int32

    def geometry(self, call: Call) -> Geometry:
        return (*geometry(call, call.attrs), (1, 1))

    def kernel(self, call: Call, x: Array) -> tuple[Array, Array]:
        found, places = super().kernel(call, x)
        channels = np.arange(x.shape[1]).reshape(-1, 1, 1) * (x.shape[2] * x.shape[3])
        return found, places + channels

    def gradient(self, b: Backward) -> Sequence[Any]:
        names = {"input_names": ("x", "grad", "argmax"), "output_names": ("output",)}
        return (emit("MaxPoolGradWithArgmax", b.inputs[0], b.dout[0], b.out[1], **{**b.attrs, **names}),)


@operator
class MaxPoolGradWithArgmax(_PoolGrad):
    """Gradient of MaxPoolWithArgmax."""

    name = "MaxPoolGradWithArgmax"

    def kernel(self, call: Call, x: Array, dout: Array, places: Array) -> Array:
        return self.spread(x, dout, places % (x.shape[2] * x.shape[3]))
