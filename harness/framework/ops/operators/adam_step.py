"""AdamNoUpdateParam: Adam's step, without the parameter."""

from __future__ import annotations

import numpy as np

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Call, operator
from harness.framework.ops.update import Update, moved_square, store
from harness.graph import Spec


@operator
class AdamNoUpdateParam(Update):
    """Arguments: m, v, beta1_power, beta2_power, rate, beta1, beta2, epsilon, gradient. Updates m and v.

    Gives what is to be added to the parameter. With ``use_nesterov`` it uses ``beta1 * m + (1 - beta1) * gradient``.
    """

    name = "AdamNoUpdateParam"
    functional = False
    tensors = tuple(range(9))
    mutates = (0, 1)
    gradient_at = 8

    def infer(self, call: Call) -> Spec:
        self.check(call)
        return call.tensor(8)

    def kernel(self, call: Call, m: Array, v: Array, *rest: Array) -> Array:
        power1, power2, rate, beta1, beta2, epsilon, gradient = (numerics.wide(a) for a in rest)
        rate = rate * np.sqrt(1 - power2) / (1 - power1)
        mean = store(m, numerics.wide(m) * beta1 + gradient * (1 - beta1))
        spread = store(v, moved_square(v, beta2, gradient))
        if call.attrs.get("use_nesterov"):
            mean = mean * beta1 + (1 - beta1) * gradient
        return np.asarray(-rate * mean / (np.sqrt(spread) + epsilon))
