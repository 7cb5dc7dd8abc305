"""``Rprop``: steps whose sizes follow the signs of gradients alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.errors import SettingError, SettingTypeError
from harness.framework.nn.calls import in_graph
from harness.framework.nn.namespace import ops
from harness.framework.nn.optimizer import Optimizer
from harness.framework.tensor import Tensor

__all__ = ["Rprop"]


class Rprop(Optimizer):
    """Resilient backpropagation; see ``Optimizer`` for the rest.

    Its parameters, each for each parameter: ``prev.*``, the last gradient, and ``step_size.*`` (zeros at first, the
    rate in the first step). Where the sign of a gradient stays, its step grows by ``etas[1]``; where it changes, the
    step shrinks by ``etas[0]`` and the gradient counts as 0; within ``step_sizes``.

    Raises:
        SettingTypeError: etas or step_sizes is no tuple of floats.
        SettingError: they are not two, etas[0] is outside (0, 1), etas[1] at most 1, or step_sizes are not in order.
    """

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 0.1,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50.0),
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay)
        self.etaminus, self.etaplus = self._two(etas, "etas")
        if not 0 < self.etaminus < 1 or self.etaplus <= 1:
            raise SettingError(f"{self.cls_name}: etas must be one in (0, 1) and one above 1, got {etas}")
        self.step_size_min, self.step_size_max = self._two(step_sizes, "step_sizes")
        if self.step_size_min > self.step_size_max:
            raise SettingError(f"{self.cls_name}: step_sizes must be in order, got {step_sizes}")
        self.prev = self._parameters.clone("prev", "zeros")
        self.step_size = self._parameters.clone("step_size", "zeros")
        self.assign = ops.Assign()

    def _two(self, given: Any, name: str) -> tuple[float, float]:
        if not isinstance(given, tuple):
            raise SettingTypeError(f"{self.cls_name}: {name} must be a tuple, got {given!r}")
        if len(given) != 2:
            raise SettingError(f"{self.cls_name}: {name} must be two numbers, got {given}")
        if not all(isinstance(number, float) for number in given):
            raise SettingTypeError(f"{self.cls_name}: {name} must be floats, got {given}")
        return given

    @in_graph
    def construct(self, gradients: Any) -> Any:
        self._require_each(gradients)
        gradients = self.decay_weight(tuple(gradients))
        rates = self._rates()
        self._count_step()

        def update(at: int) -> Any:
            return self._update(at, gradients[at], rates[at])

        return self._each(update, reverse=False)

    def _update(self, at: int, gradient: Any, rate: Any) -> Any:
        weight, prev = self._parameters[at], self.prev[at]
        start = Tensor(np.ones(weight.shape, weight.dtype.numpy))
        size = ops.cond(
            ops.equal(self.global_step, 1),
            lambda old, value: start * ops.cast(value, weight.dtype),
            lambda old, value: old * 1,
            self.step_size[at],
            rate,
        )
        sign = ops.sign(gradient * prev)
        sign = self._where(sign > 0, self.etaplus, sign)
        sign = self._where(sign < 0, self.etaminus, sign)
        sign = self._where(sign == 0, 1.0, sign)
        gradient = self._where(sign == self.etaminus, 0.0, gradient)
        size = ops.minimum(ops.maximum(size * sign, self.step_size_min), self.step_size_max)
        new = weight - ops.sign(gradient) * size
        self.assign(weight, new)
        self.assign(prev, gradient)
        return self.assign(self.step_size[at], size)

    @staticmethod
    def _where(holds: Any, number: float, other: Any) -> Any:
        return ops.select(holds, Tensor(np.full(other.shape, number, other.dtype.numpy)), other)
