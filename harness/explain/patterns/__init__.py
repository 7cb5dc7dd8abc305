"""Patterns of differences. Importing this registers them, in the order they are asked."""

from harness.explain.patterns import numbers, orders, parts, grids  # noqa: F401, I001  (the order is theirs)
from harness.explain.patterns.base import PATTERNS, Finding, Pair, find_pattern

__all__ = ["PATTERNS", "Finding", "Pair", "find_pattern"]
