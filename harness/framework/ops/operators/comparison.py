"""Comparisons: Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual, and their forms for a number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from harness import dtypes
from harness.framework.ops.base import Array, Backward, Call, operator
from harness.framework.ops.elementwise import Binary, common
from harness.framework.ops.expansion import Composite, beside
from harness.framework.tensor import call as emit


class _Comparison(Binary):
    """Compares element by element; NaN is unequal to everything and not ordered."""

    result = dtypes.bool_
    function: ClassVar[np.ufunc]

    def kernel(self, call: Call, x: Array, y: Array) -> Array:
        return np.asarray(self.function(*common(x, y)))

    def gradient(self, b: Backward) -> Sequence[Any]:
        return None, None


class _ScalarComparison(Composite):
    """A tensor compared with a Python number."""

    tensors = (0,)
    comparison: ClassVar[str]

    def expand(self, x: Any, number: Any) -> Any:
        return emit(self.comparison, *beside(x, number))

    def gradient(self, b: Backward) -> Sequence[Any]:
        return None, None


@operator
class Equal(_Comparison):
    """x == y."""

    name = "Equal"
    same_dtype = ()
    function = np.equal


@operator
class NotEqual(_Comparison):
    """x != y."""

    name = "NotEqual"
    function = np.not_equal


@operator
class Less(_Comparison):
    """x < y."""

    name = "Less"
    same_dtype = ()
    accepts = "biuf"
    function = np.less


@operator
class LessEqual(_Comparison):
    """x <= y."""

    name = "LessEqual"
    accepts = "biuf"
    function = np.less_equal


@operator
class Greater(_Comparison):
    """x > y."""

    name = "Greater"
    accepts = "biuf"
    function = np.greater


@operator
class GreaterEqual(_Comparison):
    """x >= y."""

    name = "GreaterEqual"
    accepts = "biuf"
    function = np.greater_equal


@operator
class EqScalar(_ScalarComparison):
    """``Equal`` with a number."""

    name = "EqScalar"
    comparison = "Equal"


@operator
class LessScalar(_ScalarComparison):
    """``Less`` with a number."""

    name = "LessScalar"
    comparison = "Less"


@operator
class GreaterEqualScalar(_ScalarComparison):
    """``GreaterEqual`` with a number."""

    name = "GreaterEqualScalar"
    comparison = "GreaterEqual"
