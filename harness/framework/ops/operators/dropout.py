"""Dropout and its gradient."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod
from typing import Any, ClassVar

import numpy as np

from harness import dtypes
from harness.errors import DtypeError
from harness.framework.ops import numerics, random
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.elementwise import Binary, as_result, check_kind
from harness.framework.tensor import call as emit
from harness.graph import Spec, TupleSpec


def scale(dtype: dtypes.DType, keep: float) -> float:
    """What kept elements are multiplied by: 1 / keep, rounded to float32 unless they are Float16 (measured)."""
    return float(np.float32(1) / np.float32(keep)) if dtype in (dtypes.float32, dtypes.float64) else 1 / keep


def kept(call: Call, seeds: tuple[int, int], shape: tuple[int, ...], keep: float) -> Array:
    """Which elements of ``shape`` this run of the node keeps (Bool)."""
    draw = partial(random.Minstd.uniform, count=prod(shape))
    return random.drawn(call, random.Minstd, random.scrambled(*seeds), draw).reshape(shape) < np.float32(keep)


@operator
class Dropout(Operator):
    """Arguments: tensor, keep_prob, seed0, seed1. Gives the tensor with elements dropped, and the mask (1 = kept).

    Kept elements are multiplied by ``scale``.
    """

    name = "Dropout"
    tensors = (0,)
    random: ClassVar[bool] = True

    def infer(self, call: Call) -> Spec:
        check_kind(call, "f", 0)
        keep = call.values[1]
        if not 0 < keep <= 1:
            raise DtypeError(f"Dropout: keep_prob must be in (0, 1], got {keep}")
        x = call.tensor(0).tensor
        return TupleSpec((x, x))

    def kernel(self, call: Call, x: Array, keep: float, seed0: int, seed1: int) -> tuple[Array, Array]:
        mask = kept(call, (seed0, seed1), x.shape, keep)
        return numerics.wide(x) * mask * scale(call.dtype(0), keep), mask.astype(np.float64)

    def gradient(self, b: Backward) -> Sequence[Any]:
        return emit("DropoutGrad", b.dout[0], b.out[1], keep_prob=b.inputs[1]), None, None, None


@operator
class DropoutGrad(Binary):
    """Arguments: dout, mask; attribute ``keep_prob``."""

    name = "DropoutGrad"
    functional = False
    same_dtype = ()

    def kernel(self, call: Call, dout: Array, mask: Array) -> Any:
        dout, mask = as_result(call, dout, mask)
        return dout * mask * scale(call.dtype(0), call.attrs["keep_prob"])

    def gradient(self, b: Backward) -> Sequence[Any]:
        return emit("DropoutGrad", b.dout, b.inputs[1], keep_prob=b.attrs["keep_prob"]), None
