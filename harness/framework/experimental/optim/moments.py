"""``Adam`` and the optimizers like it of ``mindspore.experimental.optim``."""

from __future__ import annotations

from typing import Any

from harness import dtypes
from harness.errors import SettingError
from harness.framework.compile.statements import arithmetic
from harness.framework.experimental.optim.optimizer import Optimizer, above, at_least_zero, rest, share, when
from harness.framework.nn.namespace import ops
from harness.framework.nn.transforms import jit
from harness.framework.tensor import Parameter, Tensor, mutable

__all__ = ["Adam", "AdamW", "Adamax", "NAdam", "RAdam"]


class _Moments(Optimizer):
    """One whose parameters are a step (int32), and ``exp_avg.*`` and another (zeros) for each parameter."""

    step_t: Any

    _STEP = "step_t"
    _SECOND = "exp_avg_sq"

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        super().__init__(params, defaults)
        self.exp_avg = self.parameters.clone("exp_avg", "zeros")
        self.second = self.parameters.clone(self._SECOND, "zeros")
        self.step_t = Parameter(Tensor(0, dtypes.int32), self._STEP)
        self.increase_tensor = Tensor(1, dtypes.int32)
        self.assignadd = ops.AssignAdd()

    def _kept(self, group_id: int) -> list[tuple[Any, ...]]:
        return [self._group(group_id, each) for each in (self.exp_avg, self.second)]

    def _count_step(self) -> None:
        self.assignadd(self.step_t, self.increase_tensor)

    @staticmethod
    def _average(exp_avg: Any, gradient: Any, beta: float) -> None:
        ops.assign(exp_avg, exp_avg * beta + gradient * rest(beta))

    @staticmethod
    def _average_square(exp_avg_sq: Any, gradient: Any, beta: float) -> None:
        ops.assign(exp_avg_sq, exp_avg_sq * beta + gradient * gradient * rest(beta))

    def _check(self, **settings: Any) -> None:
        """Settings of those that are strict."""
        above(settings["lr"], "lr", self.cls_name)
        above(settings["eps"], "eps", self.cls_name)
        at_least_zero(settings["weight_decay"], "weight_decay", self.cls_name)
        for at in (0, 1):
            share(settings["betas"][at], f"betas[{at}]", self.cls_name)

    def _check_loosely(self, **settings: Any) -> None:
        """Settings of those that take a rate and an epsilon of 0, and betas of any kind."""
        for name in ("lr", "eps", "weight_decay"):
            at_least_zero(settings[name], name, self.cls_name)
        for at, beta in enumerate(settings["betas"][:2]):
            if not 0.0 <= beta < 1.0:
                raise SettingError(f"{self.cls_name}: betas[{at}] must be at least 0 and below 1, got {beta!r}")


class Adam(_Moments):
    """Adam; see ``Optimizer`` for the rest. ``amsgrad`` counts for nothing (measured).

    Its parameters: ``state_step`` (int32), and ``exp_avg.*``, ``exp_avg_sq.*`` and ``max_exp_avg_sq.*`` (zeros).
    """

    _STEP = "state_step"

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        settings = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        self._check_loosely(**settings)
        super().__init__(params, {**settings, "amsgrad": amsgrad, "maximize": maximize})
        self.max_exp_avg_sq = self.parameters.clone("max_exp_avg_sq", "zeros")
        self.adam_opt = ops.Adam(False, False)

    @jit
    def implementation(
        self,
        beta1: float,
        beta2: float,
        eps: float,
        lr: Any,
        group_id: int,
        gradients: Any,
        maximize: bool,
        weight_decay: float,
    ) -> Any:
        """The update of a group."""
        powers = [ops.Pow()(beta, self.step_t) for beta in (beta1, beta2)]
        params = self._group(group_id, self.parameters)
        own = self._decayed(weight_decay, params, self._signed(group_id, gradients, maximize))
        for param, gradient, first, second in zip(params, own, *self._kept(group_id), strict=True):
            self.adam_opt(param, first, second, *powers, lr, beta1, beta2, eps, gradient)
        return True

    def construct(self, gradients: Any) -> Any:
        self._count_step()
        for number, group, lr in self._each_group():
            self.implementation(
                *group["betas"], group["eps"], lr, number, gradients, group["maximize"], group["weight_decay"]
            )
        return True


