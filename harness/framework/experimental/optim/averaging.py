"""``SGD``, ``ASGD`` and ``Rprop`` of ``mindspore.experimental.optim``."""

from __future__ import annotations

from typing import Any

from harness import dtypes
from harness.errors import SettingError, SettingTypeError
from harness.framework.compile.statements import choose, put
from harness.framework.experimental.optim.optimizer import Optimizer, above, at_least_zero, share, when
from harness.framework.nn import checks
from harness.framework.nn.namespace import ops
from harness.framework.nn.transforms import jit
from harness.framework.tensor import Parameter, Tensor

__all__ = ["ASGD", "SGD", "Rprop"]


class SGD(Optimizer):
    """Stochastic gradient descent with momentum; see ``Optimizer`` for the rest.

    Its parameters: ``accum.*`` (zeros) and ``stat.*`` (ones) for each parameter.
    """

    def __init__(
        self,
        params: Any,
        lr: Any,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        if isinstance(lr, bool) or not isinstance(lr, (float, int, Tensor)):
            raise SettingTypeError(f"{self.cls_name}: lr must be a number or a Tensor, got {type(lr).__name__}")
        at_least_zero(lr, "lr", self.cls_name)
        momentum = float(checks.number(momentum, "momentum", self.cls_name, 0))
        checks.boolean(nesterov, "nesterov", self.cls_name)
        checks.boolean(maximize, "maximize", self.cls_name)
        super().__init__(
            params,
            {
                "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay,
                "nesterov": nesterov, "maximize": maximize, "grad_centralization": False,
            },
        )  # fmt: skip
        for group in self.param_groups:
            group["dampening"] = float(checks.number(group["dampening"], "dampening", self.cls_name))
        if nesterov and (momentum <= 0.0 or dampening != 0.0):
            raise SettingError(
                f"{self.cls_name}: nesterov needs a momentum above 0 and no dampening, got momentum {momentum} and "
                f"dampening {dampening}"
            )
        self.accum = self.parameters.clone("accum", "zeros")
        self.stat = self.parameters.clone("stat", "ones")

    @jit
    def implementation(
        self,
        momentum: float,
        lr: Any,
        group_id: int,
        gradients: Any,
        maximize: bool,
        dampening: float,
        weight_decay: float,
        nesterov: bool,
    ) -> Any:
        """The update of a group."""
        fast = ops.cast(momentum, dtypes.float32)
        update = ops.SGD(dampening, weight_decay, nesterov)
        own = (self._group(group_id, each) for each in (self.parameters, self.accum, self.stat))
        for gradient, parameter, sums, state in zip(self._signed(group_id, gradients, maximize), *own, strict=True):
            update(parameter, gradient, lr, sums, fast, state)
        return True

    def construct(self, gradients: Any) -> Any:
        for number, group, lr in self._each_group():
            self.implementation(
                group["momentum"], lr, number, gradients, group["maximize"], group["dampening"],
                group["weight_decay"], group["nesterov"],
            )  # fmt: skip
        return True


class ASGD(Optimizer):
    """Averaged stochastic gradient descent; see ``Optimizer`` for the rest.

    Its parameters: ``step_t`` (int32), and for each parameter ``mu_*`` (1), ``eta_*`` (0) and ``ax.*`` (zeros), the
    average.
    """

    step_t: Any

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0.0,
        maximize: bool = False,
    ) -> None:
        above(lr, "lr", self.cls_name)
        at_least_zero(weight_decay, "weight_decay", self.cls_name)
        for name, value in (("lambd", lambd), ("t0", t0)):
            if not isinstance(value, float):
                raise SettingTypeError(f"{self.cls_name}: {name} must be a float, got {type(value).__name__}")
        super().__init__(
            params,
            {
                "lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay, "maximize": maximize,
            },
        )  # fmt: skip
        self.mu = [Parameter(Tensor(1.0), f"mu_{p.name}") for p in self.parameters]
        self.eta = [Parameter(Tensor(0.0), f"eta_{p.name}") for p in self.parameters]
        self.ax = self.parameters.clone("ax", "zeros")
        self.step_t = Parameter(Tensor(0, dtypes.int32), "step_t")
        self.increase_tensor = Tensor(1, dtypes.int32)
        self.assignadd = ops.AssignAdd()

    @jit
    def implementation(
        self,
        lambd: float,
        alpha: float,
        t0: float,
        lr: Any,
        group_id: int,
        maximize: bool,
        gradients: Any,
        weight_decay: float,
    ) -> Any:
        """The update of a group."""
        params = self._group(group_id, self.parameters)
        own = self._decayed(weight_decay, params, self._signed(group_id, gradients, maximize))
        kept = (self._group(group_id, each) for each in (self.eta, self.mu, self.ax))
        for each in zip(params, own, *kept, strict=True):
            self._update(lambd, alpha, t0, lr, *each)
        return True

    def _update(
        self, lambd: float, alpha: float, t0: float, lr: Any, param: Any, gradient: Any, eta: Any, mu: Any, ax: Any
    ) -> None:
        when(self.step_t == 1, lambda: ops.Assign()(eta, lr))
        following = ops.cast(param * (1.0 - lambd * eta) - eta * gradient, param.dtype)
        ops.assign(param, following)
        when(
            mu != 1,
            lambda: ops.AssignAdd()(ax, ops.cast((following - ax) * mu, ax.dtype)),
            lambda: ops.Assign()(ax, following),
        )
        ops.Assign()(eta, lr / ops.Pow()(1.0 + lambd * lr * self.step_t, alpha))
        ops.Assign()(mu, 1.0 / ops.Maximum()(1.0, self.step_t - t0))

    def construct(self, gradients: Any) -> Any:
        self.assignadd(self.step_t, self.increase_tensor)
        for number, group, lr in self._each_group():
            self.implementation(
                group["lambd"], group["alpha"], group["t0"], lr, number, group["maximize"], gradients,
                group["weight_decay"],
            )  # fmt: skip
        return True


