"""Gradients inside a traced function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from harness.errors import TraceError
from harness.framework.compile.differentiate import gradient
from harness.framework.compile.overwritten import keep_overwritten
from harness.framework.compile.scopes import tracer
from harness.framework.compile.traced import Traced
from harness.framework.tensor import Parameter, Tensor
from harness.graph import Operand


def value_and_grad_traced(
    function: Callable[..., Any],
    args: Sequence[Any],
    positions: Sequence[int] = (),
    weights: Sequence[Parameter] = (),
    sens: Any = None,
    has_aux: bool = False,
    value: bool = True,
) -> tuple[Any, tuple[Any, ...], tuple[Any, ...]]:
    """Calls ``function(*args)`` while tracing and differentiates its result.

    Args:
        function: cell or function.
        args: its arguments (traced).
        positions: arguments whose gradients are wanted.
        weights: parameters whose gradients are wanted.
        sens: gradient of the result, or a function of the result that gives it; None takes ones.
        has_aux: only the first member of the result is differentiated.
        value: whether the result is wanted too, not the gradients alone.

    Returns:
        The result, the gradients of the arguments, the gradients of the weights.
    """
    active = tracer()
    if active is None:
        raise TraceError("gradients of a graph can be asked for only while it is traced")
    out = function(*args)
    active.states.differentiated = True
    keep_overwritten(active)
    wrt: list[Operand] = [_operand(active, args[p], p) for p in positions]
    wrt += [active.parameter(w) for w in weights]
    target = out[0] if has_aux else out
    if callable(sens):
        sens = sens(target)
    if sens is not None:
        sens = _traced(active, sens)
    home = getattr(function, "_scope", None) or "Default"
    grads = gradient(active, target, sens, wrt, value, home)
    late, active.at_the_end = active.at_the_end, []
    for action in late:
        action()
    return out, tuple(grads[: len(positions)]), _hooked(weights, grads[len(positions) :])


def _hooked(weights: Sequence[Parameter], grads: Sequence[Any]) -> tuple[Any, ...]:
    """The gradients of weights after their hooks (``register_hook``) ran."""
    done = list(grads)
    for at, weight in enumerate(weights):
        for hook in tuple(weight.__dict__.get("_grad_hooks", {}).values()):
            new = hook(done[at])
            done[at] = done[at] if new is None else new
    return tuple(done)


def _operand(active: Any, value: Any, position: int) -> Operand:
    if not isinstance(value, Tensor):
        raise TraceError(f"argument {position} is not a tensor ({type(value).__name__}); it has no gradient")
    operand: Operand = active.operand(value, updates=True)
    return operand


def _traced(active: Any, value: Any) -> Any:
    """A gradient to start from, with constants made part of the graph."""
    if isinstance(value, (tuple, list)):
        return tuple(_traced(active, member) for member in value)
    operand: Operand = active.operand(value)
    return Traced(operand, operand.spec)
