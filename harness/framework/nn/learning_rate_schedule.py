"""Learning rates that change with the step. Source for the operators of each: MindSpore 2.10.0 CPU, measured.

``construct(global_step)`` takes an int32 tensor (1,) and gives a float32 one.
"""

from __future__ import annotations

import math
from typing import Any

from harness import dtypes
from harness.errors import SettingError
from harness.framework.nn import checks
from harness.framework.nn.cell import Cell
from harness.framework.nn.namespace import ops
from harness.framework.tensor import Tensor

__all__ = [
    "CosineDecayLR", "ExponentialDecayLR", "InverseDecayLR", "LearningRateSchedule", "NaturalExpDecayLR",
    "PolynomialDecayLR", "WarmUpLR",
]  # fmt: skip


class LearningRateSchedule(Cell):
    """Base of all schedules; a subclass defines ``construct(global_step)``."""

    def _positive(self, **given: Any) -> None:
        for name, value in given.items():
            checks.number(value, name, self.cls_name)
            if not isinstance(value, float) or value <= 0:
                raise SettingError(f"{self.cls_name}: {name} must be a float above 0, got {value!r}")

    def _share(self, value: Any, name: str) -> float:
        if not isinstance(value, float) or value < 0:
            raise SettingError(f"{self.cls_name}: {name} must be a float of at least 0, got {value!r}")
        return value


class _Decay(LearningRateSchedule):
    def __init__(self, learning_rate: float, decay_rate: float, decay_steps: int, is_stair: bool = False) -> None:
        super().__init__()
        self._positive(learning_rate=learning_rate, decay_rate=decay_rate)
        self.learning_rate = learning_rate
        self.decay_rate = decay_rate
        self.decay_steps = checks.positive_int(decay_steps, "decay_steps", self.cls_name)
        self.is_stair = checks.boolean(is_stair, "is_stair", self.cls_name)
        self.cast = ops.Cast()

    def _progress(self, global_step: Tensor) -> Any:
        """Step over decay_steps; whole numbers only with ``is_stair``."""
        part = self.cast(global_step, dtypes.float32) / self.decay_steps
        return ops.Floor()(part) if self.is_stair else part


class ExponentialDecayLR(_Decay):
    """learning_rate * decay_rate ** (step / decay_steps)."""

    def construct(self, global_step: Tensor) -> Any:
        return self.learning_rate * ops.Pow()(self.decay_rate, self._progress(global_step))


class NaturalExpDecayLR(_Decay):
    """learning_rate * e ** (-decay_rate * step)."""

    def construct(self, global_step: Tensor) -> Any:
        step = self.cast(global_step, dtypes.float32)
        if self.is_stair:
            step = ops.FloorDiv()(step, self.decay_steps) * self.decay_steps
        return self.learning_rate * ops.Pow()(math.e, -self.decay_rate * step)


class InverseDecayLR(_Decay):
    """learning_rate / (1 + decay_rate * step / decay_steps)."""

    def construct(self, global_step: Tensor) -> Any:
        return self.learning_rate / (1 + self.decay_rate * self._progress(global_step))


class CosineDecayLR(LearningRateSchedule):
    """From ``max_lr`` down to ``min_lr`` along half a cosine."""

    def __init__(self, min_lr: float, max_lr: float, decay_steps: int) -> None:
        super().__init__()
        self.min_lr = self._share(min_lr, "min_lr")
        self._positive(max_lr=max_lr)
        if min_lr >= max_lr:
            raise SettingError(f"{self.cls_name}: max_lr must be greater than min_lr, got {max_lr} and {min_lr}")
        self.max_lr = max_lr
        self.decay_steps = checks.positive_int(decay_steps, "decay_steps", self.cls_name)
        self.delta = 0.5 * (max_lr - min_lr)
        self.sin = ops.Sin()
        self.min = ops.Minimum()
        self.cast = ops.Cast()

    def construct(self, global_step: Tensor) -> Any:
        part = self.cast(self.min(global_step, self.decay_steps), dtypes.float32)
        return self.min_lr + self.delta * (1.0 + self.sin(math.pi * (part / self.decay_steps + 0.5)))


class PolynomialDecayLR(LearningRateSchedule):
    """From ``learning_rate`` down to ``end_learning_rate`` along (1 - step / decay_steps) ** power."""

    def __init__(
        self,
        learning_rate: float,
        end_learning_rate: float,
        decay_steps: int,
        power: float,
        update_decay_steps: bool = False,
    ) -> None:
        super().__init__()
        self._positive(learning_rate=learning_rate, power=power)
        self.end_learning_rate = self._share(end_learning_rate, "end_learning_rate")
        self.decay_steps = checks.positive_int(decay_steps, "decay_steps", self.cls_name)
        self.update_decay_steps = checks.boolean(update_decay_steps, "update_decay_steps", self.cls_name)
        self.diff_learning_rate = learning_rate - end_learning_rate
        self.power = power
        self.pow = ops.Pow()
        self.ceil = ops.Ceil()
        self.min = ops.Minimum()
        self.max = ops.Maximum()

    def construct(self, global_step: Tensor) -> Any:
        step = ops.Cast()(global_step, dtypes.float32)
        steps: Any = self.decay_steps
        if self.update_decay_steps:
            steps = steps * self.max(self.ceil(step / steps), 1)
        else:
            step = self.min(step, steps)
        return self.diff_learning_rate * self.pow(1.0 - step / steps, self.power) + self.end_learning_rate


class WarmUpLR(LearningRateSchedule):
    """Grows linearly to ``learning_rate`` within ``warmup_steps``."""

    def __init__(self, learning_rate: float, warmup_steps: int) -> None:
        super().__init__()
        self.learning_rate = self._share(learning_rate, "learning_rate")
        self.warmup_steps = checks.positive_int(warmup_steps, "warmup_steps", self.cls_name)
        self.min = ops.Minimum()
        self.cast = ops.Cast()

    def construct(self, global_step: Tensor) -> Any:
        part = self.cast(self.min(global_step, self.warmup_steps), dtypes.float32) / self.warmup_steps
        return self.learning_rate * part
