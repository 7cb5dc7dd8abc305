"""``Adadelta``, ``AdaMax``, ``FTRL``, ``LazyAdam`` and ``ProximalAdagrad``."""

from __future__ import annotations

from typing import Any

from harness import dtypes
from harness.errors import SettingError, SettingTypeError
from harness.framework.nn import checks
from harness.framework.nn.adam import Adam, check_betas
from harness.framework.nn.calls import in_graph
from harness.framework.nn.initializer import initializer
from harness.framework.nn.namespace import ops
from harness.framework.nn.optimizer import Optimizer
from harness.framework.nn.rms_prop import fraction
from harness.framework.tensor import Parameter, Tensor

__all__ = ["FTRL", "AdaMax", "Adadelta", "LazyAdam", "ProximalAdagrad"]


class Adadelta(Optimizer):
    """Steps by the ratio of two root mean squares; see ``Optimizer`` for the rest.

    Its parameters: ``accum.*`` and ``accum_update.*`` (zeros) for each parameter.

    Raises:
        SettingTypeError: rho or epsilon is not a float.
        SettingError: rho is outside [0, 1], or epsilon is below 0.
    """

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 1.0,
        rho: float = 0.9,
        epsilon: float = 1e-6,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.rho = fraction(rho, "rho", self.cls_name)
        if rho > 1:
            raise SettingError(f"{self.cls_name}: rho must be at most 1, got {rho}")
        self.epsilon = fraction(epsilon, "epsilon", self.cls_name)
        self.accum = self._parameters.clone("accum", 0)
        self.accum_update = self._parameters.clone("accum_update", 0)
        self.opt = ops.ApplyAdadelta()

    def construct(self, gradients: Any) -> Any:
        gradients = self._prepared(gradients)
        rates = self._rates()
        self._count_step()

        def update(at: int) -> Any:
            states = self.accum[at], self.accum_update[at]
            return self.opt(self._parameters[at], *states, rates[at], self.rho, self.epsilon, gradients[at])

        return self._each(update, reverse=True)


class AdaMax(Optimizer):
    """Adam with the largest gradient in place of the mean square; see ``Optimizer`` for the rest.

    Its parameters: ``beta1_power`` (a one), ``moment1.*`` and ``moment2.*`` (zeros) for each parameter.
    """

    beta1_power: Any

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        weight_decay: Any = 0.0,
        loss_scale: float = 1.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        check_betas(beta1, beta2, eps, self.cls_name)
        self.beta1 = Tensor(beta1, dtypes.float32)
        self.beta2 = Tensor(beta2, dtypes.float32)
        self.beta1_power = Parameter(initializer(1, (1,), dtypes.float32), name="beta1_power")
        self.eps = Tensor(eps, dtypes.float32)
        self.moment1 = self._parameters.clone("moment1", "zeros")
        self.moment2 = self._parameters.clone("moment2", "zeros")
        self.opt = ops.ApplyAdaMax()

    @in_graph
    def construct(self, gradients: Any) -> Any:
        gradients = self._prepared(gradients)
        rates = self._rates()
        self._count_step()
        self.beta1_power *= self.beta1

        def update(at: int) -> Any:
            states = self._parameters[at], self.moment1[at], self.moment2[at]
            settings = self.beta1_power, rates[at], self.beta1, self.beta2, self.eps
            return self.opt(*states, *settings, gradients[at])

        return self._each(update, reverse=False)


class FTRL(Optimizer):
    """Follow the regularized leader; see ``Optimizer`` for the rest.

    Its parameters: ``moments.*`` (``initial_accum``) and ``linear.*`` (zeros) for each parameter.

    Raises:
        SettingTypeError: a setting is not a float, or use_locking no bool.
        SettingError: initial_accum, l1 or l2 is below 0, lr_power above 0, or the rate changes.
    """

    def __init__(
        self,
        params: Any,
        initial_accum: float = 0.1,
        learning_rate: Any = 0.001,
        lr_power: float = -0.5,
        l1: float = 0.0,
        l2: float = 0.0,
        use_locking: bool = False,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        if self.dynamic_lr or self.is_group_lr:
            raise SettingError(f"{self.cls_name}: a rate that changes, or one for each group, is not supported")
        start = fraction(initial_accum, "initial_accum", self.cls_name)
        self.l1, self.l2 = fraction(l1, "l1", self.cls_name), fraction(l2, "l2", self.cls_name)
        if not isinstance(lr_power, float):
            raise SettingTypeError(f"{self.cls_name}: lr_power must be a float, got {lr_power!r}")
        if lr_power > 0:
            raise SettingError(f"{self.cls_name}: lr_power must be at most 0, got {lr_power}")
        self.lr_power = lr_power
        if not self.is_group:
            self.decay_flags = (True,) * self.param_length  # beta and gamma decay, too (tests/interop/ranks/decay.py)
        self.moments = self._parameters.clone("moments", start)
        self.linear = self._parameters.clone("linear", "zeros")
        self.opt = ops.ApplyFtrl(checks.boolean(use_locking, "use_locking", self.cls_name))

    @in_graph
    def construct(self, gradients: Any) -> Any:
        gradients = self._prepared(gradients)
        rates = self._rates()
        self._count_step()

        def update(at: int) -> Any:
            states = self._parameters[at], self.moments[at], self.linear[at]
            return self.opt(*states, gradients[at], rates[at], self.l1, self.l2, self.lr_power)

        return self._each(update, reverse=False)


class LazyAdam(Adam):
    """Adam; a gradient that is not sparse is treated as Adam treats it."""

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
        super().__init__(params, learning_rate, beta1, beta2, eps, use_locking, use_nesterov, weight_decay, loss_scale)
        self.beta1_power = Parameter(initializer(1, (1,), dtypes.float32), name="beta1_power")
        self.beta2_power = Parameter(initializer(1, (1,), dtypes.float32), name="beta2_power")
        self.assign = ops.Assign()

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
            states = self._parameters[at], self.moment1[at], self.moment2[at]
            settings = power1, power2, rates[at], self.beta1, self.beta2, self.eps
            return self.opt(*states, *settings, gradients[at])

        return self._each(update, reverse=True)


class ProximalAdagrad(Optimizer):
    """Adagrad with l1 and l2; see ``Optimizer`` for the rest.

    Its parameters: ``accum.*`` (``accum``) for each parameter.

    Raises:
        SettingTypeError: a setting is not a float, or use_locking no bool.
        SettingError: accum, l1 or l2 is below 0.
    """

    def __init__(
        self,
        params: Any,
        accum: float = 0.1,
        learning_rate: Any = 0.001,
        l1: float = 0.0,
        l2: float = 0.0,
        use_locking: bool = False,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.accum = self._parameters.clone("accum", fraction(accum, "accum", self.cls_name))
        self.l1 = Tensor(fraction(l1, "l1", self.cls_name), dtypes.float32)
        self.l2 = Tensor(fraction(l2, "l2", self.cls_name), dtypes.float32)
        self.opt = ops.ApplyProximalAdagrad(checks.boolean(use_locking, "use_locking", self.cls_name))

    @in_graph
    def construct(self, gradients: Any) -> Any:
        gradients = self._prepared(gradients)
        rates = self._rates()
        self._count_step()

        def update(at: int) -> Any:
            return self.opt(self._parameters[at], self.accum[at], rates[at], self.l1, self.l2, gradients[at])

        return self._each(update, reverse=True)