class Rprop(Optimizer):
    """Resilient backpropagation; see ``Optimizer`` for the rest.

    Its parameters: ``step_t`` (int32), and ``prev.*`` and ``step_size.*`` (zeros) for each parameter.
    """

    step_t: Any

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        maximize: bool = False,
    ) -> None:
        above(lr, "lr", self.cls_name)
        above(etas[1], "etas[1]", self.cls_name, 1.0)
        share(etas[0], "etas[0]", self.cls_name, low=False)
        super().__init__(params, {"lr": lr, "etas": etas, "step_sizes": step_sizes, "maximize": maximize})
        self.prev = self.parameters.clone("prev", "zeros")
        self.step_size = self.parameters.clone("step_size", "zeros")
        self.step_t = Parameter(Tensor(0, dtypes.int32), "step_t")
        self.increase_tensor = Tensor(1, dtypes.int32)

    @jit
    def implementation(
        self,
        etaminus: float,
        etaplus: float,
        group_id: int,
        lr: Any,
        gradients: Any,
        maximize: bool,
        step_size_min: float,
        step_size_max: float,
    ) -> Any:
        """The update of a group."""
        less, more = ops.cast(etaminus, dtypes.float32), ops.cast(etaplus, dtypes.float32)
        own = self._signed(group_id, gradients, maximize)
        kept = (self._group(group_id, each) for each in (self.parameters, self.prev, self.step_size))
        for gradient, param, prev, size in zip(own, *kept, strict=True):
            start = choose(
                self.step_t == 1, lambda size=size: ops.OnesLike()(size) * lr, lambda size=size: size.value(), ()
            )
            sign = ops.Sign()(gradient * prev)
            sign = put(sign, sign.gt(0), more)
            sign = put(sign, sign.lt(0), less)
            sign = put(sign, sign.eq(0), 1)
            clipped = ops.clip_by_value(start * sign, step_size_min, step_size_max)
            ops.Assign()(size, clipped)
            zeros = ops.FillV2()(sign.shape, ops.cast(0.0, dtypes.float32))
            kept_gradient = ops.Select()(sign == less, zeros, gradient)
            ops.Assign()(prev, kept_gradient)
            ops.Assign()(param, param - ops.Sign()(kept_gradient) * clipped)
        return True

    def construct(self, gradients: Any) -> Any:
        ops.AssignAdd()(self.step_t, self.increase_tensor)
        for number, group, lr in self._each_group():
            (less, more), (smallest, largest) = group["etas"], group["step_sizes"]
            self.implementation(less, more, number, lr, gradients, group["maximize"], smallest, largest)
        return True
