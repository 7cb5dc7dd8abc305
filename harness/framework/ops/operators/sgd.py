"""SGD: stochastic gradient descent, with momentum, dampening and weight decay."""

from __future__ import annotations

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Call, operator
from harness.framework.ops.update import Update, store


@operator
class SGD(Update):
    """Arguments: parameters, gradient, rate, accum, momentum, stat.

    ``stat`` is above 0 before the first step (the accumulation then becomes the gradient itself) and 0 afterwards.
    Attributes ``dampening``, ``weight_decay`` and ``nesterov``.
    """

    name = "SGD"
    tensors = (0, 1, 2, 3, 4, 5)
    mutates = (0, 3, 5)
    gradient_at = 1

    def kernel(self, call: Call, *args: Array) -> Array:
        parameters, gradient, rate, accum, momentum, stat = args
        wide = numerics.wide
        slope = wide(gradient) + wide(parameters) * float(call.attrs.get("weight_decay", 0.0))
        if wide(momentum) > 0:
            kept = 1.0 - float(call.attrs.get("dampening", 0.0))
            first = wide(stat) > 0
            moved = wide(accum) * wide(momentum) + slope * kept
            moved = store(accum, slope * first + moved * (1 - first))
            store(stat, wide(stat) * 0)
            slope = slope + moved * wide(momentum) if call.attrs.get("nesterov") else moved
        store(parameters, wide(parameters) - wide(rate) * slope)
        return parameters
