"""ApplyAdadelta, ApplyAdaMax, ApplyFtrl, ApplyProximalAdagrad: updates of less common optimizers."""

from __future__ import annotations

import numpy as np

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Call, operator
from harness.framework.ops.update import Update, in_parts, store
from harness.graph import Spec, TupleSpec


class _Several(Update):
    """Gives back what it updates."""

    def infer(self, call: Call) -> Spec:
        self.check(call)
        return TupleSpec(tuple(call.tensor(at).tensor for at in self.mutates))


@operator
class ApplyAdadelta(_Several):
    """Arguments: variable, accumulation, accumulated updates, rate, rho, epsilon, gradient."""

    name = "ApplyAdadelta"
    tensors = (0, 1, 2, 3, 4, 5, 6)
    mutates = (0, 1, 2)
    gradient_at = 6

    def kernel(self, call: Call, *args: Array) -> tuple[Array, ...]:
        for variable, accumulation, updates, *rest in in_parts(*args):
            rate, rho, epsilon, gradient = (numerics.wide(a) for a in rest)
            square = numerics.held(gradient * gradient, accumulation)
            share = np.where(np.isinf(square), square, (1 - rho) * gradient * gradient)
            total = store(accumulation, rho * numerics.wide(accumulation) + share)
            update = np.sqrt(numerics.wide(updates) + epsilon) / np.sqrt(total + epsilon) * gradient
            store(updates, rho * numerics.wide(updates) + (1 - rho) * update * update)
            store(variable, numerics.wide(variable) - rate * update)
        return args[:3]


@operator
class ApplyAdaMax(_Several):
    """Arguments: variable, m, v, power of beta1, rate, beta1, beta2, epsilon, gradient."""

    name = "ApplyAdaMax"
    tensors = (0, 1, 2, 3, 4, 5, 6, 7, 8)
    mutates = (0, 1, 2)
    gradient_at = 8

    def kernel(self, call: Call, *args: Array) -> tuple[Array, ...]:
        for variable, m, v, *rest in in_parts(*args):
            power, rate, beta1, beta2, epsilon, gradient = (numerics.wide(a) for a in rest)
            mean = store(m, beta1 * numerics.wide(m) + (1 - beta1) * gradient)
            most = store(v, np.maximum(beta2 * numerics.wide(v), np.abs(gradient)))
            store(variable, numerics.wide(variable) - rate / (1 - power) * mean / (most + epsilon))
        return args[:3]


@operator
class ApplyFtrl(Update):
    """Arguments: variable, accumulation, linear, gradient, rate, l1, l2, power of the rate. Gives the variable.

    l1 is added whatever sign the linear term has (MindSpore 2.10.0 CPU, measured).
    """

    name = "ApplyFtrl"
    tensors = (0, 1, 2, 3, 4, 5, 6, 7)
    mutates = (0, 1, 2)
    gradient_at = 3

    def kernel(self, call: Call, *args: Array) -> Array:
        for variable, accumulation, linear, *rest in in_parts(*args):
            gradient, rate, l1, l2, power = (numerics.wide(a) for a in rest)
            before = numerics.wide(accumulation) ** -power
            square = numerics.held(numerics.wide(accumulation) + gradient * gradient, accumulation)
            after = square**-power
            sigma = (after - before) / rate
            total = store(linear, numerics.wide(linear) + gradient - sigma * numerics.wide(variable))
            store(accumulation, square)
            step = (l1 - total) / (after / rate + 2 * l2)
            store(variable, np.where(np.abs(total) > l1, step, 0.0))
        return args[0]


@operator
class ApplyProximalAdagrad(_Several):
    """Arguments: variable, accumulation, rate, l1, l2, gradient."""

    name = "ApplyProximalAdagrad"
    tensors = (0, 1, 2, 3, 4, 5)
    mutates = (0, 1)
    gradient_at = 5

    def kernel(self, call: Call, *args: Array) -> tuple[Array, ...]:
        for variable, accumulation, *rest in in_parts(*args):
            rate, l1, l2, gradient = (numerics.wide(a) for a in rest)
            total = store(accumulation, numerics.wide(accumulation) + gradient * gradient)
            share = rate / np.sqrt(total)
            step = numerics.wide(variable) - share * gradient
            small = np.where(l1 > 0, np.sign(step) * np.maximum(np.abs(step) - share * l1, 0.0), step)
            store(variable, small / (1 + l2 * share))
        return args[:2]
