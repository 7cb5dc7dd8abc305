"""``Adadelta``, ``Adagrad`` and ``RMSprop`` of ``mindspore.experimental.optim``."""

from __future__ import annotations

from typing import Any

from harness import dtypes
from harness.framework.experimental.optim.optimizer import Optimizer, above, at_least_zero, rest, share
from harness.framework.nn.namespace import ops
from harness.framework.nn.transforms import jit
from harness.framework.tensor import Parameter, Tensor

__all__ = ["Adadelta", "Adagrad", "RMSprop"]


class Adadelta(Optimizer):
    """Adadelta; see ``Optimizer`` for the rest. Its parameters: ``accum.*`` and ``accum_update.*`` (zeros)."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0.0,
        *,
        maximize: bool = False,
    ) -> None:
        above(lr, "lr", self.cls_name)
        above(eps, "eps", self.cls_name)
        at_least_zero(weight_decay, "weight_decay", self.cls_name)
        share(rho, "rho", self.cls_name, high=True)
        super().__init__(params, {"lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize})
        self.accum = self.parameters.clone("accum", 0)
        self.accum_update = self.parameters.clone("accum_update", 0)
        self.opt = ops.ApplyAdadelta()

    @jit
    def implementation(
        self, lr: Any, rho: float, eps: float, maximize: bool, weight_decay: float, group_id: int, gradients: Any
    ) -> Any:
        """The update of a group."""
        params = self._group(group_id, self.parameters)
        own = self._decayed(weight_decay, params, self._signed(group_id, gradients, maximize))
        kept = (self._group(group_id, each) for each in (self.accum, self.accum_update))
        for param, gradient, squares, updates in zip(params, own, *kept, strict=True):
            self.opt(param, squares, updates, lr, rho, eps, gradient)
        return True

    def construct(self, gradients: Any) -> Any:
        for number, group, lr in self._each_group():
            self.implementation(
                lr, group["rho"], group["eps"], group["maximize"], group["weight_decay"], number, gradients
            )
        return True


class Adagrad(Optimizer):
    """Adagrad; see ``Optimizer`` for the rest.

    Its parameters: ``step_t`` (int32), counted after the update, and ``accum.*`` for each parameter.
    """

    step_t: Any

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        lr_decay: float = 0.0,
        weight_decay: float = 0.0,
        initial_accumulator_value: float = 0.0,
        eps: float = 1e-10,
        *,
        maximize: bool = False,
    ) -> None:
        above(lr, "lr", self.cls_name)
        at_least_zero(lr_decay, "lr_decay", self.cls_name)
        at_least_zero(weight_decay, "weight_decay", self.cls_name)
        at_least_zero(initial_accumulator_value, "initial_accumulator_value", self.cls_name)
        above(eps, "eps", self.cls_name)
        super().__init__(
            params,
            {
                "lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay,
                "initial_accumulator_value": initial_accumulator_value, "maximize": maximize,
            },
        )  # fmt: skip
        self.accum = self.parameters.clone("accum", initial_accumulator_value)
        self.step_t = Parameter(Tensor(0, dtypes.int32), "step_t")
        self.increase_tensor = Tensor(1, dtypes.int32)
        self.assignadd = ops.AssignAdd()

    @jit
    def implementation(
        self, eps: float, lr: Any, lr_decay: float, maximize: bool, weight_decay: float, group_id: int, gradients: Any
    ) -> Any:
        """The update of a group."""
        update = ops.ApplyAdagradV2(epsilon=eps, update_slots=True)
        rate = lr / (1 + self.step_t * lr_decay)
        params = self._group(group_id, self.parameters)
        own = self._decayed(weight_decay, params, self._signed(group_id, gradients, maximize))
        for param, sums, gradient in zip(params, self._group(group_id, self.accum), own, strict=True):
            update(param, sums, rate, gradient)
        return True

    def construct(self, gradients: Any) -> Any:
        for number, group, lr in self._each_group():
            self.implementation(
                group["eps"], lr, group["lr_decay"], group["maximize"], group["weight_decay"], number, gradients
            )
        self.assignadd(self.step_t, self.increase_tensor)
        return True


class RMSprop(Optimizer):
    """RMSprop; see ``Optimizer`` for the rest.

    Its parameters: ``mean_grad.*``, ``mean_square.*`` and ``moment.*`` (zeros) for each parameter.
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum: float = 0.0,
        centered: bool = False,
        maximize: bool = False,
    ) -> None:
        above(lr, "lr", self.cls_name)
        at_least_zero(alpha, "alpha", self.cls_name)
        above(eps, "eps", self.cls_name)
        at_least_zero(momentum, "momentum", self.cls_name)
        at_least_zero(weight_decay, "weight_decay", self.cls_name)
        super().__init__(
            params,
            {
                "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered,
                "weight_decay": weight_decay, "maximize": maximize,
            },
        )  # fmt: skip
        self.mean_grad = self.parameters.clone("mean_grad", "zeros")
        self.mean_square = self.parameters.clone("mean_square", "zeros")
        self.moment = self.parameters.clone("moment", "zeros")

    @jit
    def implementation(
        self,
        group_id: int,
        lr: Any,
        gradients: Any,
        maximize: bool,
        weight_decay: float,
        centered: bool,
        alpha: float,
        eps: float,
        momentum: float,
    ) -> Any:
        """The update of a group."""
        params = self._group(group_id, self.parameters)
        own = self._decayed(weight_decay, params, self._signed(group_id, gradients, maximize))
        kept = (self._group(group_id, each) for each in (self.mean_square, self.mean_grad, self.moment))
        multiply, root = ops.Mul(), ops.Sqrt()
        for param, gradient, square, mean, moment in zip(params, own, *kept, strict=True):
            ops.assign(square, ops.addcmul(multiply(square, alpha), gradient, gradient, rest(alpha)))
            if centered:
                ops.assign(mean, multiply(mean, alpha) + multiply(gradient, rest(alpha)))
                spread = root(ops.addcmul(square, mean, mean, -1.0)) + eps
            else:
                spread = root(square) + eps
            if momentum > 0:
                ops.assign(moment, multiply(moment, momentum) + gradient / spread)
                ops.assign(param, param - moment * lr)
            else:
                ops.assign(param, param - lr * gradient / spread)
        return True

    def construct(self, gradients: Any) -> Any:
        for number, group, lr in self._each_group():
            self.implementation(
                number, lr, gradients, group["maximize"], group["weight_decay"], group["centered"], group["alpha"],
                group["eps"], group["momentum"],
            )  # fmt: skip
        return True
