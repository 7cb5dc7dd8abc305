"""BitwiseAnd, BitwiseOr, BitwiseXor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops.base import Array, Backward, Call, operator
from harness.framework.ops.elementwise import Binary, as_result


class _Bitwise(Binary):
    """Two integer or bool tensors, bit by bit."""

    functional = False
    accepts = "biu"

    def gradient(self, b: Backward) -> Sequence[Any]:
        return None, None


@operator
class BitwiseAnd(_Bitwise):
    """x & y."""

    name = "BitwiseAnd"

    def kernel(self, call: Call, x: Array, y: Array) -> Array:
        return np.bitwise_and(*as_result(call, x, y))


@operator
class BitwiseOr(_Bitwise):
    """x | y."""

    name = "BitwiseOr"

    def kernel(self, call: Call, x: Array, y: Array) -> Array:
        return np.bitwise_or(*as_result(call, x, y))


@operator
class BitwiseXor(_Bitwise):
    """x ^ y."""

    name = "BitwiseXor"

    def kernel(self, call: Call, x: Array, y: Array) -> Array:
        return np.bitwise_xor(*as_result(call, x, y))
