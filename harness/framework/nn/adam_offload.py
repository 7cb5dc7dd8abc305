"""``AdamOffload``: Adam whose step is computed by one operator and added by another."""

from __future__ import annotations

from typing import Any

from harness import dtypes
from harness.framework.nn import checks
from harness.framework.nn.adam import check_betas
from harness.framework.nn.calls import in_graph
from harness.framework.nn.initializer import initializer
from harness.framework.nn.namespace import ops
from harness.framework.nn.optimizer import Optimizer
from harness.framework.tensor import Parameter, Tensor

__all__ = ["AdamOffload"]


class AdamOffload(Optimizer):
    """Adam; see ``Optimizer`` for the rest.

    Its parameters: ``beta1_power`` and ``beta2_power`` (ones, shape (1,)); ``moment1.*`` and ``moment2.*`` (zeros) for
    each parameter.
    """

    beta1_power: Any
    beta2_power: Any

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        use_locking: bool = False,
        use_nesterov: bool = False,
        weight_decay: Any = 0.0,
        loss_scale: float = 1.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        check_betas(beta1, beta2, eps, self.cls_name)
        checks.boolean(use_locking, "use_locking", self.cls_name)
        checks.boolean(use_nesterov, "use_nesterov", self.cls_name)
        self.beta1 = Tensor(beta1, dtypes.float32)
        self.beta2 = Tensor(beta2, dtypes.float32)
        self.eps = Tensor(eps, dtypes.float32)
        self.beta1_power = Parameter(initializer(1, (1,), dtypes.float32), name="beta1_power")
        self.beta2_power = Parameter(initializer(1, (1,), dtypes.float32), name="beta2_power")
        self.moment1 = self._parameters.clone("moment1", "zeros")
        self.moment2 = self._parameters.clone("moment2", "zeros")
        self.assign = ops.Assign()
        self.opt = ops.AdamNoUpdateParam(use_locking, use_nesterov)

    @in_graph
    def construct(self, gradients: Any) -> Any:
        gradients = self._prepared(gradients)
        rates = self._rates()
        self._count_step()
        power1 = self.beta1_power * self.beta1
        self.assign(self.beta1_power, power1)
        power2 = self.beta2_power * self.beta2
        self.assign(self.beta2_power, power2)

        def update(at: int) -> Any:
            states = self.moment1[at], self.moment2[at], power1, power2
            step = self.opt(*states, rates[at], self.beta1, self.beta2, self.eps, gradients[at])
            return self.assignadd(self._parameters[at], step)

        return self._each(update, reverse=True)
