"""Control flow on tensor values, ``cond`` and ``while_loop``; and ``depend``, which orders operators without data
between them.

These functions state control flow explicitly; Python's own ``if`` and ``while`` are rewritten to it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.framework.ops.eager import is_number
from harness.framework.ops.functions.norms import condition_number
from harness.framework.tensor import Parameter, ParameterTuple, Tensor, call, current, is_eager

__all__ = ["cond", "depend", "while_loop"]


def cond(pred: Any, true_fn: Any = None, false_fn: Any = None, *operands: Any) -> Any:
    """One of two functions, chosen when the graph runs; without functions the condition number of the matrices
    ``pred`` by the norm of order ``true_fn``, as MindSpore's.

    Args:
        pred: a tensor of one element, or a bool.
        true_fn, false_fn: called with ``operands``; must give results of equal shapes and dtypes.
        operands: tensors both get.

    Returns:
        The result of the function chosen.
    """
    if not callable(true_fn):
        return condition_number(pred, true_fn)
    if isinstance(pred, bool):
        return true_fn(*operands) if pred else false_fn(*operands)
    return current().branch(pred, true_fn, false_fn, operands)


def while_loop(cond_fn: Callable[..., Any], body_fn: Callable[..., Any], state: Any) -> Any:
    """``state = body_fn(state)`` as long as ``cond_fn(state)`` holds, decided when the graph runs.

    Args:
        cond_fn: gives a tensor of one element.
        body_fn: gives the next state, of equal shapes and dtypes.
        state: a tensor or a tuple of tensors.
    """
    return current().loop(cond_fn, body_fn, state)


def _is_waited_for(value: Any) -> bool:
    return value is None or is_number(value) or isinstance(value, (Tensor, tuple, list, str))


def depend(value: Any, expr: Any) -> Any:
    """``value``, available only after ``expr`` was computed.

    Parameters are returned unchanged, because their updates are ordered anyway.
    """
    if isinstance(value, (Parameter, ParameterTuple)):
        return value
    if is_eager() and (is_number(value) or not (_is_waited_for(value) and _is_waited_for(expr))):
        return value
    return call("Depend", value, expr)
