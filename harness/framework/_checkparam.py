"""Checks of arguments that scripts import from ``mindspore._checkparam``: each gives the value, or raises.

Which values are refused, and by which class, was recorded from MindSpore 2.10.0
(``tests/data/programs/checks_of_arguments.told``); the texts are this project's.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

from harness.errors import SettingError, SettingTypeError

EQ, NE, LT, LE, GT, GE, INC_NEITHER, INC_LEFT, INC_RIGHT, INC_BOTH, IN, NOT_IN = range(1, 13)

_ONE: dict[int, tuple[str, Callable[[Any, Any], Any]]] = {
    EQ: ("be", operator.eq), NE: ("differ from", operator.ne), LT: ("be less than", operator.lt),
    LE: ("be at most", operator.le), GT: ("be greater than", operator.gt), GE: ("be at least", operator.ge),
    IN: ("be among", lambda value, among: value in among), NOT_IN: ("not be among", lambda value, a: value not in a),
}  # fmt: skip
_TWO = {INC_NEITHER: (operator.lt, operator.lt, "()"), INC_LEFT: (operator.le, operator.lt, "[)"),
        INC_RIGHT: (operator.lt, operator.le, "(]"), INC_BOTH: (operator.le, operator.le, "[]")}  # fmt: skip


def _named(arg_name: Any, prim_name: Any) -> str:
    return (f"{prim_name}: " if prim_name else "") + (str(arg_name) if arg_name else "the value")


def _typed(value: Any, kind: type, arg_name: Any, prim_name: Any) -> Any:
    if type(value) is bool or not isinstance(value, kind):
        told = f"{_named(arg_name, prim_name)} must be of {kind.__name__}, got {type(value).__name__} {value!r}"
        raise SettingTypeError(told)
    if isinstance(value, float) and not math.isfinite(value):
        raise SettingError(f"{_named(arg_name, prim_name)} must be finite, got {value}")
    return value


def check(
    arg_name: Any, arg_value: Any, value_name: Any, value: Any, rel: int = EQ, prim_name: Any = None,
    excp_cls: type[Exception] = ValueError,
) -> Any:  # fmt: skip
    """``arg_value`` if it is to ``value`` as ``rel`` says; else ``excp_cls``."""
    words, holds = _ONE[rel]
    if not holds(arg_value, value):
        raise excp_cls(f"{_named(arg_name, prim_name)} must {words} {value_name} ({value}), got {arg_value}")
    return arg_value


def check_isinstance(arg_name: Any, arg_value: Any, classes: Any) -> Any:
    """``arg_value`` if it is of ``classes``; else ``ValueError``."""
    if not isinstance(arg_value, classes):
        raise SettingError(f"{arg_name} must be of {classes}, got {type(arg_value).__name__}")
    return arg_value


def check_value_type(arg_name: Any, arg_value: Any, valid_types: Any, prim_name: Any = None) -> Any:
    """``arg_value`` if it is of one of the types (a bool is an int only where bool is named); else ``TypeError``."""
    kinds = tuple(valid_types) if isinstance(valid_types, (list, tuple, set)) else (valid_types,)
    if not isinstance(arg_value, kinds) or (isinstance(arg_value, bool) and bool not in kinds):
        names = ", ".join(getattr(kind, "__name__", str(kind)) for kind in kinds)
        raise SettingTypeError(f"{_named(arg_name, prim_name)} must be of {names}, got {type(arg_value).__name__}")
    return arg_value


def check_bool(arg_value: Any, arg_name: Any = None, prim_name: Any = None) -> bool:
    """``arg_value`` if it is a bool; else ``TypeError``."""
    if not isinstance(arg_value, bool):
        raise SettingTypeError(f"{_named(arg_name, prim_name)} must be a bool, got {type(arg_value).__name__}")
    return arg_value


def check_string(arg_value: Any, valid_values: Sequence[str], arg_name: Any = None, prim_name: Any = None) -> Any:
    """``arg_value`` if it is a text among ``valid_values``; else ``ValueError``."""
    if not isinstance(arg_value, str) or arg_value not in valid_values:
        raise SettingError(f"{_named(arg_name, prim_name)} must be one of {valid_values}, got {arg_value!r}")
    return arg_value


def check_number(arg_name: Any, arg_value: Any, value: Any, rel: int, prim_name: Any) -> Any:
    """``arg_value`` if it is to ``value`` as ``rel`` says; else ``ValueError``."""
    return check(arg_name, arg_value, "", value, rel, prim_name)


def check_number_range(
    arg_value: Any, lower_limit: Any, upper_limit: Any, rel: int, value_type: type, arg_name: Any = None,
    prim_name: Any = None,
) -> Any:  # fmt: skip
    """``arg_value`` if it is of the type and between the limits; else ``TypeError`` or ``ValueError``."""
    _typed(arg_value, value_type, arg_name, prim_name)
    low, high, marks = _TWO[rel]
    if not (low(lower_limit, arg_value) and high(arg_value, upper_limit)):
        span = f"{marks[0]}{lower_limit}, {upper_limit}{marks[1]}"
        raise SettingError(f"{_named(arg_name, prim_name)} must be in {span}, got {arg_value}")
    return arg_value


def check_int_range(
    arg_value: Any, lower_limit: Any, upper_limit: Any, rel: int, arg_name: Any = None, prim_name: Any = None
) -> Any:
    """``check_number_range`` of an int."""
    return check_number_range(arg_value, lower_limit, upper_limit, rel, int, arg_name, prim_name)


def check_float_range(
    arg_value: Any, lower_limit: Any, upper_limit: Any, rel: int, arg_name: Any = None, prim_name: Any = None
) -> Any:
    """``check_number_range`` of a float."""
    return check_number_range(arg_value, lower_limit, upper_limit, rel, float, arg_name, prim_name)


def _comparing(kind: type) -> Callable[..., Any]:
    def compare(arg_value: Any, value: Any, rel: int, arg_name: Any = None, prim_name: Any = None) -> Any:
        """``arg_value`` if it is of the type, and to ``value`` as ``rel`` says; else an error."""
        return check(arg_name, _typed(arg_value, kind, arg_name, prim_name), "", value, rel, prim_name, SettingError)

    return compare


def _against(kind: type, rel: int | None) -> Callable[..., Any]:
    def compare(arg_value: Any, arg_name: Any = None, prim_name: Any = None) -> Any:
        """``arg_value`` if it is of the type, and of the sign; else ``TypeError`` or ``ValueError``."""
        _typed(arg_value, kind, arg_name, prim_name)
        return arg_value if rel is None else check(arg_name, arg_value, "", 0, rel, prim_name, SettingError)

    return compare


def _each(one: Callable[..., Any]) -> Callable[..., Any]:
    def compare(sequence: Any, arg_name: Any = None, prim_name: Any = None) -> Any:
        """``sequence`` if it is a list or tuple of such numbers; else ``TypeError`` or ``ValueError``."""
        if not isinstance(sequence, (list, tuple)):
            raise SettingTypeError(f"{_named(arg_name, prim_name)} must be a list or tuple, got {sequence!r}")
        for at, member in enumerate(sequence):
            one(member, f"{arg_name}[{at}]", prim_name)
        return sequence

    return compare


check_int, check_float = _comparing(int), _comparing(float)
check_is_int, check_is_float = _against(int, None), _against(float, None)
check_positive_int, check_positive_float = _against(int, GT), _against(float, GT)
check_negative_int, check_negative_float = _against(int, LT), _against(float, LT)
check_non_positive_int, check_non_positive_float = _against(int, LE), _against(float, LE)
check_non_negative_int, check_non_negative_float = _against(int, GE), _against(float, GE)
check_positive_int_sequence, check_positive_float_sequence = _each(check_positive_int), _each(check_positive_float)
check_non_negative_int_sequence = _each(check_non_negative_int)


def check_equal_int(arg_value: Any, value: int, arg_name: Any = None, prim_name: Any = None) -> Any:
    """``arg_value`` if it is an int and equals ``value``; else an error."""
    return check_int(arg_value, value, EQ, arg_name, prim_name)


def check_element_type_of_iterable(arg_name: Any, arg_value: Any, valid_types: Any, prim_name: Any = None) -> None:
    """``TypeError`` unless each member is of one of the types."""
    for at, member in enumerate(arg_value):
        check_value_type(f"{arg_name}[{at}]", member, valid_types, prim_name)


def check_axis_in_range(axis: Any, ndim: int) -> int:
    """The axis counted from 0; ``TypeError`` for no int, ``ValueError`` outside of the dimensions."""
    if not isinstance(axis, int):
        raise SettingTypeError(f"an axis must be an int, got {type(axis).__name__}")
    if not -ndim <= axis < ndim:
        raise SettingError(f"axis {axis} is none of {ndim} dimensions")
    return axis % ndim
