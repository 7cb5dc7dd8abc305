"""Functions that other MindSpore functions consist of: each keeps the scope it was first looked up from."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from harness.errors import KernelError
from harness.framework.tensor import call, graph_function, is_eager

__all__: list[str] = []


def inner(key: str, op: str) -> Callable[..., Any]:
    """The function known as ``key``, which calls operator ``op``; keywords are its attributes."""

    def emit(*args: Any, **attrs: Any) -> Any:
        return call(op, *args, **attrs)

    return graph_function(key, emit)


def look_up(key: str) -> None:
    """Looks up the function ``key`` of ``ops``, which the caller names and does not call here: from here on it has the
    caller's scope."""
    graph_function(key, lambda: None)()


abs_of, add_of = inner("ops.abs", "Abs"), inner("ops.add", "Add")
addn_of, select_of = inner("ops.addn", "AddN"), inner("ops.select", "Select")
log1p_of, neg_of = inner("ops.log1p", "Log1p"), inner("ops.neg", "Neg")
greater_of, tanh_of = inner("ops.greater", "Greater"), inner("ops.tanh", "Tanh")
gather_of = inner("ops.gather", "Gather")
# The method, and the function that ``repeat_interleave`` calls.
expand_dims_of, widened_of = inner("Tensor.expand_dims", "ExpandDims"), inner("ops.expand_dims", "ExpandDims")
mean_of, squeeze_of = inner("ops.mean", "ReduceMean"), inner("ops.squeeze", "Squeeze")
maximum_of, sum_of = inner("ops.maximum", "Maximum"), inner("ops.sum", "SumExt")
# The minus of two tensors, and that of ``Tensor.var``, which is ``ops.sub``.
minus_of, sub_of = inner("tensor_sub", "Sub"), inner("ops.sub", "Sub")
pow_of, div_of = inner("tensor_pow", "Pow"), inner("ops.div", "Div")


def of_two(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """``function`` as a primitive that a graph refuses to give another number of arguments (measured)."""

    def operation(*args: Any, **named: Any) -> Any:
        if not is_eager() and len(args) + len(named) != 2:
            raise KernelError(f"{name} takes two arguments, got {len(args) + len(named)}")
        return function(*args, **named)

    operation.__name__ = operation.__qualname__ = name
    operation.__doc__ = function.__doc__
    operation.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    return operation
