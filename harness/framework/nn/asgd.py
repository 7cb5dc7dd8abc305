"""``ASGD``: gradient descent that also keeps an average of the weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness import dtypes
from harness.errors import SettingTypeError
from harness.framework.nn.calls import in_graph
from harness.framework.nn.namespace import ops
from harness.framework.nn.optimizer import Optimizer
from harness.framework.tensor import Parameter, ParameterTuple, Tensor

__all__ = ["ASGD"]


class ASGD(Optimizer):
    """Averaged stochastic gradient descent; see ``Optimizer`` for the rest.

    Its parameters, each for each parameter: ``mu_*`` (ones) and ``eta_*`` (zeros), Float32 numbers; ``ax_.*``
    (zeros), the average. While ``mu`` is 1 the average is the weight; later it takes a share of ``mu`` of it.

    Raises:
        SettingTypeError: lambd, alpha or t0 is not a float.
    """

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 0.1,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay)
        for name, value in (("lambd", lambd), ("alpha", alpha), ("t0", t0)):
            if not isinstance(value, float):
                raise SettingTypeError(f"{self.cls_name}: {name} must be a float, got {value!r}")
        self.lambd, self.alpha = lambd, alpha
        self.t0 = Tensor([t0], dtypes.float32)
        self.one = Tensor(1.0, dtypes.float32)
        self.mu, self.eta = self._numbers("mu_", 1.0), self._numbers("eta_", 0.0)
        self.ax = self._parameters.clone("ax_", "zeros")
        self.assign = ops.Assign()

    def _numbers(self, prefix: str, value: float) -> ParameterTuple:
        return ParameterTuple(
            Parameter(Tensor(np.float32(value)), name=f"{prefix}{parameter.name}") for parameter in self._parameters
        )

    @in_graph
    def construct(self, gradients: Any) -> Any:
        self._require_each(gradients)
        gradients = self.decay_weight(tuple(gradients))
        rates = self._rates()
        self._count_step()
        step = ops.squeeze(self.global_step, 0)

        def update(at: int) -> Any:
            self._begin(step, rates[at], self.eta[at])
            self._average(self._step(at, gradients[at]), self.mu[at], self.ax[at])
            return self._settle(step, rates[at], self.eta[at], self.mu[at])

        return self._each(update, reverse=False)

    def _begin(self, step: Any, rate: Any, eta: Any) -> None:
        ops.cond(step == 1, lambda value: self.assign(eta, value), lambda value: value * 1, rate)

    def _step(self, at: int, gradient: Any) -> Any:
        """The new weight."""
        weight: Any = self._parameters[at]
        eta: Any = self.eta[at]
        decayed = weight * ops.cast(1.0 - eta * self.lambd, weight.dtype)
        new = decayed - ops.cast(eta * ops.cast(gradient, dtypes.float32), weight.dtype)
        self.assign(weight, new)
        return new

    def _average(self, new: Any, mu: Any, average: Any) -> None:
        ops.cond(
            mu != 1,
            lambda value: ops.assign_add(average, ops.cast((value - average) * mu, average.dtype)),
            lambda value: self.assign(average, value),
            new,
        )

    def _settle(self, step: Any, rate: Any, eta: Any, mu: Any) -> Any:
        """What the next step begins with."""
        count = ops.cast(step, dtypes.float32)
        self.assign(eta, rate / (1.0 + rate * self.lambd * count) ** self.alpha)
        beyond = ops.squeeze(ops.maximum(self.one, count - self.t0), 0)
        return self.assign(mu, ops.reciprocal(beyond) * 1.0)
