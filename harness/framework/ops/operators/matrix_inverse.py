"""MatrixInverse, MatrixDeterminant, LogMatrixDeterminant and MatrixPower, of stacks of square matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.errors import DtypeError
from harness.framework.ops import linear
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.elementwise import check_kind
from harness.framework.tensor import Tensor
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec, TupleSpec

#: attributes of the inverse that a gradient takes
_ADJOINT: dict[str, Any] = {"output_names": ("y",), "input_names": ("x",), "adjoint": True}


class _Square(Operator):
    """One stack of square matrices of real floating numbers."""

    functional = False
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        check_kind(call, "f", 0)
        shape = call.shape(0)
        if len(shape) < 2 or (shape[-1] != shape[-2] and -1 not in shape[-2:]):
            raise call.fail("square matrices are needed")
        return self.result(call.tensor(0).tensor)

    def result(self, x: TensorSpec) -> Spec:
        """Spec of the result."""
        return x


@operator
class MatrixInverse(_Square):
    """The inverses; attribute ``adjoint``: of the transposed matrices."""

    name = "MatrixInverse"

    def infer(self, call: Call) -> Spec:
        if call.dtype(0).name in ("Float16", "BFloat16"):
            raise DtypeError("MatrixInverse takes Float32 and Float64 tensors; cast the argument (ops.cast)")
        return super().infer(call)

    def kernel(self, call: Call, x: Array) -> Array:
        given = np.swapaxes(x, -1, -2) if call.attrs["adjoint"] else x
        least = float(np.finfo(x.dtype).eps) * x.shape[-1]
        return linear.each(lambda matrix: linear.inverse(matrix, least), given, x.shape[-2:])

    def gradient(self, b: Backward) -> Sequence[Any]:
        if len(b.out.shape) > 2:
            return (
                emit("Neg", emit("BatchMatMul", b.out, emit("BatchMatMul", b.dout, b.out, False, True), True, False)),
            )
        return (emit("Neg", emit("MatMul", b.out, emit("MatMul", b.dout, b.out, False, True), True, False)),)


def _spread(per_matrix: Any) -> Any:
    """One number for each matrix, with two more axes."""
    return emit("Reshape", per_matrix, (*per_matrix.shape, 1, 1))


@operator
class MatrixDeterminant(_Square):
    """The determinants."""

    name = "MatrixDeterminant"
    functional = True

    def result(self, x: TensorSpec) -> Spec:
        return TensorSpec(x.dtype, x.shape[:-2])

    def kernel(self, call: Call, x: Array) -> Array:
        return linear.each(lambda matrix: linear.product(linear.pivots(matrix)), x, ())

    def gradient(self, b: Backward) -> Sequence[Any]:
        factor = _spread(emit("Mul", b.dout, b.out))
        return (emit("Mul", factor, emit("MatrixInverse", b.inputs[0], **_ADJOINT)),)


@operator
class LogMatrixDeterminant(_Square):
    """Sign and logarithm of the size of the determinants."""

    name = "LogMatrixDeterminant"
    functional = True

    def result(self, x: TensorSpec) -> Spec:
        out = TensorSpec(x.dtype, x.shape[:-2])
        return TupleSpec((out, out))

    def kernel(self, call: Call, x: Array) -> tuple[Array, Array]:
        factors = linear.each(linear.pivots, x, x.shape[-1:])
        logarithms = np.zeros(x.shape[:-2], np.longdouble)
        for at in range(x.shape[-1]):
            logarithms = logarithms + np.log(np.abs(factors[..., at]))
        return np.prod(np.sign(factors), -1), logarithms

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (emit("Mul", _spread(b.dout[1]), emit("MatrixInverse", b.inputs[0], **_ADJOINT)),)


@operator
class MatrixPower(_Square):
    """Attribute ``n``: the whole power."""

    name = "MatrixPower"

    def kernel(self, call: Call, x: Array) -> Array:
        return linear.each(lambda matrix: linear.power(matrix, call.attrs["n"]), x, x.shape[-2:])

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, n = b.inputs[0], b.attrs["n"]

        def power(base: Any, exponent: int) -> Any:
            attrs: dict[str, Any] = {"output_names": ("y",), "n": exponent, "input_names": ("x",)}
            return emit("MatrixPower", base, **attrs)

        base = x if n >= 0 else power(x, -1)
        total: Any = Tensor(np.zeros(x.shape, x.dtype.numpy), x.dtype)
        for at in range(abs(n)):
            part = emit("BatchMatMul", power(base, at), b.dout, True, False) if at else b.dout
            total = emit("Add", total, emit("BatchMatMul", part, power(base, abs(n) - 1 - at), False, True))
        if n >= 0:
            return (total,)
        back = emit("BatchMatMul", total, base, False, True)
        return (emit("Neg", emit("BatchMatMul", base, back, True, False)),)
