"""Functions of numbers and sequences, as graphs know them: arithmetic, and whether a value is known.

Source: MindSpore 2.10.0, measured (``tests/data/programs/scalar_functions.txt``).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from harness.errors import SettingError, SettingTypeError
from harness.framework.tensor import Tensor
from harness.graph import Const

__all__ = ["is_sequence_shape_unknown", "is_sequence_value_unknown", "isconstant", "scalar_cast"]

_OF_TWO: dict[str, Callable[[Any, Any], Any]] = {
    "scalar_add": operator.add, "scalar_sub": operator.sub, "scalar_mul": operator.mul, "scalar_div": operator.truediv,
    "scalar_floordiv": operator.floordiv, "scalar_mod": operator.mod, "scalar_pow": operator.pow,
    "scalar_eq": operator.eq, "scalar_lt": operator.lt, "scalar_gt": operator.gt,
    "scalar_le": operator.le, "scalar_ge": operator.ge,
}  # fmt: skip
_OF_ONE: dict[str, Callable[[Any], Any]] = {
    "scalar_log": math.log, "scalar_uadd": operator.pos, "scalar_usub": operator.neg,
}  # fmt: skip
__all__ += [*_OF_TWO, *_OF_ONE]


def _number(name: str, value: Any) -> Any:
    if not isinstance(value, (bool, int, float)):
        raise SettingTypeError(f"{name}: a number is needed, got {type(value).__name__}")
    return value


def _of_two(name: str) -> Callable[[Any, Any], Any]:
    def function(x: Any, y: Any) -> Any:
        return _OF_TWO[name](_number(name, x), _number(name, y))

    function.__name__, function.__doc__ = name, f"``{name.removeprefix('scalar_')}`` of two numbers."
    return function


def _of_one(name: str) -> Callable[[Any], Any]:
    def function(x: Any) -> Any:
        return _OF_ONE[name](_number(name, x))

    function.__name__, function.__doc__ = name, f"``{name.removeprefix('scalar_')}`` of a number."
    return function


globals().update({name: _of_two(name) for name in _OF_TWO})
globals().update({name: _of_one(name) for name in _OF_ONE})


def scalar_cast(input_x: Any, input_y: Any) -> Any:
    """A number as one of the dtype ``input_y``: int64, float64 or bool."""
    kinds: dict[str, Callable[[Any], Any]] = {"Int64": int, "Float64": float, "Bool": bool}
    name = getattr(input_y, "name", None)
    if name not in kinds:
        raise SettingError(f"scalar_cast: the dtype must be int64, float64 or bool, got {input_y}")
    return kinds[name](_number("scalar_cast", input_x))


def isconstant(x: Any) -> bool:
    """Whether a value is known when its graph is compiled; of a sequence, whether all members are."""
    if isinstance(x, (tuple, list)):
        return all(map(isconstant, x))
    return not isinstance(x, Tensor) or isinstance(getattr(x, "operand", Const), (type, Const))


def is_sequence_value_unknown(x: Any) -> bool:
    """Whether a sequence has members whose values are not known when its graph is compiled."""
    return not isconstant(_sequence("is_sequence_value_unknown", x))


def is_sequence_shape_unknown(x: Any) -> bool:
    """Whether the number of a sequence's members is not known when the graph is compiled: here it always is."""
    return not hasattr(_sequence("is_sequence_shape_unknown", x), "__len__")


def _sequence(name: str, value: Any) -> Any:
    if not isinstance(value, (tuple, list)):
        raise SettingTypeError(f"{name}: a tuple or list is needed, got {type(value).__name__}")
    return value
