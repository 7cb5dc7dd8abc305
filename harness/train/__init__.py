"""Training as ``mindspore.train``: metrics."""

from harness.train.metrics import *  # noqa: F403
from harness.train.metrics import __all__ as __all__
