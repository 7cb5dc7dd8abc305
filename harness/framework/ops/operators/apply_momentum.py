"""ApplyMomentum: gradient descent with momentum."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Call, operator
from harness.framework.ops.update import Update, in_parts, store


@operator
class ApplyMomentum(Update):
    """accumulation = accumulation * momentum + gradient; variable -= rate * accumulation.

    Arguments: variable, accumulation, rate, gradient, momentum. ``gradient_scale`` multiplies the gradient;
    ``use_nesterov`` changes nothing (MindSpore 2.10.0 CPU, measured).
    """

    name = "ApplyMomentum"
    follows: ClassVar[Mapping[int, int]] = {3: 0}
    tensors = (0, 1, 2, 3, 4)
    mutates = (0, 1)
    gradient_at = 3

    def kernel(self, call: Call, *args: Array) -> Array:
        for variable, accumulation, *rest in in_parts(*args):
            rate, gradient, momentum = (numerics.wide(a) for a in rest)
            if (scale := call.attrs.get("gradient_scale", 1.0)) != 1:
                gradient = gradient * scale
            # In place: fresh memory takes longer than the arithmetic.
            moved = numerics.wide(accumulation) * momentum
            moved += gradient
            moved = np.asarray(rate * store(accumulation, moved))
            store(variable, np.subtract(numerics.wide(variable), moved, out=moved))
        return args[0]
