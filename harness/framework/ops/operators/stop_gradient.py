"""StopGradient: a value no gradient flows through; finished graphs do not show it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.framework.ops.base import Backward, Call, operator
from harness.framework.ops.expansion import Composite


@operator
class StopGradient(Composite):
    """Argument 0 itself."""

    name = "StopGradient"
    tensors = (0,)

    def expand(self, x: Any) -> Any:
        return x

    def kernel(self, call: Call, *args: Any) -> Any:
        return args[0]

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (None,)
