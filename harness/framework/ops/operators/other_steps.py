"""Steps of rarer optimizers: by signs, by plain gradients, by dual averages.

Source: MindSpore 2.10.0 CPU, measured (``tests/data/programs/other_steps.txt``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Call, operator
from harness.framework.ops.update import Update, in_parts, store
from harness.graph import Spec, TupleSpec


class _Step(Update):
    """``mutates`` are the leading arguments; they are given back, one alone as itself."""

    def infer(self, call: Call) -> Spec:
        self.check(call)
        kept = tuple(call.tensor(at).tensor for at in self.mutates)
        return kept[0] if len(kept) == 1 else TupleSpec(kept)

    def kernel(self, call: Call, *args: Array) -> Array | tuple[Array, ...]:
        for given in in_parts(*args):
            self.step(call, *given)
        return args[0] if len(self.mutates) == 1 else args[: len(self.mutates)]

    def step(self, call: Call, *args: Array) -> None:
        """Changes a part of the parameters."""
        raise NotImplementedError


class _Signed(_Step):
    """Arguments: variable, moment, rate, base, decay of the signs, beta, gradient."""

    follows: ClassVar[Mapping[int, int]] = {6: 0}
    tensors = tuple(range(7))
    mutates = (0, 1)
    gradient_at = 6

    def step(self, call: Call, *args: Array) -> None:
        variable, moment = args[:2]
        rate, base, decay, beta, gradient = (numerics.wide(each) for each in args[2:])
        moved = store(moment, numerics.wide(moment) * beta + gradient * (1 - beta))
        factor = self.factor(base, decay * np.sign(gradient) * np.sign(moved))
        store(variable, numerics.wide(variable) - rate * factor * gradient)

    def factor(self, base: Array, signs: Array) -> Array:
        """What the gradient is multiplied by."""
        raise NotImplementedError


@operator
class ApplyPowerSign(_Signed):
    """exp(base * decay * sign(gradient) * sign(moment)) * gradient."""

    name = "ApplyPowerSign"

    def factor(self, base: Array, signs: Array) -> Array:
        made: Array = np.exp(base * signs)
        return made


@operator
class ApplyAddSign(_Signed):
    """(base + decay * sign(gradient) * sign(moment)) * gradient."""

    name = "ApplyAddSign"

    def factor(self, base: Array, signs: Array) -> Array:
        return base + signs


@operator
class ApplyGradientDescent(_Step):
    """Arguments: variable, rate, gradient."""

    name = "ApplyGradientDescent"
    follows: ClassVar[Mapping[int, int]] = {2: 0}
    tensors = (0, 1, 2)
    mutates = (0,)
    gradient_at = 2

    def step(self, call: Call, *args: Array) -> None:
        variable, rate, gradient = (numerics.wide(each) for each in args)
        store(args[0], variable - rate * gradient)


def _shrunk(value: Array, limit: Array) -> Array:
    """``value`` moved toward 0 by ``limit``, which may be 0."""
    made: Array = np.sign(value) * np.maximum(np.abs(value) - limit, 0)
    return made


@operator
class ApplyProximalGradientDescent(_Step):
    """Arguments: variable, rate, l1, l2, gradient."""

    name = "ApplyProximalGradientDescent"
    follows: ClassVar[Mapping[int, int]] = {4: 0}
    tensors = tuple(range(5))
    mutates = (0,)
    gradient_at = 4

    def step(self, call: Call, *args: Array) -> None:
        variable, rate, l1, l2, gradient = (numerics.wide(each) for each in args)
        store(args[0], _shrunk(variable - rate * gradient, rate * np.maximum(l1, 0)) / (1 + rate * l2))


@operator
class ApplyAdagradDA(_Step):
    """Arguments: variable, sum of gradients, sum of their squares, gradient, rate, l1, l2, step."""

    name = "ApplyAdagradDA"
    follows: ClassVar[Mapping[int, int]] = {3: 0}
    tensors = tuple(range(8))
    mutates = (0, 1, 2)
    gradient_at = 3

    def step(self, call: Call, *args: Array) -> None:
        gradient, rate, l1, l2, step = (numerics.wide(each) for each in args[3:])
        total = store(args[1], numerics.wide(args[1]) + gradient)
        squares = store(args[2], numerics.wide(args[2]) + gradient * gradient)
        # The distance from l1, not the part beyond it: so the kernel computes (measured).
        beyond = np.sign(total) * np.abs(total - l1 * step) if l1 > 0 else total
        store(args[0], -rate * beyond / (l2 * step * rate + np.sqrt(squares)))
