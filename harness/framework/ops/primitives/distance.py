"""Primitives of distances between rows."""

from __future__ import annotations

from harness.errors import SettingError
from harness.framework.ops.primitive import Primitive

__all__ = ["Cdist", "Pdist"]


class Cdist(Primitive):
    """Distances between the rows of two matrices."""

    def __init__(self, p: float = 2.0) -> None:
        if not p >= 0:
            raise SettingError(f"Cdist: p must be at least 0, got {p!r}")
        super().__init__(trailing=(float(p),))


class Pdist(Primitive):
    """Distances between the rows of a matrix."""

    def __init__(self, p: float = 2.0) -> None:
        super().__init__(attrs={"output_names": ["y"], "p": float(p), "input_names": ["x"]})
