# Written by `python -m tests.stubs`.
from harness.framework.amp.loss_scale_manager import DynamicLossScaleManager as DynamicLossScaleManager
from harness.framework.amp.loss_scale_manager import FixedLossScaleManager as FixedLossScaleManager
from harness.framework.amp.loss_scale_manager import LossScaleManager as LossScaleManager
