"""ApplyAdagrad and ApplyAdagradV2: steps over the root of a sum of squares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Call, operator
from harness.framework.ops.update import Update, in_parts, store
from harness.graph import Spec, TupleSpec


@operator
class ApplyAdagrad(Update):
    """accumulation += gradient**2; variable -= rate * gradient / sqrt(accumulation).

    Arguments: variable, accumulation, rate, gradient. Gives variable and accumulation back. ``update_slots``
    changes nothing (MindSpore 2.10.0 CPU, measured).
    """

    name = "ApplyAdagrad"
    follows: ClassVar[Mapping[int, int]] = {3: 0}
    tensors = (0, 1, 2, 3)
    mutates = (0, 1)
    gradient_at = 3

    def infer(self, call: Call) -> Spec:
        self.check(call)
        return TupleSpec(tuple(call.tensor(at).tensor for at in self.mutates))

    def kernel(self, call: Call, *args: Array) -> tuple[Array, ...]:
        for variable, accumulation, *rest in in_parts(*args):
            rate, gradient = (numerics.wide(a) for a in rest)
            total = store(accumulation, numerics.wide(accumulation) + gradient * gradient)
            store(variable, numerics.wide(variable) - rate * gradient / np.sqrt(total))
        return args[:2]


@operator
class ApplyAdagradV2(ApplyAdagrad):
    """ApplyAdagrad that divides by the root and ``epsilon``, and adds nothing to the sum without ``update_slots``.

    Source: MindSpore 2.10.0 CPU, measured.
    """

    name = "ApplyAdagradV2"

    def kernel(self, call: Call, *args: Array) -> tuple[Array, ...]:
        for variable, accumulation, *rest in in_parts(*args):
            rate, gradient = (numerics.wide(a) for a in rest)
            total = numerics.wide(accumulation)
            if call.attrs["update_slots"]:
                total = store(accumulation, total + gradient * gradient)
            store(variable, numerics.wide(variable) - rate * gradient / (np.sqrt(total) + call.attrs["epsilon"]))
        return args[:2]
