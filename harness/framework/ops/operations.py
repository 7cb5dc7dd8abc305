"""``mindspore.ops.operations`` (``P``): the primitives, under the names of ``harness.framework.ops``."""

from typing import Any

import harness.framework.ops as _ops


def __getattr__(name: str) -> Any:
    try:
        return getattr(_ops, name)
    except AttributeError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None


def __dir__() -> list[str]:
    return dir(_ops)
