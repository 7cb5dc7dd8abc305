"""UniqueConsecutive: each run of equal values once, the place of each element's run, and the lengths of runs."""

from __future__ import annotations

import numpy as np

from harness import dtypes
from harness.framework.ops.base import Array, Call, Operator, operator
from harness.graph import Spec, TensorSpec, TupleSpec


@operator
class UniqueConsecutive(Operator):
    """x, whether places and lengths are wanted, and the axis, or None for all elements in order: then those not wanted
    are without dimensions."""

    name = "UniqueConsecutive"
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        x, (_, inverse, counts, axis) = call.tensor(0).tensor, call.values
        rank = len(x.shape)
        if axis is not None and not -max(rank, 1) <= axis < max(rank, 1):
            raise call.fail(f"axis {axis} does not exist")
        shape = (-1,) if axis is None else tuple(-1 if k == axis % rank else n for k, n in enumerate(x.shape))
        places = (x.shape if inverse else ()) if axis is None else (x.shape[axis],)
        return TupleSpec(
            (
                TensorSpec(x.dtype, shape),
                TensorSpec(dtypes.int64, places),
                TensorSpec(dtypes.int64, () if axis is None and not counts else (-1,)),
            )
        )

    def kernel(self, call: Call, x: Array, inverse: bool, counts: bool, axis: int | None) -> tuple[Array, Array, Array]:
        rows = x.reshape(-1, 1) if axis is None else np.moveaxis(x, axis, 0).reshape(x.shape[axis], -1)
        starts = np.ones(len(rows), bool)
        starts[1:] = (rows[1:] != rows[:-1]).any(-1)
        first = np.flatnonzero(starts)
        found = x.reshape(-1)[first] if axis is None else np.take(x, first, axis)
        places = (np.cumsum(starts) - 1).reshape(x.shape if axis is None else -1)
        lengths = np.diff(np.append(first, len(rows)))
        none, every = np.zeros((), np.int64), axis is not None
        return found, places if inverse or every else none, lengths if counts or every else none
