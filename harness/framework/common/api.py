"""``mindspore.common.api``."""

from harness.framework.nn.transforms import jit

__all__ = ["jit"]