class AdamW(_Moments):
    """Adam with weight decay apart from the gradient; see ``Optimizer`` for the rest.

    Its parameters: ``state_step`` (int32), and ``exp_avg.*``, ``exp_avg_sq.*`` and ``max_exp_avg_sq.*`` (zeros).
    """

    _STEP = "state_step"

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        settings = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        self._check_loosely(**settings)
        super().__init__(params, {**settings, "amsgrad": amsgrad, "maximize": maximize})
        self.max_exp_avg_sq = self.parameters.clone("max_exp_avg_sq", "zeros")

    @jit
    def implementation(
        self,
        lr: Any,
        weight_decay: float,
        beta1: float,
        beta2: float,
        amsgrad: bool,
        eps: float,
        gradients: Any,
        group_id: int,
    ) -> Any:
        """The update of a group."""
        remaining = 1 - lr * weight_decay
        correction1 = 1 - ops.Pow()(beta1, self.step_t)
        correction2 = 1 - ops.Pow()(beta2, self.step_t)
        size, root = lr / correction1, ops.Sqrt()(correction2)
        kept = (*self._kept(group_id), self._group(group_id, self.max_exp_avg_sq))
        multiply, square_root = ops.Mul(), ops.Sqrt()
        for param, gradient, first, second, largest in zip(
            self._group(group_id, self.parameters), gradients, *kept, strict=True
        ):
            smaller = multiply(param, remaining)
            ops.assign(first, multiply(first, beta1) + multiply(gradient, rest(beta1)))
            ops.assign(second, ops.addcmul(multiply(second, beta2), gradient, gradient, rest(beta2)))
            if amsgrad:
                most = ops.Maximum()(largest, second)
                spread = square_root(most) / root + eps
                ops.assign(largest, most)
            else:
                spread = square_root(second) / root + eps
            ops.assign(param, smaller - multiply(first / spread, size))
        return True

    def construct(self, gradients: Any) -> Any:
        self._count_step()
        for number, group, lr in self._each_group():
            own = self._signed(number, gradients, group["maximize"])
            self.implementation(
                lr, group["weight_decay"], *group["betas"], group["amsgrad"], group["eps"], mutable(own), number
            )
        return True


class Adamax(_Moments):
    """Adamax; see ``Optimizer`` for the rest. Its parameters: ``step_t``, ``exp_avg.*`` and ``exp_inf.*``."""

    _SECOND = "exp_inf"

    def __init__(
        self,
        params: Any,
        lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        *,
        maximize: bool = False,
    ) -> None:
        settings = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        self._check(**settings)
        super().__init__(params, {**settings, "maximize": maximize})

    @jit
    def implementation(
        self,
        group_id: int,
        lr: Any,
        gradients: Any,
        maximize: bool,
        weight_decay: float,
        beta1: float,
        beta2: float,
        eps: float,
    ) -> Any:
        """The update of a group."""
        params = self._group(group_id, self.parameters)
        own = self._decayed(weight_decay, params, self._signed(group_id, gradients, maximize))
        rate = lr / (1 - beta1**self.step_t)
        for param, gradient, first, largest in zip(params, own, *self._kept(group_id), strict=True):
            self._average(first, gradient, beta1)
            both = ops.cat([ops.unsqueeze(largest * beta2, 0), ops.unsqueeze(gradient.abs().add(eps), 0)], 0)
            ops.assign(largest, ops.amax(both, 0))
            ops.assign(param, param - rate * first / largest)
        return True

    def construct(self, gradients: Any) -> Any:
        self._count_step()
        for number, group, lr in self._each_group():
            self.implementation(
                number, lr, gradients, group["maximize"], group["weight_decay"], *group["betas"], group["eps"]
            )
        return True


