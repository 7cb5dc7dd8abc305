"""For tests: faults on purpose."""

from harness.testing.injection import KINDS, Injection, inject

__all__ = ["KINDS", "Injection", "inject"]
