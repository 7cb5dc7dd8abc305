"""RandomChoiceWithMask: places drawn among those where a mask holds."""

from __future__ import annotations

import numpy as np

from harness import dtypes
from harness.errors import DtypeError
from harness.framework.ops import random
from harness.framework.ops.base import Array, Call, Operator, operator
from harness.graph import Spec, TensorSpec, TupleSpec


@operator
class RandomChoiceWithMask(Operator):
    """x (Bool): (count, rank) Int32 coordinates of True places in a drawn order, zeros after the last; and whether each
    row is one (Bool)."""

    name = "RandomChoiceWithMask"
    functional = False
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        if call.dtype(0).kind != "b":
            raise DtypeError(f"{self.name}: the mask must be Bool, got {call.dtype(0)}")
        count = call.attrs["count"]
        rank = len(call.shape(0))
        return TupleSpec((TensorSpec(dtypes.int32, (count, rank)), TensorSpec(dtypes.bool_, (count,))))

    def kernel(self, call: Call, x: Array) -> tuple[Array, Array]:
        found = np.argwhere(x)
        seed = random.scrambled(int(call.attrs["seed"]), int(call.attrs["seed2"]))
        order = random.drawn(call, random.Minstd, seed, lambda engine: random.shuffled(engine, len(found)))
        places = found[order][: call.attrs["count"]]
        index = np.zeros((call.attrs["count"], x.ndim), np.int32)
        index[: len(places)] = places
        return index, np.arange(call.attrs["count"]) < len(places)
