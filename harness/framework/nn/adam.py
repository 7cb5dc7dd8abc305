"""``Adam`` and ``AdamWeightDecay``."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness import dtypes
from harness.errors import SettingError, SettingTypeError, UnsupportedError
from harness.framework.nn import checks
from harness.framework.nn.calls import in_graph
from harness.framework.nn.initializer import initializer
from harness.framework.nn.namespace import ops
from harness.framework.nn.optimizer import Optimizer
from harness.framework.tensor import Parameter, Tensor

__all__ = ["Adam", "AdamWeightDecay"]


def check_betas(beta1: float, beta2: float, eps: float, owner: str) -> None:
    for name, value in (("beta1", beta1), ("beta2", beta2), ("eps", eps)):
        if not isinstance(value, float):
            raise SettingTypeError(f"{owner}: {name} must be a float, got {type(value).__name__} {value!r}")
    checks.open_share(beta1, "beta1", owner)
    checks.open_share(beta2, "beta2", owner)
    if eps <= 0:
        raise SettingError(f"{owner}: eps must be greater than 0, got {eps}")


class Adam(Optimizer):
    """Adam; see ``Optimizer`` for the rest.

    Its parameters: ``beta1_power`` and ``beta2_power`` (ones); ``moment1.*`` and ``moment2.*`` (zeros) for each
    parameter, ``vhat.*`` too with ``use_amsgrad``, where ``use_nesterov`` counts for nothing (measured). ``use_lazy``
    and ``use_offload`` are refused.
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
        use_amsgrad: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        unknown = sorted(set(kwargs) - {"use_lazy", "use_offload"})
        if unknown:
            raise SettingTypeError(f"{self.cls_name} got unexpected arguments {unknown}")
        self.use_amsgrad = checks.boolean(use_amsgrad, "use_amsgrad", self.cls_name)
        for name, value in kwargs.items():
            if checks.boolean(value, name, self.cls_name):
                raise UnsupportedError(f"{self.cls_name}: {name} is not supported")
        check_betas(beta1, beta2, eps, self.cls_name)
        checks.boolean(use_locking, "use_locking", self.cls_name)
        checks.boolean(use_nesterov, "use_nesterov", self.cls_name)
        self.beta1 = Tensor(beta1, dtypes.float32)
        self.beta2 = Tensor(beta2, dtypes.float32)
        self.eps = Tensor(eps, dtypes.float32)
        self.beta1_power = Parameter(initializer(1, (), dtypes.float32), name="beta1_power")
        self.beta2_power = Parameter(initializer(1, (), dtypes.float32), name="beta2_power")
        self.moment1 = self._parameters.clone("moment1", "zeros")
        self.moment2 = self._parameters.clone("moment2", "zeros")
        if self.use_amsgrad:
            self.vhat = self._parameters.clone("vhat", "zeros")
            self.opt = ops.ApplyAdamWithAmsgradV2(use_locking)
        else:
            self.opt = ops.Adam(use_locking, use_nesterov)

    @in_graph
    def construct(self, gradients: Any) -> Any:
        gradients = self._prepared(gradients)
        rates = self._rates()
        self._count_step()
        power1 = self.beta1_power * self.beta1
        self.beta1_power = power1
        power2 = self.beta2_power * self.beta2
        self.beta2_power = power2

        def update(at: int) -> Any:
            largest = (self.vhat[at],) if self.use_amsgrad else ()
            return self.opt(
                self._parameters[at], self.moment1[at], self.moment2[at], *largest, power1, power2, rates[at],
                self.beta1, self.beta2, self.eps, gradients[at],
            )  # fmt: skip

        return self._each(update, reverse=False)


class AdamWeightDecay(Optimizer):
    """Adam with weight decay apart from the gradient and without bias correction; see ``Optimizer`` for the rest.

    Its parameters: ``adam_m.*``, ``adam_v.*`` (zeros) for each parameter.
    """

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-6,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay)
        check_betas(beta1, beta2, eps, self.cls_name)
        self.beta1 = Tensor(np.array([beta1], np.float32))
        self.beta2 = Tensor(np.array([beta2], np.float32))
        self.eps = Tensor(np.array([eps], np.float32))
        self.moments1 = self._parameters.clone("adam_m", "zeros")
        self.moments2 = self._parameters.clone("adam_v", "zeros")
        self.fused_opt = ops.AdamWeightDecay()

    @in_graph
    def construct(self, gradients: Any) -> Any:
        self._require_each(gradients)
        decay = self.get_weight_decay()
        decays = decay if self.is_group else (decay,) * self.param_length
        rates = self._rates()
        self._count_step()
        for at, parameter in enumerate(self._parameters):
            self.fused_opt(
                parameter, self.moments1[at], self.moments2[at], rates[at], self.beta1, self.beta2, self.eps,
                decays[at] if self.decay_flags[at] else 0.0, ops.cast(gradients[at], parameter.dtype),
            )  # fmt: skip
        return (True,) * self.param_length
