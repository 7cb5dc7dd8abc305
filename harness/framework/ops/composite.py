"""``mindspore.ops.composite`` (``C``): gradient functions and everything else that ``harness.framework.ops`` has.

The operators that a graph shows expanded are in ``harness.framework.ops.expansion``.
"""

from typing import Any

import harness.framework.ops as _ops
from harness.framework.names import lookup as _lookup


def __getattr__(name: str) -> Any:
    return vars(_ops)[name] if name in _ops.__all__ else _lookup("ops.composite", name)


def __dir__() -> list[str]:
    return dir(_ops)
