"""Primitives that arrange elements."""

from __future__ import annotations

from harness.ops.primitive import plain

__all__ = ["Cast", "Depend", "Flatten", "Reshape"]

Cast, Depend, Flatten, Reshape = plain("Cast", "Depend", "Flatten", "Reshape").values()
