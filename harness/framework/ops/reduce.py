"""Shared parts of reductions: axes and shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from harness import dtypes
from harness.dtypes import DType
from harness.errors import SettingTypeError, UnsupportedError
from harness.framework.ops.base import Call, Operator
from harness.framework.ops.elementwise import check_kind
from harness.framework.ops.expansion import cast
from harness.framework.tensor import Tensor, is_eager
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec


def axes_of(axis: Any) -> tuple[int, ...]:
    """The tuple of axes a reduction shows: empty for all of them. Tensors of whole numbers name axes by their values.

    Raises ``TraceError`` for a tensor whose values are known only when the graph runs.
    """
    if isinstance(axis, Tensor):
        if axis.dtype.kind not in "iu":
            raise SettingTypeError(f"axes must be ints, got {axis!r}")
        return tuple(axis.asnumpy().ravel().tolist())
    axes = () if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
    if any(isinstance(a, (float, str, Tensor)) and not is_whole(a) for a in axes):
        raise SettingTypeError(f"axes must be ints, got {axis!r}")
    return tuple(int(a) if isinstance(a, Tensor) and is_eager() else a for a in axes)


def is_whole(axis: Any) -> bool:
    """Whether it is an int, or a tensor without dimensions of one."""
    return isinstance(axis, int) or (isinstance(axis, Tensor) and not axis.shape and axis.dtype.kind in "iu")


def normal_axes(call: Call, axis: Any, rank: int) -> tuple[int, ...]:
    """``axis`` (None, a number, or a sequence) as sorted axes from 0; nothing given means every axis.

    Raises ``ShapeError`` through ``call.fail`` for an axis out of range or given twice.
    """
    given = axes_of(axis)
    for a in given:
        if not -max(rank, 1) <= a < max(rank, 1):
            raise call.fail(f"axis {a} is out of range for {rank} dimensions")
    axes = sorted({a % rank for a in given}) if rank else []
    if rank and len(axes) != len(given):
        raise call.fail(f"axes {list(given)} name one axis twice")
    return tuple(axes) if given else tuple(range(rank))


def reduced(shape: Sequence[int], axes: Sequence[int], keep: bool) -> tuple[int, ...]:
    """``shape`` after reducing over ``axes``; they stay with length 1 if ``keep``."""
    if keep:
        return tuple(1 if i in axes else n for i, n in enumerate(shape))
    return tuple(n for i, n in enumerate(shape) if i not in axes)


def is_all(axis: Any) -> bool:
    """Whether ``axis`` asks for every axis by naming none."""
    return axis is None or (isinstance(axis, (tuple, list)) and not axis)


class Reduction(Operator):
    """Arguments: tensor, axes, keep_dims (and what a subclass adds).

    Class attributes:
        accepts: kinds of dtype it takes.
        result: dtype of the result, None for that of the argument.
    """

    tensors = (0,)
    accepts: ClassVar[str] = "iufc"
    result: ClassVar[DType | None] = None

    def skips(self, call: Call) -> bool:
        """Whether no axes mean no reduction."""
        return False

    def axes(self, call: Call, given: Any = None) -> tuple[int, ...]:
        """Axes to reduce, from 0; if an operator built the axes, ``given`` is its result."""
        if call.values[1] is None and given is not None:
            return normal_axes(call, given.tolist(), len(call.shape(0)))
        if is_all(call.values[1]) and self.skips(call):
            return ()
        return normal_axes(call, call.values[1], len(call.shape(0)))

    def infer(self, call: Call) -> Spec:
        check_kind(call, self.accepts, 0)
        x = call.tensor(0)
        return TensorSpec(self.result or x.dtype, reduced(x.shape, self.axes(call), bool(call.values[2])))


def total_dtype(given: DType) -> DType:
    """The dtype of a sum or a product of all kinds of numbers: Int64 of integers and bools, but UInt16, UInt32 and
    UInt64 keep theirs (measured)."""
    return dtypes.int64 if given.kind in "bi" or given is dtypes.uint8 else given


def kept_shape(x: Any, axis: Any) -> tuple[int, ...]:
    """Shape of ``x`` with the axes reduced over ``axis`` as length 1."""
    rank = len(x.shape)
    axes = {a % rank for a in axes_of(axis)} or set(range(rank))
    return tuple(1 if i in axes else n for i, n in enumerate(x.shape))


def keep(value: Any, x: Any, axis: Any, kept: bool) -> Any:
    """A reduction's result (or its gradient) with the reduced axes as length 1, by a ``Reshape`` if they are gone."""
    return value if kept or not len(x.shape) else emit("Reshape", value, kept_shape(x, axis))


def repeat(gradient: Any, x: Any, axis: Any, kept: bool) -> Any:
    """A sum's gradient: repeated along the reduced axes (``Tile``) to the shape of ``x``, in its dtype.

    Raises ``UnsupportedError`` if the length of a reduced axis is known only when the graph runs.
    """
    if not len(x.shape):
        return cast(gradient, x.dtype)
    times = tuple(n if k == 1 and n != 1 else 1 for k, n in zip(kept_shape(x, axis), x.shape, strict=True))
    if -1 in times:
        shape = f"{x.dtype.name}{list(x.shape)}"
        raise UnsupportedError(
            f"the gradient of a sum over {shape} in a graph is not supported: -1 is known only when it runs"
        )
    gradient = emit("Tile", keep(gradient, x, axis, kept), times)
    return cast(gradient, x.dtype)
