"""Floor, Ceil, Trunc and Round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, operator
from harness.framework.ops.elementwise import Unary
from harness.framework.tensor import Tensor
from harness.framework.tensor import call as emit


class _Rounding(Unary):
    """To whole numbers. The gradient is zero: Ceil gives none, the others give a constant that is summed (measured)."""

    accepts = "f"
    function: ClassVar[np.ufunc]

    def kernel(self, call: Call, x: Array) -> Any:
        return self.function(numerics.wide(x))

    def gradient(self, b: Backward) -> Sequence[Any]:
        x = b.inputs[0]
        return (emit("ZerosLike", x) if -1 in x.shape else Tensor(np.zeros(x.shape, x.dtype.numpy), x.dtype),)


@operator
class Floor(_Rounding):
    """The next whole number below."""

    name = "Floor"
    function = np.floor


@operator
class Ceil(_Rounding):
    """The next whole number above."""

    name = "Ceil"
    function = np.ceil

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (None,)


@operator
class Trunc(_Rounding):
    """Toward zero."""

    name = "Trunc"
    accepts = "biuf"
    function = np.trunc

    def kernel(self, call: Call, x: Array) -> Any:
        return x if x.dtype.kind in "biu" else super().kernel(call, x)


@operator
class Round(Unary):
    """To ``decimals`` (argument 1, a 0-d tensor) places, ties to even."""

    name = "Round"
    accepts = "iuf"

    def kernel(self, call: Call, x: Array, decimals: Any) -> Any:
        places = int(np.asarray(decimals))
        if x.dtype.kind in "iu" and places >= 0:
            return x
        scale = np.longdouble(10) ** abs(places)
        wide = numerics.wide(x).astype(np.longdouble)
        return np.rint(wide * scale) / scale if places >= 0 else np.rint(wide / scale) * scale

    def gradient(self, b: Backward) -> Sequence[Any]:
        return None, None
