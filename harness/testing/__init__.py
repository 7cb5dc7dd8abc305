"""Injects faults on purpose, for tests."""

from harness.testing.injection import KINDS, Injection, inject

__all__ = ["KINDS", "Injection", "inject"]
