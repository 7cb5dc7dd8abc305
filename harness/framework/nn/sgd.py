"""``SGD`` and ``Momentum``."""

from __future__ import annotations

from typing import Any

from harness import dtypes
from harness.errors import SettingError, SettingTypeError
from harness.framework.nn import checks
from harness.framework.nn.calls import in_graph
from harness.framework.nn.namespace import ops
from harness.framework.nn.optimizer import Optimizer
from harness.framework.tensor import Parameter, Tensor

__all__ = ["SGD", "Momentum"]


class SGD(Optimizer):
    """Stochastic gradient descent with momentum, dampening and Nesterov's step; see ``Optimizer`` for the rest.

    Its parameters: ``momentum``, and ``accum.*`` (zeros) and ``stat.*`` (ones) for each parameter.
    """

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 0.1,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: Any = 0.0,
        nesterov: bool = False,
        loss_scale: float = 1.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        momentum = float(checks.number(momentum, "momentum", self.cls_name, 0.0))
        self.dampening = float(checks.number(dampening, "dampening", self.cls_name, 0.0))
        self.nesterov = checks.boolean(nesterov, "nesterov", self.cls_name)
        if nesterov and (momentum <= 0.0 or dampening != 0.0):
            raise SettingError(
                f"{self.cls_name}: nesterov needs momentum above 0 and dampening 0, got {momentum} and {dampening}"
            )
        if self.dynamic_weight_decay:
            raise SettingTypeError(f"{self.cls_name}: weight_decay must be a number, not a Cell")
        self.opt = tuple(ops.SGD(self.dampening, 0.0, nesterov) for _ in self._parameters)
        self.momentum = Parameter(Tensor(momentum, dtypes.float32), name="momentum")
        self.accum = self._parameters.clone("accum", "zeros")
        self.stat = self._parameters.clone("stat", "ones")

    @in_graph
    def construct(self, gradients: Any) -> Any:
        gradients = self._prepared(gradients)
        rates = self._rates()
        self._count_step()

        def update(at: int) -> Any:
            return self.opt[at](
                self._parameters[at], gradients[at], rates[at], self.accum[at], self.momentum, self.stat[at]
            )

        return self._each(update, reverse=True)


class Momentum(Optimizer):
    """Gradient descent with momentum; see ``Optimizer`` for the rest.

    Its parameters: ``momentum``, and ``moments.*`` (zeros) for each parameter.
    """

    def __init__(
        self,
        params: Any,
        learning_rate: Any,
        momentum: float,
        weight_decay: Any = 0.0,
        loss_scale: float = 1.0,
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        momentum = float(checks.number(momentum, "momentum", self.cls_name, 0.0))
        self.momentum = Parameter(Tensor(momentum, dtypes.float32), name="momentum")
        self.params = self._parameters
        self.use_nesterov = checks.boolean(use_nesterov, "use_nesterov", self.cls_name)
        self.moments = self._parameters.clone("moments", "zeros")
        self.opt = ops.ApplyMomentum(use_nesterov=use_nesterov)

    @in_graph
    def construct(self, gradients: Any) -> Any:
        gradients = self._prepared(gradients)
        rates = self._rates()
        self._count_step()

        def update(at: int) -> Any:
            return self.opt(self._parameters[at], self.moments[at], rates[at], gradients[at], self.momentum)

        return self._each(update, reverse=True)
