"""InplaceAdd, InplaceSub and InplaceUpdateV2: a copy of a tensor with some of its rows changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.errors import DtypeError, OperandError
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.constants import ints
from harness.graph import Spec


def _rows(call: Call, rows: Any, v: int) -> tuple[int, ...]:
    """The numbers of rows; errors unless argument ``v`` has as many, like those of argument 0."""
    chosen = tuple(np.atleast_1d(rows).tolist())
    x, given = call.tensor(0), call.tensor(v)
    if x.dtype is not given.dtype:
        raise DtypeError(f"{call.op} takes tensors of one dtype, got {x.dtype} and {given.dtype}")
    if not x.shape or given.shape != (len(chosen), *x.shape[1:]):
        raise call.fail(f"{len(chosen)} rows like those of the first are needed")
    if any(not 0 <= row < x.shape[0] for row in chosen):
        raise OperandError(f"{call.op}: there are no rows {list(chosen)} in {list(x.shape)}")
    return chosen


@operator
class InplaceAdd(Operator):
    """x (n, ...), v (k, ...): x with v added to the rows of the attribute ``indices``."""

    name = "InplaceAdd"
    functional = False
    tensors = (0, 1)
    sign = 1

    def infer(self, call: Call) -> Spec:
        _rows(call, call.attrs["indices"], 1)
        return call.tensor(0).tensor

    def kernel(self, call: Call, x: Array, v: Array) -> Array:
        out = x.copy()
        for row, added in zip(np.atleast_1d(call.attrs["indices"]), v, strict=True):
            out[row] = out[row] + added if self.sign > 0 else out[row] - added
        return out

    def gradient(self, b: Backward) -> Sequence[Any]:
        return None, None  # none flows through, as in MindSpore (measured)


@operator
class InplaceSub(InplaceAdd):
    """x (n, ...), v (k, ...): x with v taken from the rows of the attribute ``indices``."""

    name = "InplaceSub"
    sign = -1


@operator
class InplaceUpdateV2(Operator):
    """x (n, ...), rows, v (k, ...): x with v in place of those rows."""

    name = "InplaceUpdateV2"
    functional = False
    tensors = (0, 1, 2)

    def infer(self, call: Call) -> Spec:
        _rows(call, ints(call, 1) if call.shape(1) else call.values[1], 2)
        return call.tensor(0).tensor

    def kernel(self, call: Call, x: Array, rows: Array, v: Array) -> Array:
        out = x.copy()
        out[np.atleast_1d(rows)] = v
        return out

    def gradient(self, b: Backward) -> Sequence[Any]:
        return None, None, None  # none flows through, as in MindSpore (measured)
