"""Gradients inside a traced function."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from harness.errors import DtypeError, SettingTypeError, StateError, TraceError
from harness.framework.compile.arguments import ARGUMENT, apart
from harness.framework.compile.cells import scope_of
from harness.framework.compile.differentiate import gradient
from harness.framework.compile.overwritten import keep_overwritten
from harness.framework.compile.scopes import tracer
from harness.framework.compile.traced import Traced
from harness.framework.tensor import Parameter, Tensor, is_eager
from harness.graph import Node, Operand


def value_and_grad_traced(
    function: Callable[..., Any],
    args: Sequence[Any],
    positions: Sequence[int] = (),
    weights: Sequence[Parameter] = (),
    sens: Any = None,
    has_aux: bool = False,
    called: bool = True,
    of_objects: bool = False,
) -> tuple[Any, tuple[Any, ...], tuple[Any, ...]]:
    """Calls ``function(*args)`` while tracing and differentiates its result.

    Args:
        function: cell or function.
        args: its arguments (traced).
        positions: arguments whose gradients are wanted. A mutable tuple has a tuple of gradients in graph mode; any
            other tuple or list, a number, a constant have none, as in MindSpore (measured:
            ``tests/data/programs/gradients_of_no_tensors.txt``).
        weights: parameters whose gradients are wanted.
        sens: gradient of the result, or a function of the result that gives it; None takes ones.
        has_aux: only the first member of the result is differentiated.
        of_objects: in PyNative mode, whether what is one object is one value, whatever arguments it stands for.
        called: whether the function counts as called for its result first, and differentiated in a second call.

    Returns:
        The result, the gradient of each argument (None where it has none), the gradients of the weights.
    """
    active = tracer()
    if active is None:
        raise TraceError("gradients of a graph can be asked for only while it is traced")
    if not (of_objects and is_eager()):
        args = apart(active, function, args, positions, weights)
    of_gradients = {id(node) for node in active.of_gradients}
    readers = [node for node in active.created if id(node) not in of_gradients]
    out, before = _called(active, function, args, weights)
    active.states.differentiated = True
    keep_overwritten(active)
    home = scope_of(function) or "Default"
    wrt, places, homes = list[Operand](), list[_Place](), dict[int, str]()
    for p in positions:
        places.append(_place(active, args[p], wrt))
        where = "Default" if p >= _first_starred(function) else home
        homes |= {id(each): where for each in wrt if id(each) not in homes}
    wrt += _ends(args, positions)
    homes |= {id(each): home for each in wrt if id(each) not in homes}
    of_args = len(wrt)
    wrt += [active.parameter(w) for w in weights]
    before += [each for each in wrt if isinstance(each, Node)]
    target = out[0] if has_aux else out
    if not wrt and isinstance(target, (int, float)):  # numbers alone: there is nothing to differentiate
        return out, (None,) * len(places), ()
    sens = _start(active, target, sens)
    grads = gradient(active, target, sens, wrt, homes, None if called else readers, before)
    active.of_gradients += [node for node in active.created if node not in readers]
    _finish(active)
    return out, tuple(_at(place, grads) for place in places), _hooked(weights, grads[of_args:])


def _start(active: Any, result: Any, sens: Any) -> Any:
    """The gradient of a result to start from, as part of the graph; None takes ones."""
    sens = sens(result) if callable(sens) else sens
    if sens is not None:
        sens = _traced(active, sens)
        _check_start(result, sens)
    return sens


def _finish(active: Any) -> None:
    """Does what waited for a complete gradient."""
    late, active.at_the_end = active.at_the_end, []
    for action in late:
        action()


def _ends(args: Sequence[Any], positions: Sequence[int]) -> list[Operand]:
    """What a parameter is as an argument that has no gradient: it does not lead to the weight, and ends there."""
    others = [args[p].operand for p in range(len(args)) if p not in positions and isinstance(args[p], Traced)]
    return [each for each in others if isinstance(each, Node) and each.op == ARGUMENT]


def _first_starred(function: Callable[..., Any]) -> float:
    """The position from which on a function's arguments are members of one that takes all others (``*args``)."""
    try:
        parameters = inspect.signature(getattr(function, "construct", function)).parameters.values()
    except (TypeError, ValueError):  # a callable without a signature
        return math.inf
    return next((at for at, each in enumerate(parameters) if each.kind is each.VAR_POSITIONAL), math.inf)


