"""Callbacks, as ``mindspore.train.callback``."""

from harness.train.callback.base import Callback, InternalCallbackParam, RunContext
from harness.train.callback.checkpoint_config import CheckpointConfig
from harness.train.callback.early_stopping import EarlyStopping
from harness.train.callback.history import History
from harness.train.callback.lambda_callback import LambdaCallback
from harness.train.callback.learning_rate import LearningRateScheduler, ReduceLROnPlateau
from harness.train.callback.loss_monitor import LossMonitor
from harness.train.callback.model_checkpoint import ModelCheckpoint
from harness.train.callback.summary_collector import SummaryCollector
from harness.train.callback.time_monitor import TimeMonitor

#: MindSpore's older name
_InternalCallbackParam = InternalCallbackParam

__all__ = [
    "Callback", "CheckpointConfig", "EarlyStopping", "History", "LambdaCallback", "LearningRateScheduler",
    "LossMonitor", "ModelCheckpoint", "ReduceLROnPlateau", "RunContext", "SummaryCollector", "TimeMonitor",
]  # fmt: skip
