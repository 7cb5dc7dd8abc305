"""MindSpore's ``mint.nn``: its layers raise when they are used, its ``functional`` has what the CPU computes."""

from harness.framework.names import fallback as _fallback

__getattr__ = _fallback(__name__)
