"""Adam, and Adam with decoupled weight decay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Call, operator
from harness.framework.ops.update import Update, in_parts, moved_square, store
from harness.graph import Spec, TupleSpec


@operator
class Adam(Update):
    """Arguments: variable, m, v, beta1_power, beta2_power, rate, beta1, beta2, epsilon, gradient.

    Gives variable, m and v back. With ``use_nesterov`` the step uses ``beta1 * m + (1 - beta1) * gradient``.
    """

    name = "Adam"
    follows: ClassVar[Mapping[int, int]] = {9: 0}
    tensors = tuple(range(10))
    mutates = (0, 1, 2)
    gradient_at = 9

    def infer(self, call: Call) -> Spec:
        self.check(call)
        return TupleSpec(tuple(call.tensor(at).tensor for at in self.mutates))

    def kernel(self, call: Call, *args: Array) -> tuple[Array, ...]:
        for variable, m, v, *rest in in_parts(*args):
            power1, power2, rate, beta1, beta2, epsilon, gradient = (numerics.wide(a) for a in rest)
            rate = rate * np.sqrt(1 - power2) / (1 - power1)
            mean = store(m, numerics.wide(m) * beta1 + gradient * (1 - beta1))
            spread = store(v, moved_square(v, beta2, gradient))
            if call.attrs.get("use_nesterov"):
                mean = mean * beta1 + (1 - beta1) * gradient
            store(variable, numerics.wide(variable) - rate * mean / (np.sqrt(spread) + epsilon))
        return args[:3]


@operator
class ApplyAdamWithAmsgradV2(Update):
    """Arguments: variable, m, v, the largest v so far, beta1_power, beta2_power, rate, beta1, beta2, epsilon, gradient.

    Gives the first four back.
    """

    name = "ApplyAdamWithAmsgradV2"
    tensors = tuple(range(11))
    mutates = (0, 1, 2, 3)
    gradient_at = 10

    def infer(self, call: Call) -> Spec:
        self.check(call)
        return TupleSpec(tuple(call.tensor(at).tensor for at in self.mutates))

    def kernel(self, call: Call, *args: Array) -> tuple[Array, ...]:
        for variable, m, v, largest, *rest in in_parts(*args[:11]):
            power1, power2, rate, beta1, beta2, epsilon, gradient = (numerics.wide(a) for a in rest)
            rate = rate * np.sqrt(1 - power2) / (1 - power1)
            mean = store(m, numerics.wide(m) * beta1 + gradient * (1 - beta1))
            spread = store(v, moved_square(v, beta2, gradient))
            spread = store(largest, np.maximum(numerics.wide(largest), spread))
            store(variable, numerics.wide(variable) - rate * mean / (np.sqrt(spread) + epsilon))
        return args[:4]


@operator
class AdamWeightDecay(Update):
    """Arguments: variable, m, v, rate, beta1, beta2, epsilon, decay, gradient, clip.

    No bias correction; ``decay * variable`` is added to the step. Gives variable, m and v back.
    """

    name = "AdamWeightDecay"
    functional = True
    tensors = tuple(range(10))
    mutates = (0, 1, 2)
    gradient_at = 8

    def infer(self, call: Call) -> Spec:
        self.check(call)
        return TupleSpec(tuple(call.tensor(at).tensor for at in self.mutates))

    def kernel(self, call: Call, *args: Array) -> tuple[Array, ...]:
        for variable, m, v, *rest in in_parts(*args[:9]):
            rate, beta1, beta2, epsilon, decay, gradient = (numerics.wide(a) for a in rest)
            mean = store(m, numerics.wide(m) * beta1 + gradient * (1 - beta1))
            spread = store(v, moved_square(v, beta2, gradient))
            step = mean / (np.sqrt(spread) + epsilon) + decay * numerics.wide(variable)
            store(variable, numerics.wide(variable) - rate * step)
        return args[:3]