class NAdam(_Moments):
    """Adam with Nesterov's momentum; see ``Optimizer`` for the rest.

    Its parameters: ``step_t``, and ``exp_avg.*``, ``exp_avg_sq.*`` (zeros) and ``mu_product_*`` (1).
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum_decay: float = 4e-3,
    ) -> None:
        settings = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        self._check(**settings)
        at_least_zero(momentum_decay, "momentum_decay", self.cls_name)
        super().__init__(params, {**settings, "momentum_decay": momentum_decay})
        self.mu_product = [Parameter(Tensor(1.0), f"mu_product_{p.name}") for p in self.parameters]

    @jit
    def implementation(
        self,
        lr: Any,
        beta1: float,
        beta2: float,
        weight_decay: float,
        momentum_decay: float,
        eps: float,
        group_id: int,
        gradients: Any,
    ) -> Any:
        """The update of a group."""
        params, step = self._group(group_id, self.parameters), self.step_t
        own = self._decayed(weight_decay, params, self._group(group_id, gradients))
        kept = (*self._kept(group_id), self._group(group_id, self.mu_product))
        for param, gradient, first, second, product in zip(params, own, *kept, strict=True):
            correction = 1 - beta2**step
            mu = beta1 * (1.0 - 0.5 * 0.96 ** (step * momentum_decay))
            following = beta1 * (1.0 - 0.5 * 0.96 ** ((step + 1) * momentum_decay))
            ops.assign(product, product * mu)
            self._average(first, gradient, beta1)
            self._average_square(second, gradient, beta2)
            spread = ops.Sqrt()(second / correction) + eps
            product_next = product * following
            ops.assign(param, param - lr * (1.0 - mu) / (1.0 - product) * gradient / spread)
            ops.assign(param, param - lr * following / (1.0 - product_next) * first / spread)
        return True

    def construct(self, gradients: Any) -> Any:
        self._count_step()
        for number, group, lr in self._each_group():
            self.implementation(
                lr, *group["betas"], group["weight_decay"], group["momentum_decay"], group["eps"], number, gradients
            )
        return True


class RAdam(_Moments):
    """Rectified Adam; see ``Optimizer`` for the rest. Its parameters: ``step_t``, ``exp_avg.*``, ``exp_avg_sq.*``."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
    ) -> None:
        settings = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        self._check(**settings)
        super().__init__(params, settings)

    @jit
    def implementation(
        self, lr: Any, beta1: float, beta2: float, weight_decay: float, eps: float, group_id: int, gradients: Any
    ) -> Any:
        """The update of a group."""
        params, power = self._group(group_id, self.parameters), ops.Pow()
        own = self._decayed(weight_decay, params, self._group(group_id, gradients))
        correction1 = 1 - power(beta1, self.step_t.value())
        correction2 = 1 - power(beta2, self.step_t.value())
        bound = arithmetic("-", arithmetic("/", 2, rest(beta2)), 1)
        length = bound - 2 * self.step_t.value() * power(beta2, self.step_t.value()) / correction2
        longer: Any = None
        spread = arithmetic("*", arithmetic("-", bound, 4), arithmetic("-", bound, 2))
        for param, gradient, first, second in zip(params, own, *self._kept(group_id), strict=True):
            self._average(first, gradient, beta1)
            self._average_square(second, gradient, beta2)
            moved = first / correction1

            def rectified(param: Any = param, second: Any = second, moved: Any = moved) -> Any:
                rect = ops.Sqrt()((length - 4) * (length - 2) * bound / (spread * length))
                adaptive = ops.Sqrt()(correction2) / (ops.Sqrt()(second) + eps)
                return ops.assign(param, param - moved * lr * adaptive * rect)

            def plain(param: Any = param, moved: Any = moved) -> Any:
                return ops.assign(param, param - moved * lr)

            if longer is None:
                longer = length > 5.0
            when(longer, rectified, plain)
        return True

    def construct(self, gradients: Any) -> Any:
        self._count_step()
        for number, group, lr in self._each_group():
            self.implementation(lr, *group["betas"], group["weight_decay"], group["eps"], number, gradients)
        return True
