"""IsNan, IsInf and IsFinite."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from harness import dtypes
from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, operator
from harness.framework.ops.elementwise import Unary


class _Check(Unary):
    """A question about each element; integers are never NaN nor infinite."""

    accepts = "biuf"
    result = dtypes.bool_
    function: ClassVar[np.ufunc]

    def kernel(self, call: Call, x: Array) -> Any:
        return self.function(numerics.wide(x))

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (None,)


@operator
class IsNan(_Check):
    """True where an element is NaN."""

    name = "IsNan"
    functional = False
    function = np.isnan


@operator
class IsInf(_Check):
    """True where an element is infinite."""

    name = "IsInf"
    function = np.isinf


@operator
class IsFinite(_Check):
    """True where an element is neither NaN nor infinite."""

    name = "IsFinite"
    function = np.isfinite
