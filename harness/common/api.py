"""``mindspore.common.api``."""

from harness.nn.transforms import jit

__all__ = ["jit"]
