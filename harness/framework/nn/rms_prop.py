"""``RMSProp`` and ``Adagrad``."""

from __future__ import annotations

from typing import Any

from harness import dtypes
from harness.errors import SettingError, SettingTypeError
from harness.framework.nn import checks
from harness.framework.nn.calls import in_graph
from harness.framework.nn.namespace import ops
from harness.framework.nn.optimizer import Optimizer
from harness.framework.tensor import Tensor

__all__ = ["Adagrad", "RMSProp"]


def fraction(value: Any, name: str, owner: str, above: bool = False) -> float:
    """``value``, a float of at least 0 (``above``: above 0)."""
    if not isinstance(value, float):
        raise SettingTypeError(f"{owner}: {name} must be a float, got {type(value).__name__} {value!r}")
    if not (value > 0 if above else value >= 0):
        raise SettingError(f"{owner}: {name} must be {'above' if above else 'at least'} 0, got {value}")
    return value


class RMSProp(Optimizer):
    """Steps over the root of a mean square of gradients; see ``Optimizer`` for the rest.

    Its parameters: ``mean_square.*`` (ones), ``moment.*`` (zeros) and, if ``centered``, ``mean_grad.*`` (zeros) for
    each parameter.

    Raises:
        SettingTypeError: decay, momentum or epsilon is not a float; use_locking or centered no bool.
        SettingError: decay or momentum is below 0, or epsilon is not above 0.
    """

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 0.1,
        decay: float = 0.9,
        momentum: float = 0.0,
        epsilon: float = 1e-10,
        use_locking: bool = False,
        centered: bool = False,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.decay = fraction(decay, "decay", self.cls_name)
        self.momentum = fraction(momentum, "momentum", self.cls_name)
        self.epsilon = fraction(epsilon, "epsilon", self.cls_name, above=True)
        checks.boolean(use_locking, "use_locking", self.cls_name)
        self.centered = checks.boolean(centered, "centered", self.cls_name)
        self.opt: Any = ops.ApplyRMSProp(use_locking)
        if centered:
            self.opt = ops.ApplyCenteredRMSProp(use_locking)
            self.mg = self._parameters.clone("mean_grad", "zeros")
        self.ms = self._parameters.clone("mean_square", "ones")
        self.moment = self._parameters.clone("moment", "zeros")

    @in_graph
    def construct(self, gradients: Any) -> Any:
        gradients = self._prepared(gradients)
        rates = self._rates()
        self._count_step()

        def update(at: int) -> Any:
            variable, gradient, square, moment = self._parameters[at], gradients[at], self.ms[at], self.moment[at]
            kind = dtypes.float32 if self.centered else gradient.dtype
            settings = [Tensor(value, kind) for value in (self.decay, self.momentum, self.epsilon)]
            if self.centered:
                return self.opt(variable, self.mg[at], square, moment, gradient, rates[at], *settings)
            rate = rates[at] if rates[at].dtype is kind else ops.cast(rates[at], kind)
            return self.opt(variable, square, moment, rate, gradient, *settings)

        return self._each(update, reverse=True)


class Adagrad(Optimizer):
    """Steps over the root of the sum of squares of gradients; see ``Optimizer`` for the rest.

    Its parameters: ``accum.*`` (``accum`` everywhere) for each parameter.

    Raises:
        SettingTypeError: accum is not a float, or update_slots no bool.
        SettingError: accum is below 0.
    """

    def __init__(
        self,
        params: Any,
        accum: float = 0.1,
        learning_rate: Any = 0.001,
        update_slots: bool = True,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        start = fraction(accum, "accum", self.cls_name)
        checks.boolean(update_slots, "update_slots", self.cls_name)
        self.accum = self._parameters.clone("accum", start)
        self.opt = ops.ApplyAdagrad(update_slots=update_slots)

    @in_graph
    def construct(self, gradients: Any) -> Any:
        gradients = self._prepared(gradients)
        rates = self._rates()
        self._count_step()

        def update(at: int) -> Any:
            return self.opt(self._parameters[at], self.accum[at], rates[at], gradients[at])

        return self._each(update, reverse=True)
