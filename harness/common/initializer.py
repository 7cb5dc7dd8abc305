"""``mindspore.common.initializer``."""

from harness.nn.initializer import *  # noqa: F403
from harness.nn.initializer import __all__ as __all__
