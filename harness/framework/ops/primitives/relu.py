"""``ops.ReLU``."""

from __future__ import annotations

from harness.framework.ops.primitive import plain

__all__ = ["ReLU"]

ReLU = plain("ReLU")["ReLU"]
