"""Primitives that update parameters."""

from __future__ import annotations

from harness.framework.ops.primitive import Primitive

__all__ = ["SGD", "Adam", "AdamWeightDecay", "ApplyMomentum"]


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


class AdamWeightDecay(Primitive):
    """Adam with decoupled weight decay; ``use_locking`` is its last argument."""

    def __init__(self, use_locking: bool = False) -> None:
        super().__init__(attrs={"side_effect_mem": True}, trailing=(use_locking,))
