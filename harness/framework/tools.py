"""MindSpore's ``tools`` namespace."""

from harness.framework.nn.marks import set_dump

__all__ = ["set_dump"]
