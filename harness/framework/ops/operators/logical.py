"""Logic: LogicalAnd, LogicalOr, LogicalNot, LogicalXor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness import dtypes
from harness.framework.ops.base import Array, Backward, Call, operator
from harness.framework.ops.elementwise import Binary, Unary


class _Logical(Binary):
    """Two tensors as truth values (not 0)."""

    result = dtypes.bool_

    def gradient(self, b: Backward) -> Sequence[Any]:
        return None, None


@operator
class LogicalAnd(_Logical):
    """x and y."""

    name = "LogicalAnd"

    def kernel(self, call: Call, x: Array, y: Array) -> Any:
        return np.logical_and(x != 0, y != 0)


@operator
class LogicalOr(_Logical):
    """x or y."""

    name = "LogicalOr"

    def kernel(self, call: Call, x: Array, y: Array) -> Any:
        return np.logical_or(x != 0, y != 0)


@operator
class LogicalXor(_Logical):
    """x xor y."""

    name = "LogicalXor"

    def kernel(self, call: Call, x: Array, y: Array) -> Any:
        return np.logical_xor(x != 0, y != 0)


@operator
class LogicalNot(Unary):
    """not x."""

    name = "LogicalNot"
    accepts = "biufc"
    result = dtypes.bool_

    def kernel(self, call: Call, x: Array) -> Any:
        return x == 0

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (None,)
