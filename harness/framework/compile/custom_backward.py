"""Gradients that a cell defines itself (``bprop``).

The gradient takes the call of such a cell as one step: it ignores what ``construct`` computed, and gives zeros to its
parameters. While the graph is traced a node ``CustomBackward`` stands behind the cell's result; differentiation asks it
for the cell's own gradient, and simplification removes it.

Source: MindSpore 2.10.0, both modes, measured (``tests/framework/compile/test_custom_backward.py``): the operators of
``bprop`` stand in the scope of the cell, those of the cells it calls too; in graph mode it may read no parameter, must
give a tuple, and what it gives is taken as it is; in PyNative mode it may give one gradient alone or a list, and each
is brought to the dtype and summed to the shape of its argument.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from harness.errors import SettingTypeError, TraceError
from harness.framework import frames
from harness.framework.compile.scopes import tracer
from harness.framework.compile.source import where
from harness.framework.compile.trace import Tracer
from harness.framework.compile.traced import Traced, has_tensor
from harness.framework.tensor import Parameter, Tensor, call, is_eager
from harness.graph import Node, Operand, TupleSpec

CUSTOM = "CustomBackward"


@dataclass(frozen=True, eq=False, slots=True)
class _Custom:
    """What the gradient asks: the cell, its function, the arguments of the call and how many operands each makes."""

    cell: Any
    function: Callable[..., Any]
    args: tuple[Any, ...]
    counts: tuple[int | None, ...]
    scope: str


def guarded(cell: Any, function: Callable[..., Any], args: tuple[Any, ...], result: Any) -> Any:
    """The result of a traced call of ``cell`` with ``function`` as its gradient.

    Raises ``SettingTypeError`` if the result is not a tensor or tuple of tensors.
    """
    active = tracer()
    if active is None:
        return result
    operands: list[Operand] = []
    counts: list[int | None] = []
    for arg in args:
        members = tuple(arg) if isinstance(arg, (tuple, list)) and has_tensor(arg) else (arg,)
        if not has_tensor(members):
            counts.append(None)
            continue
        operands += [active.operand(member, updates=True) for member in members]
        counts.append(len(members) if isinstance(arg, (tuple, list)) else 0)
    value = active.operand(result, updates=True)
    node = active.virtual(CUSTOM, [value, *operands], value.spec)
    node.extra.custom = _Custom(cell, function, args, tuple(counts), active.scope)
    if isinstance(node.spec, TupleSpec) and any(isinstance(s, TupleSpec) for s in node.spec.items):
        raise SettingTypeError(f"{type(cell).__name__}.bprop: construct gives tuples within a tuple, at {where()}; "
                               "accepted: a tensor, or a tuple of tensors")  # fmt: skip
    return active.unpack(node)


def parts(active: Tracer, node: Node, out: Any, dout: Any) -> list[tuple[Operand, int, Any]]:
    """What ``bprop`` gives for each operand of the call: (operand, number of the argument, gradient).

    Raises:
        TraceError: too few gradients, one of another shape (PyNative), or a parameter is read (graph).
        SettingTypeError: ``bprop`` takes another number of arguments, or gives no tuple (graph).
    """
    custom: _Custom = node.extra.custom
    name = f"{type(custom.cell).__name__}.bprop"
    given = _called(active, custom, _read(custom, node), name, out, dout)
    if len(given) < len(custom.args):
        raise TraceError(f"{name} gives {len(given)} gradients, construct takes {len(custom.args)} arguments; "
                         "accepted: one for each argument")  # fmt: skip
    found: list[tuple[Operand, int, Any]] = []
    at = 1
    for number, (count, grad) in enumerate(zip(custom.counts, given, strict=False)):
        if count is None:
            continue
        members = list(grad) if count else [grad]
        for operand, member in zip(node.inputs[at : at + max(count, 1)], members, strict=True):
            part = _adapted(active, member, operand, name)
            if part is not None:
                found.append((operand, number, part))
        at += max(count, 1)
    return found


def _read(custom: _Custom, node: Node) -> list[Any]:
    """The arguments of the call; a parameter among them as what the call read of it."""
    args, at = list(custom.args), 1
    for number, count in enumerate(custom.counts):
        if count == 0 and isinstance(args[number], Parameter):
            args[number] = Traced(node.inputs[at], node.inputs[at].spec)
        at += 0 if count is None else max(count, 1)
    return args


def _called(active: Tracer, custom: _Custom, args: list[Any], name: str, out: Any, dout: Any) -> Sequence[Any]:
    lenient = is_eager()
    saved = active.pinned, active.parameters_refused, active.source
    active.pinned = custom.scope
    active.source = ("code", custom_source(active))
    if not lenient:
        active.parameters_refused = f"{name} in scope {custom.scope} cannot use a parameter"
    try:
        given = custom.function(*args, out, dout)
    except TypeError as error:
        if len([*frames.traced_back(error.__traceback__)]) != 1:  # it is not the call itself that fails
            raise
        raise SettingTypeError(f"{name} takes the arguments of construct, then out and dout: {error}") from None
    finally:
        active.pinned, active.parameters_refused, active.source = saved
    if isinstance(given, tuple):
        return given
    if lenient:
        return given if isinstance(given, list) else (given,)
    raise SettingTypeError(f"{name} must give a tuple of gradients, got {type(given).__name__}")


def custom_source(active: Tracer) -> tuple[Any, ...]:
    """Lines that the nodes of ``bprop`` are given: those of the gradient being written, if any."""
    return active.source[1] if active.source is not None else ()


def _adapted(active: Tracer, grad: Any, operand: Operand, name: str) -> Any:
    """A gradient as its taker sees it; None if there is none."""
    if isinstance(grad, Tensor) and not isinstance(grad, Traced):
        made = active.operand(grad)
        grad = Traced(made, made.spec)
    if not is_eager():
        if grad is None:
            raise SettingTypeError(f"{name} gives None, which nothing can be computed with; accepted: a tensor")
        return grad
    if grad is None:
        return None
    target = Traced(operand, operand.spec)
    shape = grad.shape if isinstance(grad, Tensor) else ()
    extra = len(shape) - len(target.shape)
    if extra < 0 or any(a != b and b != 1 for a, b in zip(shape[extra:], target.shape, strict=True)):
        raise TraceError(f"{name} gives a gradient of shape {list(shape)} for an argument of shape "
                         f"{list(target.shape)}; accepted: that shape, or one that can be summed to it")  # fmt: skip
    axes = tuple(range(extra)) + tuple(
        i + extra for i, (a, b) in enumerate(zip(shape[extra:], target.shape, strict=True)) if a != b
    )
    if axes:
        grad = call("Reshape", call("ReduceSum", grad, axes, False, False), tuple(target.shape))
    return grad if grad.dtype is target.dtype else call("Cast", grad, target.dtype)
