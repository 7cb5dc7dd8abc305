"""``jit``, ``grad``, ``value_and_grad`` and ``GradOperation``: functions turned into graphs."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from functools import partial
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from harness.errors import SettingError, SettingTypeError, StateError, UnsupportedError
from harness.framework import context, kinds
from harness.framework.compile.api import value_and_grad_traced
from harness.framework.nn import gradient_session, identity
from harness.framework.nn.cell import Cell
from harness.framework.outside import outside_graphs
from harness.framework.runtime import session
from harness.framework.tensor import Parameter, Tensor, brought, is_tracing


@outside_graphs
def jit(
    function: Callable[..., Any] | None = None,
    *,
    capture_mode: str = "ast",
    jit_level: str = "O0",
    dynamic: int = 0,
    fullgraph: bool = False,
    backend: str = "",
    **options: Any,
) -> Any:
    """Compiles a function into a graph at its first call with each signature, as ``mindspore.jit``.

    Args:
        function: what to compile; None when used as ``@jit(...)``.
        capture_mode, jit_level, dynamic, fullgraph, backend, options: accepted as MindSpore does, and refused where
            it refuses them (``SettingError``, ``SettingTypeError``, ``StateError`` for a backend); the graph is
            always traced and run kernel by kernel.
    """
    _check_jit(capture_mode, jit_level, dynamic, fullgraph, backend)
    if function is None:
        return partial(jit, capture_mode=capture_mode, jit_level=jit_level)
    if isinstance(function, type) and issubclass(function, Cell):
        function.construct = jit(function.construct)  # type: ignore[method-assign]
    # A cell's class is itself; functions alone are compiled (measured: tests/data/programs/members_of_lists.txt).
    if not isinstance(function, (FunctionType, MethodType, partial, Cell)):
        return function

    @functools.wraps(function)
    def compiled(*args: Any, **kwargs: Any) -> Any:
        if is_tracing():
            return function(*args, **kwargs)
        return session.current().run_function(function, args, kwargs, owner=compiled)

    return compiled


def run_as_cell(function: Callable[[Any], Any], x: Any) -> Any:
    """``function(x)`` as the construct of a cell that is made for this call."""

    class Function(Cell):
        def construct(self, x: Any) -> Any:
            return function(x)

    return Function()(x)


def jit_class(cls: type) -> type:
    """Marks a class whose objects a graph may use; here it may use any. ``TypeError`` for a Cell, or no class."""
    if not isinstance(cls, type) or issubclass(cls, Cell):
        raise TypeError(f"jit_class takes a class that is no Cell, got {cls!r}")
    return cls


#: settings of ``jit`` and what they may be (measured)
_JIT: dict[str, tuple[str, ...]] = {"capture_mode": ("ast", "bytecode", "trace"), "jit_level": ("O0", "O1")}
_JIT_BACKENDS = ("", "ms_backend", "GE")


def _check_jit(capture_mode: Any, jit_level: Any, dynamic: Any, fullgraph: Any, backend: Any) -> None:
    for name, value in (("capture_mode", capture_mode), ("jit_level", jit_level)):
        if value not in _JIT[name]:
            raise SettingError(f"jit: {name} must be one of {list(_JIT[name])}, got {value!r}")
    if not isinstance(dynamic, int):
        raise SettingTypeError(f"jit: dynamic must be 0 or 1, got {type(dynamic).__name__} {dynamic!r}")
    if dynamic not in (0, 1):
        raise SettingError(f"jit: dynamic must be 0 or 1, got {dynamic!r}")
    if not isinstance(fullgraph, bool):
        raise SettingTypeError(f"jit: fullgraph must be a bool, got {type(fullgraph).__name__} {fullgraph!r}")
    if backend not in _JIT_BACKENDS:
        raise StateError(f"jit: backend must be one of {list(_JIT_BACKENDS)}, got {backend!r}")


@partial(brought, "ms.value_and_grad")
@partial(kinds.checked, "ms.value_and_grad")
def value_and_grad(
    fn: Callable[..., Any],
    grad_position: int | Sequence[int] | None = 0,
    weights: Any = None,
    has_aux: bool = False,
    return_ids: bool = False,
    sens_param: bool = False,
) -> Callable[..., Any]:
    """A function that gives ``(fn(*args), gradient)``, as ``mindspore.value_and_grad``.

    Args:
        fn: cell or function; its result is a tensor or a tuple of tensors.
        grad_position: argument(s) to differentiate by; one (in a tuple or not) gives one gradient, several give a
            tuple, None none.
        weights: parameters to differentiate by: one, or a list or tuple.
        has_aux: only the first result is differentiated.
        return_ids: each gradient comes as ``(position, gradient)`` or ``(name of the parameter, gradient)``.
        sens_param: the last argument of the function is the gradient of the result (outside graphs also ``sens=``).
    """
    if not isinstance(sens_param, bool):
        raise TypeError(f"value_and_grad: sens_param must be a bool, got {type(sens_param).__name__}")
    if grad_position is None and weights is None:
        raise ValueError("`grad_position` and `weight` can not be None at the same time.")
    positions = _positions(grad_position)
    members = _weights(weights)

    def traced(*args: Any, called: Callable[..., Any] = fn) -> Any:
        args, sens = (args[:-1], args[-1]) if sens_param else (args, None)
        _check_positions(positions, grad_position, len(args))
        out, by_position, by_weight = value_and_grad_traced(
            called, args, positions[: len(args)], members, sens, has_aux, called=False, of_objects=True
        )
        found = [(at, each) for at, each in zip(positions, by_position, strict=False) if each is not None]
        by_position = tuple(found) if return_ids else tuple(each for _, each in found)
        if return_ids:
            by_weight = tuple((member.name, each) for member, each in zip(members, by_weight, strict=True))
        of_args = by_position[0] if len(by_position) == 1 else by_position  # of one in a tuple, too (measured)
        of_weights = by_weight[0] if isinstance(weights, Parameter) else by_weight
        if grad_position is None:
            return out, of_weights
        return out, of_args if weights is None else (of_args, of_weights)

    return entry(traced, fn, sens_param, of_objects=True)


@partial(brought, "ms.grad")
@partial(kinds.checked, "ms.grad")
def grad(
    fn: Callable[..., Any],
    grad_position: int | Sequence[int] | None = 0,
    weights: Any = None,
    has_aux: bool = False,
    return_ids: bool = False,
    sens_param: bool = False,
) -> Callable[..., Any]:
    """A function that gives the gradient of ``fn``, as ``mindspore.grad``; arguments as ``value_and_grad``."""
    both = value_and_grad(fn, grad_position, weights, has_aux, return_ids, sens_param)

    def traced(*args: Any, called: Callable[..., Any] = fn) -> Any:
        out, grads = both.traced(*args, called=called)  # type: ignore[attr-defined]
        return (grads, out[1:]) if has_aux else grads

    return entry(traced, fn, sens_param, of_objects=True)


def get_grad(gradients: Any, identifier: int | Parameter) -> Tensor:
    """One of the gradients that ``grad`` gives with ``return_ids``, as ``mindspore.get_grad``.

    Args:
        gradients: what the gradient function gave.
        identifier: position of an argument, or a parameter.

    Raises:
        TypeError: ``identifier`` is neither.
        RuntimeError: there is no gradient for it.
    """
    if not isinstance(identifier, (int, Parameter)):
        raise TypeError(f"get_grad: identifier must be an int or a Parameter, got {identifier!r}")
    wanted = identifier.name if isinstance(identifier, Parameter) else identifier
    found = _identified(gradients, wanted)
    if found is None:
        raise RuntimeError(f"get_grad: no gradient for {wanted!r}")
    return found


def _identified(gradients: Any, wanted: int | str) -> Tensor | None:
    """The tensor of the pair ``(wanted, tensor)`` in (nested) tuples."""
    if not isinstance(gradients, (tuple, list)):
        return None
    if len(gradients) == 2 and isinstance(gradients[0], (int, str)) and isinstance(gradients[1], Tensor):
        return gradients[1] if gradients[0] == wanted else None
    return next((found for each in gradients if (found := _identified(each, wanted)) is not None), None)


class GradOperation:
    """Makes gradient functions, as ``mindspore.ops.GradOperation``.

    Args:
        get_all: gradients of all tensor arguments, as a tuple; else of the first argument, ``()`` if it is no tensor.
        get_by_list: gradients of the weights given at the call (with ``get_all``: both).
        sens_param: the last argument is the gradient of the result.
    """

    def __init__(self, get_all: bool = False, get_by_list: bool = False, sens_param: bool = False) -> None:
        for name, value in (("get_all", get_all), ("get_by_list", get_by_list), ("sens_param", sens_param)):
            if not isinstance(value, bool):
                raise TypeError(f"GradOperation: {name} must be a bool, got {value!r}")
        self.get_all = get_all
        self.get_by_list = get_by_list
        self.sens_param = sens_param
        self._last: tuple[Any, Any, Callable[..., Any]] | None = None

    def __call__(self, fn: Callable[..., Any], weights: Any = None) -> Callable[..., Any]:
        # The same function gives the gradient compiled before (measured).
        if self._last is not None and self._last[0] is fn and self._last[1] is weights:
            return self._last[2]
        if self.get_by_list and weights is None and not isinstance(fn, Cell):
            raise ValueError("GradOperation(get_by_list=True) of a function needs the weights at its call")
        members = self._members(fn, weights) if self.get_by_list else ()

        def traced(*args: Any, called: Callable[..., Any] = fn) -> Any:
            args, sens = (args[:-1], args[-1]) if self.sens_param else (args, None)
            positions = range(len(args) if self.get_all else 0 if self.get_by_list else min(1, len(args)))
            _out, found, by_weight = value_and_grad_traced(
                called, args, positions, members, sens, called=False, of_objects=True
            )
            by_position = tuple(each for each in found if each is not None)
            if self.get_by_list:
                of_weights = by_weight[0] if isinstance(weights, Parameter) else by_weight
                return (by_position, of_weights) if self.get_all else of_weights
            return by_position if self.get_all or not by_position else by_position[0]

        self._last = (fn, weights, entry(traced, fn, self.sens_param, of_objects=True, takes_keywords=True))
        return self._last[2]

    @staticmethod
    def _members(fn: Any, weights: Any) -> tuple[Parameter, ...]:
        """The weights to differentiate by: without any those of the cell, in graph mode none (measured)."""
        if weights is None and context.get_context("mode") == context.PYNATIVE_MODE:
            return tuple(fn.trainable_params())
        return _weights(weights)


def entry(
    traced: Callable[..., Any],
    fn: Callable[..., Any],
    takes_sens: bool = False,
    of_objects: bool = False,
    takes_keywords: bool = False,
) -> Callable[..., Any]:
    """What users call: inside a graph ``traced`` itself; outside, a graph of its own with inputs ``args0``,
    ``args1``, ...

    ``takes_sens``: the last argument is a gradient to start from, and may be given as ``sens``, but not in graph mode
    (measured). ``of_objects``: in PyNative mode the gradients are those of objects, see ``identity``, and keywords are
    arguments behind those by position, in the order of the call; ``takes_keywords``: in graph mode, too (measured).
    ``traced`` is then given what calls ``fn`` as ``called``.
    """

    def after_grad(*args: Any, **kwargs: Any) -> Any:
        eager = context.get_context("mode") == context.PYNATIVE_MODE
        sens = [kwargs.pop("sens")] if takes_sens and (eager or takes_keywords) and "sens" in kwargs else []
        if takes_sens and kwargs and eager and not sens:
            args, sens = args[:-1], [*args[-1:]]
        if (kwargs and not ((of_objects and eager) or takes_keywords)) or (kwargs and takes_sens and not sens):
            raise TypeError(f"the gradient of {_name_of(fn)} takes arguments by position, got {', '.join(kwargs)}")
        by_name = partial(traced, called=_named(fn, tuple(kwargs))) if kwargs else traced
        args = (*args, *kwargs.values(), *sens)
        if is_tracing():
            return by_name(*args)
        function, values = identity.of_objects(by_name, args) if of_objects and eager else (by_name, args)
        names = [f"args{i}" for i in range(len(values))]
        key = ("grad", id(after_grad), *kwargs)
        return gradient_session.session().run(key, function, values, names, keep=after_grad)

    functools.update_wrapper(after_grad, fn, assigned=("__name__", "__doc__"), updated=())
    after_grad.traced = traced  # type: ignore[attr-defined]
    return after_grad


def _named(fn: Callable[..., Any], names: tuple[str, ...]) -> Callable[..., Any]:
    """``fn``, whose last arguments are given by these names."""

    def call(*args: Any) -> Any:
        split = len(args) - len(names)
        return fn(*args[:split], **dict(zip(names, args[split:], strict=True)))

    return call


def _name_of(fn: Callable[..., Any]) -> str:
    return getattr(fn, "__name__", type(fn).__name__)


def _positions(given: int | Sequence[int] | None) -> tuple[int, ...]:
    if given is None:
        return ()
    positions = (given,) if isinstance(given, int) and not isinstance(given, bool) else given
    if not isinstance(positions, (tuple, list)) or not all(type(p) is int and p >= 0 for p in positions):
        raise TypeError(f"grad_position must be an int or a tuple of ints from 0 on, got {given!r}")
    if len(set(positions)) != len(positions):
        raise ValueError(f"There are duplicate positions in `grad_position`, please check it: {given!r}")
    return tuple(positions)


def _check_positions(positions: Sequence[int], given: Any, count: int) -> None:
    """Raises for positions that are none of ``count`` arguments; without arguments PyNative mode has no gradients
    (measured: ``tests/data/programs/gradients_of_mixed_results.txt``)."""
    eager = context.get_context("mode") == context.PYNATIVE_MODE
    if given is not None and not positions:
        raise RuntimeError(f"grad_position should not be empty when grad by position{'!' if eager else '.'}")
    beyond = next((each for each in positions if each >= count), None)
    if beyond is not None and (count or not eager):
        raise (RuntimeError if eager else IndexError)(f"Position index {beyond} is exceed input size.")


def _weights(given: Any) -> tuple[Parameter, ...]:
    if given is None:
        return ()
    members = (given,) if isinstance(given, Parameter) else tuple(given)
    for member in members:
        if not isinstance(member, Parameter):
            raise TypeError(f"weights must be Parameters, got {type(member).__name__}")
    return members


def vjp(fn: Callable[..., Any], *inputs: Any, weights: Any = None, has_aux: bool = False) -> tuple[Any, ...]:
    """``fn(*inputs)``, and a function from a gradient of that result to the gradients of ``inputs`` (and ``weights``).

    Args:
        fn: cell or function; its result is a tensor or a tuple of tensors.
        inputs: its arguments, tensors.
        weights: parameters to differentiate by as well.
        has_aux: only the first result is differentiated; the others are given as a third member.
    """
    if not callable(fn) or not inputs:
        raise TypeError("vjp takes a function and at least one tensor")
    _take_tensors("vjp", inputs)
    members = _weights(weights)

    def forward(*args: Any) -> Any:
        return fn(*args)

    def traced(*args: Any) -> Any:
        given, sens = args[: len(inputs)], args[len(inputs) :]
        start = sens[0] if len(sens) == 1 else tuple(sens)
        positions = range(len(inputs))
        _, found, of_weights = value_and_grad_traced(
            fn, given, positions, members, start, has_aux, called=False, of_objects=True
        )
        of_inputs = tuple(each for each in found if each is not None)
        if weights is None:
            return of_inputs
        return of_inputs, of_weights[0] if isinstance(weights, Parameter) else of_weights

    backward = entry(traced, fn, of_objects=True)

    def vjp_fn(*sens: Any) -> Any:
        return backward(*inputs, *sens)

    out = forward(*inputs)
    if not has_aux:
        return out, vjp_fn
    return out[0], vjp_fn, out[1] if len(out) == 2 else out[1:]


def _take_tensors(name: str, given: Sequence[Any]) -> None:
    """Raises ``SettingTypeError`` unless all are tensors, or tuples and lists of them."""
    for each in given:
        if isinstance(each, (tuple, list)):
            _take_tensors(name, each)
        elif not isinstance(each, Tensor):
            raise SettingTypeError(f"{name} takes tensors, got {type(each).__name__}")


def jvp(fn: Callable[..., Any], inputs: Any, v: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """``fn(*inputs)`` and its derivative along ``v``: the gradient of the gradient by its start value.

    Args:
        fn: cell or function of tensors; its result is one tensor.
        inputs: its argument, or a tuple of them.
        v: the direction, as ``inputs``.
        has_aux: not supported.
    """
    if has_aux:
        raise UnsupportedError("jvp(has_aux=True) is not supported; accepted: False")
    given = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
    along = tuple(v) if isinstance(v, (tuple, list)) else (v,)
    for each in (*given, *along):
        if not isinstance(each, Tensor):
            raise SettingTypeError(f"jvp takes tensors, got {type(each).__name__}")
    if len(given) != len(along) or any(tuple(a.shape) != tuple(b.shape) for a, b in zip(given, along, strict=True)):
        raise ValueError("jvp: v must have the structure and shapes of inputs")
    out = fn(*given)
    if not isinstance(out, Tensor):
        raise UnsupportedError("jvp is supported for functions of one result")
    count = len(given)

    def projected(start: Any, *rest: Any) -> Any:
        args, direction = rest[:count], rest[count:]
        _, of_inputs, _ = value_and_grad_traced(fn, args, range(count), (), start, called=False)
        products = [(g * d).sum() for g, d in zip(of_inputs, direction, strict=True)]
        total = products[0]
        for product in products[1:]:
            total = total + product
        return total

    tangent = grad(projected, 0)(Tensor(np.zeros(out.shape, out.dtype.numpy), out.dtype), *given, *along)
    return out, tangent
