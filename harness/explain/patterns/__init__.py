"""Patterns of differences. Importing this package registers them in the order in which they are tried."""

from harness.explain.patterns import numbers, orders, parts, grids  # noqa: F401, I001  (the order is theirs)
from harness.explain.patterns.base import PATTERNS, Finding, Pair, find_pattern

__all__ = ["PATTERNS", "Finding", "Pair", "find_pattern"]
