"""Values and gradients brought within bounds: ``clip_by_value`` and ``clip_by_global_norm``."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness import dtypes
from harness.errors import SettingAttributeError, SettingError, SettingTypeError, UnsupportedError
from harness.framework.ops.eager import is_number
from harness.framework.ops.expansion import cast, constant_value, scalar
from harness.framework.ops.functions.cells import made_at_each_call
from harness.framework.ops.functions.control import cond
from harness.framework.ops.functions.inner import addn_of, select_of
from harness.framework.ops.functions.math import sqrt, square
from harness.framework.tensor import Tensor, call, graph_function, is_eager

__all__ = ["clip_by_global_norm", "clip_by_norm", "clip_by_value"]

_square, _sqrt = graph_function("ops.square", square), graph_function("ops.sqrt", sqrt)


def clip_by_value(x: Any, clip_value_min: Any = None, clip_value_max: Any = None) -> Any:
    """Clips values to two bounds, each a number, a tensor, or None.

    Args:
        x: a tensor, or a tuple or list of tensors, of which each is clipped.
        clip_value_min, clip_value_max: lower and upper bound; not both None.
    """
    if clip_value_min is None and clip_value_max is None:
        raise ValueError("ops.clip_by_value needs clip_value_min or clip_value_max")
    if isinstance(x, (tuple, list)):
        return type(x)(clip_by_value(each, clip_value_min, clip_value_max) for each in x)
    if clip_value_min is not None:
        x = call("Maximum", x, _bound(clip_value_min, x))
    if clip_value_max is not None:
        x = call("Minimum", x, _bound(clip_value_max, x))
    return x


def _bound(value: Any, x: Any) -> Any:
    """A bound as a constant in the dtype of what it bounds, even if that loses a fraction (measured)."""
    known = value if is_number(value) else constant_value(value)
    return value if known is None else Tensor(np.asarray(known), x.dtype)


@made_at_each_call
def clip_by_global_norm(x: Any, clip_norm: float = 1.0, use_norm: None = None) -> Any:
    """Tensors scaled so that the norm of all of them together is at most ``clip_norm``.

    Args:
        x: a tuple or list of tensors.
        clip_norm: a number above 0.
        use_norm: None; MindSpore knows no other value either.

    Returns:
        A tuple or list like ``x``, shapes and dtypes kept. The operators are those of MindSpore 2.10.0 (measured).
    """
    _check(x, clip_norm, use_norm)
    squares = [_square_sum(each) for each in x]
    norm = _sqrt(addn_of(tuple(squares)))
    bound = Tensor(np.asarray([clip_norm]), dtypes.float32)
    norm = select_of(call("GreaterEqual", norm, bound), norm, bound)
    return (list if isinstance(x, list) else tuple)(
        cast(call("Div", call("Mul", each, bound), norm), each.dtype) for each in x
    )


def _check(x: Any, clip_norm: Any, use_norm: Any) -> None:
    if not isinstance(x, (tuple, list)) or not all(isinstance(each, Tensor) for each in x):
        raise TypeError(f"ops.clip_by_global_norm takes a tuple or list of tensors, got {type(x).__name__}")
    if not x:
        raise ValueError("ops.clip_by_global_norm takes one tensor or more, got none")
    if not is_number(clip_norm):
        raise TypeError(f"clip_norm of ops.clip_by_global_norm must be a number, got {clip_norm!r}")
    if clip_norm <= 0:
        raise ValueError(f"clip_norm of ops.clip_by_global_norm must be above 0, got {clip_norm!r}")
    if use_norm is not None:
        raise ValueError(f"use_norm of ops.clip_by_global_norm must be None, got {use_norm!r}")


def _square_sum(x: Any) -> Any:
    """The sum of all squares as a float32 tensor of one element."""
    total = cast(call("ReduceSum", _square(x), (), False, False), dtypes.float32)
    return call("ExpandDims", total, 0, grad_scale=True)


def clip_by_norm(x: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False) -> Any:
    """Tensors scaled so that the norm of all of them together is at most ``max_norm``.

    Args:
        x: a tensor, or a tuple or list of tensors.
        max_norm: a number.
        norm_type: the power of the norm; not infinity.
        error_if_nonfinite: only False.

    Returns:
        The type of ``x``. The operators are those of MindSpore 2.10.0 (measured).
    """
    several = list(x) if isinstance(x, (tuple, list)) else [x]
    if not several:
        raise SettingError("ops.clip_by_norm takes one tensor or more, got none")
    for each in several:
        if not isinstance(each, Tensor):
            raise SettingAttributeError(f"ops.clip_by_norm takes tensors, which have a dtype, got {each!r}")
    max_norm = _bound_of_norm(max_norm)
    if not is_number(max_norm) or not is_number(norm_type):
        raise TypeError(f"max_norm and norm_type of ops.clip_by_norm must be numbers, got {max_norm!r}, {norm_type!r}")
    if error_if_nonfinite or not np.isfinite(norm_type):
        raise UnsupportedError("ops.clip_by_norm is supported for a finite norm_type, without error_if_nonfinite")
    norms = tuple(_norm(each, norm_type) for each in several)
    stacked: dict[str, Any] = {"input_names": ["x"], "num": len(norms), "axis": 0, "output_names": ["y"]}
    total = _norm(call("Stack", norms, **stacked), norm_type)
    inverse = call("Reciprocal", call("Add", total, scalar(1e-6, total.dtype)))
    share = call("Muls", inverse, float(max_norm))
    clipped = cond(
        call("LessScalar", share, 1.0),
        lambda part: tuple(call("Mul", each, cast(part, each.dtype)) for each in several),
        lambda part: tuple(call("Muls", each, 1.0) for each in several),
        share,
    )
    return clipped[0] if not isinstance(x, (tuple, list)) else type(x)(clipped)


def _bound_of_norm(given: Any) -> Any:
    """A bound as a number, which a tensor of one element is, too; a graph takes a float alone (measured)."""
    if isinstance(given, (tuple, list)) or (isinstance(given, Tensor) and given.size != 1):
        raise SettingError(f"ops.clip_by_norm: max_norm must be one number, got {given!r}")
    if not is_eager() and not isinstance(given, float):
        raise SettingTypeError(f"ops.clip_by_norm: max_norm must be a float in a graph, got {given!r}")
    return given.item() if isinstance(given, Tensor) else given


def _norm(x: Any, power: float) -> Any:
    total = call("ReduceSum", call("Pow", x, scalar(power, x.dtype)), (), False, False)
    return call("Pow", total, scalar(1 / power, total.dtype))
