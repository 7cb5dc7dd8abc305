"""CTCGreedyDecoder: the labels of the likeliest class at each time."""

from __future__ import annotations

import numpy as np

from harness import dtypes
from harness.errors import DtypeError, KernelError
from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Call, Operator, operator
from harness.graph import Spec, TensorSpec, TupleSpec


@operator
class CTCGreedyDecoder(Operator):
    """scores (time, batch, classes), lengths (batch,) Int32: the places (n, 2) and the values (n,) of the labels, the
    shape (2,) of the table they are in, all Int64, and the negated sums of the scores (batch, 1). The last class is the
    blank. Attribute ``merge_repeated``: of equal labels in a row one is kept."""

    name = "CTCGreedyDecoder"
    functional = False
    tensors = (0, 1)

    def infer(self, call: Call) -> Spec:
        if call.dtype(0) not in (dtypes.float32, dtypes.float64) or call.dtype(1) is not dtypes.int32:
            raise DtypeError(
                f"CTCGreedyDecoder takes scores of Float32 or Float64 and lengths of Int32, got {call.dtype(0)} and "
                f"{call.dtype(1)}"
            )
        if len(call.shape(0)) != 3 or call.shape(1) != call.shape(0)[1:2]:
            raise call.fail("scores (time, batch, classes) and lengths (batch,) are needed")
        shapes = ((-1, 2), (-1,), (2,))
        scores = TensorSpec(call.dtype(0), (call.shape(0)[1], 1))
        return TupleSpec((*(TensorSpec(dtypes.int64, shape) for shape in shapes), scores))

    def kernel(self, call: Call, x: Array, lengths: Array) -> tuple[Array, ...]:
        if lengths.size and not 0 <= int(lengths.min()) <= int(lengths.max()) <= len(x):
            raise KernelError(f"CTCGreedyDecoder: lengths must lie in 0 to {len(x)}")
        best, blank = x.argmax(-1), x.shape[-1] - 1
        places, values, widest = [], [], 0
        sums = np.zeros((x.shape[1], 1))
        for row, length in enumerate(lengths):
            path = best[:length, row]
            sums[row] = -numerics.total(numerics.wide(x[np.arange(length), row, path]), 0)
            kept = path != blank
            if call.attrs["merge_repeated"]:
                kept[1:] &= path[1:] != path[:-1]
            labels = path[kept]
            places += [(row, at) for at in range(len(labels))]
            values += labels.tolist()
            widest = max(widest, len(labels))
        shape = np.array([x.shape[1], widest])
        return np.array(places, np.int64).reshape(-1, 2), np.array(values, np.int64), shape, sums