def _check_start(result: Any, start: Any) -> None:
    """Raises unless a gradient to start from is like the result it is the gradient of; measured: a graph multiplies
    by one of another shape, as long as the shapes go together."""
    if isinstance(result, (tuple, list)) != isinstance(start, tuple) or (
        isinstance(start, tuple) and len(start) != len(result)
    ):
        text = f"the gradient of the result must be like it: {_kind_of(result)}, got {_kind_of(start)}"
        raise StateError(text) if is_eager() else SettingTypeError(text)
    if isinstance(start, tuple):
        for member, its in zip(result, start, strict=True):
            _check_start(member, its)
        return
    if not isinstance(result, Tensor):
        return
    if not isinstance(start, Tensor) or start.dtype != result.dtype:
        raise DtypeError(f"the gradient of the result must be a tensor of {result.dtype}, got {_kind_of(start)}")
    if is_eager() and start.shape != result.shape:
        raise StateError(f"the gradient of the result must have shape {result.shape}, got {start.shape}")


def _kind_of(value: Any) -> str:
    if isinstance(value, (tuple, list)):
        return f"a tuple of {len(value)}"
    return str(getattr(value, "dtype", type(value).__name__))


def _called(
    active: Any, function: Callable[..., Any], args: Sequence[Any], weights: Sequence[Parameter]
) -> tuple[Any, list[Node]]:
    """The function's result, of this call or of an equal one before, and the nodes that are not the function's."""
    before = list(active.created)
    known = active.repeated.only(function, args)
    if known is not None:
        own = {id(node) for node in known.nodes}
        return known.out, [node for node in before if id(node) not in own]
    reads = active.states.reads_so_far()
    out = function(*args)
    active.repeated.take_back(function)
    active.forget_unused(out, weights, len(before), reads)
    return out, before


def _hooked(weights: Sequence[Parameter], grads: Sequence[Any]) -> tuple[Any, ...]:
    """The gradients of weights after their hooks (``register_hook``) ran."""
    done = list(grads)
    for at, weight in enumerate(weights):
        for hook in tuple(weight._grad_hooks.values()):
            new = hook(done[at])
            done[at] = done[at] if new is None else new
    return tuple(done)


#: where in a list the gradient of an argument stands: a number, a tuple for those of a tuple, None for no gradient
_Place: TypeAlias = "int | tuple[_Place, ...] | None"


def is_of_inputs(value: Any) -> bool:
    """Whether an argument is a tuple of inputs of a graph, each with a gradient of its own."""
    members = value if isinstance(value, (tuple, list)) and not is_eager() else ()
    return bool(members) and all(isinstance(member, Traced) or is_of_inputs(member) for member in members)


def _place(active: Any, value: Any, wrt: list[Operand]) -> _Place:
    """The place of an argument's gradient among those of ``wrt``, to which it is added; a value other than a
    tensor, and a constant of a graph, have none (measured: ``tests/data/programs/gradients_of_no_tensors.txt``)."""
    if is_of_inputs(value):
        return tuple(_place(active, member, wrt) for member in value)
    if not isinstance(value, Tensor) or (value.const_arg and not is_eager()):
        return None
    wrt.append(active.operand(value, updates=True))
    return len(wrt) - 1


def _at(place: _Place, grads: Sequence[Any]) -> Any:
    if place is None:
        return None
    return grads[place] if isinstance(place, int) else tuple(_at(member, grads) for member in place)


def _traced(active: Any, value: Any) -> Any:
    """A gradient to start from, with constants made part of the graph."""
    if isinstance(value, (tuple, list)):
        return tuple(_traced(active, member) for member in value)
    operand: Operand = active.operand(value)
    return Traced(operand, operand.spec)
