"""``mindspore.ops.functional`` (``F``): the functions, under the names of ``harness.framework.ops``."""

from typing import Any

import harness.framework.ops as _ops
from harness.framework.names import lookup as _lookup


def __getattr__(name: str) -> Any:
    return vars(_ops)[name] if name in _ops.__all__ else _lookup("ops.functional", name)


def __dir__() -> list[str]:
    return dir(_ops)
