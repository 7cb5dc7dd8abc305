"""MindSpore's ``mint.special``: its own form of ``round``; the other names are those of ``ops`` and ``mint``."""

from __future__ import annotations

from typing import Any

from harness.framework.mint.functions import ops
from harness.framework.names import fallback as _fallback

__all__ = ["round"]


def round(input: Any) -> Any:
    """Each element rounded, halves to even."""
    return ops.round(input)


__getattr__ = _fallback(__name__)
