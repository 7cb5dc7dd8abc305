"""ApplyRMSProp and ApplyCenteredRMSProp: steps over the root of a mean square."""

from __future__ import annotations

import numpy as np

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Call, operator
from harness.framework.ops.update import Update, in_parts, moved_square, store


@operator
class ApplyRMSProp(Update):
    """square = square * rho + gradient**2 * (1 - rho); moment = moment * momentum + rate * gradient /
    sqrt(square + epsilon); variable -= moment.

    Arguments: variable, square, moment, rate, gradient, rho, momentum, epsilon.
    """

    name = "ApplyRMSProp"
    tensors = tuple(range(8))
    mutates = (0, 1, 2)
    gradient_at = 4

    def kernel(self, call: Call, *args: Array) -> Array:
        for variable, square, moment, *rest in in_parts(*args):
            rate, gradient, rho, momentum, epsilon = (numerics.wide(a) for a in rest)
            spread = store(square, moved_square(square, rho, gradient))
            moved = numerics.wide(moment) * momentum + rate * gradient / np.sqrt(spread + epsilon)
            store(variable, numerics.wide(variable) - store(moment, moved))
        return args[0]


@operator
class ApplyCenteredRMSProp(Update):
    """As ``ApplyRMSProp``, with the square of a mean gradient taken off the mean square; where nothing above 0 is left
    under the root, the variable and its moment stay (MindSpore 2.10.0 CPU, measured).

    Arguments: variable, mean, square, moment, gradient, rate, rho, momentum, epsilon.
    """

    name = "ApplyCenteredRMSProp"
    tensors = tuple(range(9))
    mutates = (0, 1, 2, 3)
    gradient_at = 4

    def kernel(self, call: Call, *args: Array) -> Array:
        for variable, mean, square, moment, *rest in in_parts(*args):
            gradient, rate, rho, momentum, epsilon = (numerics.wide(a) for a in rest)
            spread = store(square, moved_square(square, rho, gradient))
            centre = store(mean, numerics.wide(mean) * rho + gradient * (1 - rho))
            variance = spread - centre * centre + epsilon
            kept = np.where(variance > 0, 0, 1)
            moved = numerics.wide(moment) * momentum + rate * gradient / np.sqrt(np.where(kept, 1, variance))
            before = numerics.wide(variable)
            step = store(moment, np.where(kept, moment, moved))
            store(variable, np.where(kept, before, before - step))
        return args[0]
