"""Loss scales that a training loop asks for and reports overflows to, as ``mindspore.train.loss_scale_manager``.

Source of defaults and rules: MindSpore 2.10.0, measured.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from harness.errors import SettingError, SettingTypeError, StateError
from harness.framework.nn.loss_scale import DynamicLossScaleUpdateCell, FixedLossScaleUpdateCell

__all__ = ["DynamicLossScaleManager", "FixedLossScaleManager", "LossScaleManager"]

#: training stops after this many overflows in a row
_BAD_STEPS = 1000


class LossScaleManager(ABC):
    """Base of the managers of a loss scale."""

    @abstractmethod
    def get_loss_scale(self) -> float:
        """The scale of the next step."""

    @abstractmethod
    def update_loss_scale(self, overflow: bool) -> None:
        """Notes whether a step overflowed."""

    @abstractmethod
    def get_update_cell(self) -> Any:
        """A cell that does the same in a graph, or None."""


class FixedLossScaleManager(LossScaleManager):
    """A scale that stays.

    Args:
        loss_scale: the scale, at least 1.
        drop_overflow_update: whether a step that overflows updates nothing.
    """

    def __init__(self, loss_scale: float = 128.0, drop_overflow_update: bool = True) -> None:
        if isinstance(loss_scale, bool) or not isinstance(loss_scale, (int, float)):
            raise SettingTypeError(f"FixedLossScaleManager: loss_scale must be a number, got {loss_scale!r}")
        if loss_scale < 1:
            raise SettingError(f"FixedLossScaleManager: loss_scale must be at least 1, got {loss_scale}")
        self._loss_scale = loss_scale
        self._drop_overflow_update = drop_overflow_update

    def get_loss_scale(self) -> float:
        """The scale."""
        return self._loss_scale

    def get_drop_overflow_update(self) -> bool:
        """Whether a step that overflows updates nothing."""
        return self._drop_overflow_update

    def update_loss_scale(self, overflow: bool) -> None:
        """Nothing changes."""

    def get_update_cell(self) -> Any:
        """A cell for ``TrainOneStepWithLossScaleCell``; None if nobody looks for overflows."""
        return FixedLossScaleUpdateCell(self._loss_scale) if self._drop_overflow_update else None


class DynamicLossScaleManager(LossScaleManager):
    """A scale that falls with each overflow and grows after steps without one.

    Args:
        init_loss_scale: the first scale, at least 1.
        scale_factor: what it is multiplied and divided by.
        scale_window: steps without overflow before it grows.
    """

    def __init__(self, init_loss_scale: float = 2**24, scale_factor: int = 2, scale_window: int = 2000) -> None:
        if init_loss_scale < 1.0:
            raise SettingError(f"DynamicLossScaleManager: init_loss_scale must be at least 1, got {init_loss_scale}")
        if isinstance(scale_window, bool) or not isinstance(scale_window, int):
            raise SettingTypeError(f"DynamicLossScaleManager: scale_window must be an int, got {scale_window!r}")
        if scale_window <= 0:
            raise SettingError(f"DynamicLossScaleManager: scale_window must be above 0, got {scale_window}")
        if scale_factor <= 0:
            raise SettingError(f"DynamicLossScaleManager: scale_factor must be above 0, got {scale_factor}")
        self.loss_scale = init_loss_scale
        self.scale_window = scale_window
        self.scale_factor = scale_factor
        self.increase_ratio = scale_factor
        self.decrease_ratio = 1 / scale_factor
        self.cur_iter = 1
        self.last_overflow_iter = 0
        self.bad_step_max = _BAD_STEPS
        self.bad_step = 0

    def get_loss_scale(self) -> float:
        """The scale of the next step."""
        return self.loss_scale

    def get_drop_overflow_update(self) -> bool:
        """True."""
        return True

    def update_loss_scale(self, overflow: bool) -> None:
        """Notes a step; ``StateError`` after too many overflows in a row."""
        if overflow:
            self.loss_scale = max(self.loss_scale * self.decrease_ratio, 1)
            self.last_overflow_iter = self.cur_iter
            self.bad_step += 1
        else:
            if (self.cur_iter - self.last_overflow_iter) % self.scale_window == 0:
                self.loss_scale *= self.increase_ratio
            self.bad_step = 0
        if self.bad_step > self.bad_step_max:
            raise StateError(f"the loss overflowed {self.bad_step} times in a row; the limit is {self.bad_step_max}")
        self.cur_iter += 1

    def get_update_cell(self) -> Any:
        """A cell for ``TrainOneStepWithLossScaleCell``."""
        return DynamicLossScaleUpdateCell(self.loss_scale, self.scale_factor, self.scale_window)
