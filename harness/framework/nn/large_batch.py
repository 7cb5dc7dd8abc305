"""``Lamb`` and ``LARS``, whose operators MindSpore's CPU has no kernel for: they are made, and refused when called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness import dtypes
from harness.errors import KernelError, MissingMethodError, SettingTypeError
from harness.framework.nn import checks
from harness.framework.nn.adam import check_betas
from harness.framework.nn.optimizer import Optimizer
from harness.framework.nn.rms_prop import fraction
from harness.framework.tensor import Parameter, Tensor

__all__ = ["LARS", "Lamb"]


class Lamb(Optimizer):
    """Adam with steps scaled by layer; see ``Optimizer`` for the rest. Refused when called: a CPU has no kernel.

    Its parameters: ``lamb_m.*`` and ``lamb_v.*`` (zeros) for each parameter.
    """

    def __init__(
        self,
        params: Any,
        learning_rate: Any,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-6,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay)
        check_betas(beta1, beta2, eps, self.cls_name)
        self.moments1 = self._parameters.clone("lamb_m", "zeros")
        self.moments2 = self._parameters.clone("lamb_v", "zeros")

    def construct(self, gradients: Any) -> Any:
        self._require_each(gradients)
        raise KernelError("Lamb: the operator Lamb has no CPU kernel; use nn.AdamWeightDecay")


def _scaled(parameter: Parameter) -> bool:
    return "LayerNorm" not in parameter.name and "bias" not in parameter.name


class LARS(Optimizer):
    """Another optimizer with gradients scaled by layer. Refused when called: a CPU has no kernel.

    Args:
        optimizer: the optimizer that takes the scaled gradients.
        epsilon: added to norms.
        coefficient: factor of the scale.
        use_clip: whether rates are bounded.
        lars_filter: which parameters are scaled.
    """

    def __init__(
        self,
        optimizer: Any,
        epsilon: float = 1e-5,
        coefficient: float = 0.001,
        use_clip: bool = False,
        lars_filter: Callable[[Parameter], bool] = _scaled,
    ) -> None:
        if not isinstance(optimizer, Optimizer):
            raise MissingMethodError(f"LARS: optimizer must be an Optimizer, got {type(optimizer).__name__}")
        super().__init__(0.0, [Parameter(Tensor(0.0, dtypes.float32), name="fake_param")])
        self.learning_rate.name = "fake_lr"
        fraction(epsilon, "epsilon", self.cls_name)
        if not isinstance(coefficient, float):
            raise SettingTypeError(f"LARS: coefficient must be a float, got {coefficient!r}")
        self.use_clip = checks.boolean(use_clip, "use_clip", self.cls_name)
        self.lars_flag = tuple(map(lars_filter, optimizer.parameters))
        self.opt = optimizer

    def construct(self, gradients: Any) -> Any:
        self.opt._require_each(gradients)
        raise KernelError("LARS: the operator LARSUpdate has no CPU kernel; use its optimizer alone")
