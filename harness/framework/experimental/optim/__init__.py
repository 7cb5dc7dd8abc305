"""``mindspore.experimental.optim``."""

from harness.framework.experimental.optim import lr_scheduler
from harness.framework.experimental.optim.accumulating import Adadelta, Adagrad, RMSprop
from harness.framework.experimental.optim.averaging import ASGD, SGD, Rprop
from harness.framework.experimental.optim.moments import Adam, Adamax, AdamW, NAdam, RAdam
from harness.framework.experimental.optim.optimizer import Optimizer
from harness.framework.names import fallback as _fallback

__all__ = [
    "ASGD",
    "SGD",
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "lr_scheduler",
]  # fmt: skip

__getattr__ = _fallback(__name__)
