"""Complex numbers: Complex, Real, Imag, Conj, Angle, ComplexAbs.

Source: MindSpore 2.10.0 CPU, measured: the gradient of a real number by a complex one is its derivative by the real
part, and i times that by the imaginary one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness import dtypes
from harness.dtypes import DType
from harness.errors import DtypeError
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.elementwise import broadcast_shapes, check_kind
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec

#: the dtype of each part of a complex dtype
PARTS: dict[DType, DType] = {dtypes.complex64: dtypes.float32, dtypes.complex128: dtypes.float64}
WHOLES: dict[DType, DType] = {part: whole for whole, part in PARTS.items()}


@operator
class Complex(Operator):
    """real + i * imag, of two tensors of one floating dtype."""

    name = "Complex"
    tensors = (0, 1)

    def infer(self, call: Call) -> Spec:
        part = call.dtype(0)
        if part not in WHOLES or call.dtype(1) is not part:
            raise DtypeError(f"Complex: the parts are {part} and {call.dtype(1)}; accepted: two of Float32 or Float64")
        return TensorSpec(WHOLES[part], broadcast_shapes(call, call.shape(0), call.shape(1)))

    def kernel(self, call: Call, real: Array, imag: Array) -> Array:
        whole = np.empty(call.outputs()[0].shape, call.outputs()[0].dtype.numpy)
        whole.real, whole.imag = real, imag
        return whole

    def gradient(self, b: Backward) -> Sequence[Any]:
        return emit("Real", b.dout), emit("Imag", b.dout)


class _Part(Operator):
    """A real number of each complex one; of a real tensor it is of its own dtype."""

    tensors = (0,)
    accepts = "biufc"

    def infer(self, call: Call) -> Spec:
        x = call.tensor(0).tensor
        check_kind(call, self.accepts, 0)
        return TensorSpec(PARTS.get(x.dtype, x.dtype), x.shape)


@operator
class Real(_Part):
    """The real part."""

    name = "Real"

    def kernel(self, call: Call, x: Array) -> Array:
        return x.real.copy()

    def gradient(self, b: Backward) -> Sequence[Any]:
        if b.inputs[0].dtype not in PARTS and b.inputs[0].dtype not in WHOLES:
            return (b.dout,)
        return (emit("Complex", b.dout, emit("ZerosLike", b.dout)),)  # complex even of a real tensor (measured)


@operator
class Imag(_Part):
    """The imaginary part; zeros of a real tensor."""

    name = "Imag"

    def kernel(self, call: Call, x: Array) -> Array:
        return np.imag(x).copy()

    def gradient(self, b: Backward) -> Sequence[Any]:
        zeros = emit("ZerosLike", b.dout)
        return (emit("Complex", zeros, b.dout) if b.inputs[0].dtype in PARTS else zeros,)


@operator
class Conj(_Part):
    """The number with the other sign of its imaginary part; a real tensor as it is."""

    name = "Conj"

    def infer(self, call: Call) -> Spec:
        return call.tensor(0).tensor

    def kernel(self, call: Call, x: Array) -> Array:
        return np.conjugate(x)

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (emit("Conj", b.dout) if b.dout.dtype.kind == "c" else b.dout,)


@operator
class Angle(_Part):
    """The angle to the positive real axis, in (-pi, pi]."""

    name = "Angle"
    accepts = "c"

    def kernel(self, call: Call, x: Array) -> Array:
        return np.angle(x.astype(np.complex128))

    def gradient(self, b: Backward) -> Sequence[Any]:
        real, imag = emit("Real", b.inputs[0]), emit("Imag", b.inputs[0])
        square = emit("Add", emit("Mul", real, real), emit("Mul", imag, imag))
        slope = emit("Div", b.dout, square)
        return (emit("Complex", emit("Neg", emit("Mul", slope, imag)), emit("Mul", slope, real)),)


@operator
class ComplexAbs(_Part):
    """The distance to 0."""

    name = "ComplexAbs"
    accepts = "c"

    def kernel(self, call: Call, x: Array) -> Array:
        return np.abs(x.astype(np.complex128))

    def gradient(self, b: Backward) -> Sequence[Any]:
        x = b.inputs[0]
        safe = emit("Maximum", b.out, emit("Cast", 1e-30, b.out.dtype))
        slope = emit("Div", b.dout, safe)
        return (emit("Complex", emit("Mul", slope, emit("Real", x)), emit("Mul", slope, emit("Imag", x))),)
