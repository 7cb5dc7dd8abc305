"""Callbacks, as ``mindspore.train.callback``."""

from harness.framework.names import fallback as _fallback
from harness.framework.train.callback.base import Callback, InternalCallbackParam, RunContext
from harness.framework.train.callback.checkpoint_config import CheckpointConfig
from harness.framework.train.callback.early_stopping import EarlyStopping
from harness.framework.train.callback.history import History
from harness.framework.train.callback.lambda_callback import LambdaCallback
from harness.framework.train.callback.learning_rate import LearningRateScheduler, ReduceLROnPlateau
from harness.framework.train.callback.loss_monitor import LossMonitor
from harness.framework.train.callback.model_checkpoint import ModelCheckpoint
from harness.framework.train.callback.summary_collector import SummaryCollector
from harness.framework.train.callback.time_monitor import TimeMonitor

#: MindSpore's older name
_InternalCallbackParam = InternalCallbackParam

__all__ = [
    "Callback", "CheckpointConfig", "EarlyStopping", "History", "LambdaCallback", "LearningRateScheduler",
    "LossMonitor", "ModelCheckpoint", "ReduceLROnPlateau", "RunContext", "SummaryCollector", "TimeMonitor",
]  # fmt: skip

__getattr__ = _fallback(__name__)
