"""Training as ``mindspore.train``: models, callbacks, metrics, checkpoints."""

from harness.train.callback import *  # noqa: F403
from harness.train.callback import __all__ as _callbacks
from harness.train.checkpoint import *  # noqa: F403
from harness.train.checkpoint import __all__ as _checkpoint
from harness.train.metrics import *  # noqa: F403
from harness.train.metrics import __all__ as _metrics
from harness.train.model import Model

__all__ = [*_callbacks, *_checkpoint, *_metrics, "Model"]
