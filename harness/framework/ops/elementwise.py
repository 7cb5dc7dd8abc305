"""Shared parts of elementwise operators: shape rules, and arithmetic in one wide dtype."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from harness import dtypes
from harness.dtypes import DType
from harness.errors import DtypeError
from harness.framework.ops import certified, numerics
from harness.framework.ops.base import Array, Call, Operator
from harness.framework.ops.eager import promote
from harness.framework.tensor import Tensor
from harness.graph import Spec, TensorSpec

#: kinds of dtype; a stronger one has the larger number
_KINDS = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}


def broadcast_shapes(call: Call, *shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape operands broadcast to; a dimension of -1 stays unknown unless another operand fixes it.

    Raises ``ShapeError`` (through ``call.fail``) if they do not broadcast.
    """
    rank = max(len(s) for s in shapes)
    out = []
    for column in zip(*((1,) * (rank - len(s)) + s for s in shapes), strict=True):
        fixed = {n for n in column if n not in (1, -1)}
        if len(fixed) > 1:
            raise call.fail(f"shapes {', '.join(str(list(s)) for s in shapes)} do not broadcast")
        out.append(fixed.pop() if fixed else -1 if -1 in column else 1)
    return tuple(out)


def is_wide(x: Array) -> bool:
    """Whether arithmetic on ``x`` is floating (float16, bfloat16, float32, float64, complex)."""
    return x.dtype.kind not in "iub"


def common(*arrays: Array) -> tuple[Array, ...]:
    """The operands in one dtype that holds each exactly: float64 (complex128) if one is floating, else integers."""
    if any(is_wide(a) for a in arrays):
        wide = tuple(numerics.wide(a) for a in arrays)
        return tuple(a.astype(np.result_type(*wide), copy=False) for a in wide)
    return tuple(a.astype(np.result_type(*arrays), copy=False) for a in arrays)


def as_result(call: Call, *arrays: Array) -> tuple[Array, ...]:
    """The operands ready for ``call.out``: integers in its dtype (so that they wrap as it does), others wide."""
    out = call.outputs()[0].dtype
    if out.kind in "iub":
        return tuple(a.astype(out.numpy, copy=False) for a in arrays)
    return common(*(numerics.wide(a) for a in arrays))


class Unary(Operator):
    """One tensor in, one like it out.

    Class attributes:
        accepts: kinds of dtype it takes (letters of ``DType.kind``).
        result: dtype of the result, None for that of the argument.
        of_integers: dtype of the result for integers, None for their own.
    """

    tensors = (0,)
    accepts: ClassVar[str] = "iufc"
    result: ClassVar[DType | None] = None
    of_integers: ClassVar[DType | None] = None

    def infer(self, call: Call) -> Spec:
        x = call.tensor(0).tensor
        check_kind(call, self.accepts, 0)
        own = self.of_integers or x.dtype if x.dtype.kind in "biu" else x.dtype
        return TensorSpec(self.result or own, x.shape)


class Floating(Unary):
    """A transcendental function of one floating tensor, evaluated in long double (complex128 for complex).

    Class attributes:
        steady: its float64 result is off by a few units in the last place at most, so it may settle narrow dtypes.
    """

    steady: ClassVar[bool] = False
    arguments: ClassVar[int | None] = 1
    accepts = "fc"
    of_integers: ClassVar[DType | None] = dtypes.float32

    @staticmethod
    def function(x: Array) -> Array:
        """The function, over float64, long double or complex arrays."""
        raise NotImplementedError

    def kernel(self, call: Call, x: Array, *_settings: Any) -> Array:
        if x.dtype.kind == "c":
            return self.function(x.astype(np.complex128))
        if self.steady:
            return certified.evaluated(self.function, call.outputs()[0].dtype, x)
        return numerics.widest(self.function, x)


class Binary(Operator):
    """Two tensors that broadcast.

    Class attributes:
        accepts: kinds of dtype it takes.
        result: dtype of the result, None for the operands' common one.
    """

    tensors: ClassVar[tuple[int, ...]] = (0, 1)
    same_dtype: ClassVar[tuple[int, ...]] = (0, 1)
    accepts: ClassVar[str] = "biufc"
    result: ClassVar[DType | None] = None

    def infer(self, call: Call) -> Spec:
        check_kind(call, self.accepts, 0, 1)
        dtype = self.result or common_dtype(call.tensor(0).tensor, call.tensor(1).tensor)
        return TensorSpec(dtype, broadcast_shapes(call, call.shape(0), call.shape(1)))


def common_dtype(*operands: Tensor | TensorSpec) -> DType:
    """The dtype of a result where no operand is cast (Mul, Div).

    Of operands of one kind (bool, whole, floating, complex), one without dimensions does not count beside one with
    dimensions (recorded: ``tests/data/ops/edges.json``).
    """
    ranked = [x.dtype for x in operands if x.shape]
    single = [x.dtype for x in operands if not x.shape]
    if not ranked or not single:
        return promote(ranked or single)
    strong, weak = promote(ranked), promote(single)
    return promote([strong, weak]) if _KINDS[weak.kind] > _KINDS[strong.kind] else strong


def check_kind(call: Call, accepts: str, *positions: int) -> None:
    """Raises ``DtypeError`` unless the arguments at ``positions`` are of the kinds accepted."""
    words = {"b": "bool", "i": "signed", "u": "unsigned", "f": "floating", "c": "complex"}
    for at in positions:
        if call.dtype(at).kind not in accepts:
            wanted = ", ".join(words[k] for k in accepts)
            raise DtypeError(f"{call.op}: argument {at} is {call.dtype(at)}; {wanted} tensors are accepted")
