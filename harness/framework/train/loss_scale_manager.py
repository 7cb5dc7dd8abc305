"""``mindspore.train.loss_scale_manager``."""

from harness.framework.amp.loss_scale_manager import DynamicLossScaleManager, FixedLossScaleManager, LossScaleManager
from harness.framework.names import fallback as _fallback

__all__ = ["DynamicLossScaleManager", "FixedLossScaleManager", "LossScaleManager"]

__getattr__ = _fallback(__name__)
