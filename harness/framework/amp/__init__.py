"""``mindspore.amp``: mixed precision and loss scaling."""

from harness.framework.amp.build import build_train_network
from harness.framework.amp.loss_scale_manager import DynamicLossScaleManager, FixedLossScaleManager, LossScaleManager
from harness.framework.amp.precision import (
    auto_mixed_precision,
    custom_mixed_precision,
    get_black_list,
    get_white_list,
)
from harness.framework.amp.scaler import DynamicLossScaler, LossScaler, StaticLossScaler, all_finite
from harness.framework.names import fallback as _fallback

__all__ = [
    "DynamicLossScaleManager", "DynamicLossScaler", "FixedLossScaleManager", "LossScaleManager", "LossScaler",
    "StaticLossScaler", "all_finite", "auto_mixed_precision", "build_train_network", "custom_mixed_precision",
    "get_black_list", "get_white_list",
]  # fmt: skip

__getattr__ = _fallback(__name__)
