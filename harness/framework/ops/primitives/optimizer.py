"""Primitives that update parameters."""

from __future__ import annotations

from harness.errors import SettingTypeError
from harness.framework.ops.primitive import Primitive

__all__ = [
    "SGD",
    "Adam",
    "AdamNoUpdateParam",
    "AdamWeightDecay",
    "ApplyAdaMax",
    "ApplyAdadelta",
    "ApplyAdagrad",
    "ApplyAdagradDA",
    "ApplyAdagradV2",
    "ApplyAdamWithAmsgradV2",
    "ApplyAddSign",
    "ApplyCenteredRMSProp",
    "ApplyFtrl",
    "ApplyGradientDescent",
    "ApplyMomentum",
    "ApplyPowerSign",
    "ApplyProximalAdagrad",
    "ApplyProximalGradientDescent",
    "ApplyRMSProp",
]


class ApplyMomentum(Primitive):
    """Gradient descent with momentum."""

    def __init__(self, use_nesterov: bool = False, use_locking: bool = False, gradient_scale: float = 1.0) -> None:
        names = ["variable", "accumulation", "learning_rate", "gradient", "momentum"]
        attrs = {
            "side_effect_mem": True, "input_names": names, "output_names": ["output"], "use_nesterov": use_nesterov,
            "use_locking": use_locking, "gradient_scale": float(gradient_scale),
        }  # fmt: skip
        super().__init__(attrs=attrs)


class SGD(Primitive):
    """Stochastic gradient descent."""

    def __init__(self, dampening: float = 0.0, weight_decay: float = 0.0, nesterov: bool = False) -> None:
        names = ["parameters", "gradient", "learning_rate", "accum", "momentum", "stat"]
        attrs = {
            "weight_decay": float(weight_decay), "side_effect_mem": True, "input_names": names, "nesterov": nesterov,
            "output_names": ["output"], "dampening": float(dampening),
        }  # fmt: skip
        super().__init__(attrs=attrs)


class Adam(Primitive):
    """Adam."""

    def __init__(self, use_locking: bool = False, use_nesterov: bool = False) -> None:
        attrs = {"side_effect_mem": True, "use_nesterov": use_nesterov, "use_locking": use_locking}
        super().__init__(attrs=attrs)


class AdamNoUpdateParam(Primitive):
    """Adam's step, which is given back and not added."""

    def __init__(self, use_locking: bool = False, use_nesterov: bool = False) -> None:
        attrs = {
            "side_effect_mem": True, "use_nesterov": use_nesterov, "use_locking": use_locking,
            "primitive_target": "CPU",
        }  # fmt: skip
        super().__init__(attrs=attrs)


class ApplyAdamWithAmsgradV2(Primitive):
    """Adam with the largest mean square so far."""

    def __init__(self, use_locking: bool = False) -> None:
        super().__init__(attrs={"side_effect_mem": True, "use_locking": use_locking})


class AdamWeightDecay(Primitive):
    """Adam with decoupled weight decay; ``use_locking`` is its last argument."""

    def __init__(self, use_locking: bool = False) -> None:
        super().__init__(attrs={"side_effect_mem": True}, trailing=(use_locking,))


class ApplyRMSProp(Primitive):
    """Steps over the root of a mean square."""

    def __init__(self, use_locking: bool = False) -> None:
        names = ["var", "mean_square", "moment", "learning_rate", "grad", "rho", "momentum", "epsilon"]
        attrs = {
            "output_names": ["output"], "side_effect_mem": True, "input_names": names, "use_locking": use_locking,
        }  # fmt: skip
        super().__init__(attrs=attrs)


class ApplyCenteredRMSProp(Primitive):
    """Steps over the root of a variance."""

    def __init__(self, use_locking: bool = False) -> None:
        super().__init__(attrs={"side_effect_mem": True, "use_locking": use_locking})


class ApplyAdagrad(Primitive):
    """Steps over the root of a sum of squares."""

    def __init__(self, update_slots: bool = True) -> None:
        super().__init__(attrs={"update_slots": update_slots, "side_effect_mem": True})


class ApplyAdagradV2(Primitive):
    """Steps over the root of a sum of squares, and ``epsilon``."""

    def __init__(self, epsilon: float, update_slots: bool = True) -> None:
        for name, value, kind in (("epsilon", epsilon, float), ("update_slots", update_slots, bool)):
            if not isinstance(value, kind):
                raise SettingTypeError(f"ApplyAdagradV2: {name} must be a {kind.__name__}, got {value!r}")
        super().__init__(attrs={"epsilon": epsilon, "update_slots": update_slots, "side_effect_mem": True})


class _Plain(Primitive):
    def __init__(self) -> None:
        super().__init__(attrs={"side_effect_mem": True})


class ApplyPowerSign(_Plain):
    """Steps by the gradient, the larger the more its sign agrees with the moment's."""


class ApplyAddSign(_Plain):
    """The same, by a sum in place of a power."""


class ApplyGradientDescent(_Plain):
    """Steps by the gradient."""


class ApplyProximalGradientDescent(_Plain):
    """Steps by the gradient, with l1 and l2."""


class ApplyAdagradDA(Primitive):
    """Steps by averages of all gradients and their squares."""

    def __init__(self, use_locking: bool = False) -> None:
        if not isinstance(use_locking, bool):
            raise SettingTypeError(f"ApplyAdagradDA: use_locking must be a bool, got {use_locking!r}")
        super().__init__(attrs={"side_effect_mem": True, "use_locking": use_locking})


class ApplyAdaMax(Primitive):
    """Adam with the largest gradient in place of the mean square."""

    def __init__(self) -> None:
        super().__init__(attrs={"side_effect_mem": True})


class ApplyAdadelta(Primitive):
    """Steps by the ratio of two root mean squares."""

    def __init__(self) -> None:
        super().__init__(attrs={"side_effect_mem": True})


class ApplyFtrl(Primitive):
    """Follow the regularized leader."""

    def __init__(self, use_locking: bool = False) -> None:
        names = ["var", "accum", "linear", "grad", "lr", "l1", "l2", "lr_power"]
        attrs = {
            "output_names": ["output"], "side_effect_mem": True, "input_names": names, "use_locking": use_locking,
        }  # fmt: skip
        super().__init__(attrs=attrs)


class ApplyProximalAdagrad(Primitive):
    """Adagrad with l1 and l2."""

    def __init__(self, use_locking: bool = False) -> None:
        names = ["var", "accum", "lr", "l1", "l2", "grad"]
        attrs = {
            "output_names": ["var", "accum"], "side_effect_mem": True, "input_names": names, "use_locking": use_locking,
        }  # fmt: skip
        super().__init__(attrs=attrs)
