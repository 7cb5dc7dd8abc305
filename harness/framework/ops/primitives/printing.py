"""The primitive ``Print``."""

from __future__ import annotations

from typing import Any

from harness.framework.ops.functions.printing import printed
from harness.framework.ops.primitive import Primitive

__all__ = ["Print"]


class Print(Primitive):
    """Writes its arguments, one line each."""

    def __init__(self) -> None:
        super().__init__(attrs={"side_effect_io": True})

    def __call__(self, *args: Any) -> Any:
        return printed(args, {**self.attrs, **self.marks})
