"""``mindspore.common.initializer``."""

from harness.framework.nn.initializer import *  # noqa: F403
from harness.framework.nn.initializer import __all__ as __all__
