"""Hooks of cells and tensors: functions that run before and after ``construct``, and on the way back.

Source: MindSpore 2.10.0, measured in both modes: a hook is traced, so a compiled graph keeps its hooks. A backward hook
gets the gradients of the cell's arguments (None if an argument has none) and of its results; what it returns replaces
the former.
"""

from __future__ import annotations

import itertools
import warnings
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from harness.errors import SettingTypeError, UnsupportedError
from harness.framework.compile.custom_backward import guarded
from harness.framework.compile.source import where
from harness.framework.tensor import Parameter, Tensor, is_eager, is_tracing, tensor_method
from harness.framework.tensor.dispatch import current

Hook = Callable[..., Any]
#: numbers the hooks
_NUMBERS = itertools.count()
_KINDS = ("forward_pre", "forward", "backward_pre", "backward")


class HookHandle:
    """The result of registering a hook; ``remove`` removes the hook."""

    def __init__(self, remove: Callable[[], Any]) -> None:
        self._remove = remove

    def remove(self) -> None:
        """Removes the hook; a second call does nothing."""
        self._remove()


def checked(hook: Any) -> Hook:
    """``hook``; ``SettingTypeError`` unless it can be called."""
    if not callable(hook):
        raise SettingTypeError(f"Expected a callable hook function, but got {type(hook).__name__}.")
    return hook  # type: ignore[no-any-return]


class Hooks:
    """Mixed into ``Cell``."""

    _hooks: dict[str, OrderedDict[int, tuple[Hook, bool, bool]]] | None = None

    def _register(
        self, kind: str, hook: Any, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> HookHandle:
        checked(hook)
        if self._hooks is None:
            self.__dict__["_hooks"] = {kind: OrderedDict() for kind in _KINDS}
        held = self._of(kind)
        key = next(_NUMBERS)
        held[key] = (hook, with_kwargs, always_call)
        if prepend:
            held.move_to_end(key, last=False)
        return HookHandle(lambda: held.pop(key, None))

    def _of(self, kind: str) -> OrderedDict[int, tuple[Hook, bool, bool]]:
        return OrderedDict() if self._hooks is None else self._hooks[kind]

    def register_forward_pre_hook(self, hook_fn: Hook, *, prepend: bool = False, with_kwargs: bool = False) -> Any:
        """Calls ``hook_fn(cell, args)`` before ``construct``; its result replaces the arguments."""
        return self._register("forward_pre", hook_fn, prepend, with_kwargs)

    def register_forward_hook(
        self, hook_fn: Hook, *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> HookHandle:
        """Calls ``hook_fn(cell, args, output)`` after ``construct``; its result replaces the output."""
        return self._register("forward", hook_fn, prepend, with_kwargs, always_call)

    def register_backward_pre_hook(self, hook_fn: Hook) -> HookHandle:
        """Calls ``hook_fn(cell, grad_output)`` on the way back; its result replaces them."""
        return self._register("backward_pre", hook_fn)

    def register_backward_hook(self, hook_fn: Hook) -> HookHandle:
        """Calls ``hook_fn(cell, grad_input, grad_output)`` on the way back.
        Its result replaces ``grad_input``."""
        return self._register("backward", hook_fn)

    def _hooked(self, args: tuple[Any, ...], kwargs: dict[str, Any], construct: Hook) -> Any:
        """``construct(args, kwargs)`` with the hooks of this cell."""
        result = None
        try:
            for hook, with_kwargs, _always in tuple(self._of("forward_pre").values()):
                args, kwargs = _before(self, hook, with_kwargs, args, kwargs)
            seen: list[Any] = []
            args = self._watch_arguments(args, seen)
            result = construct(args, kwargs)
            for hook, with_kwargs, _always in tuple(self._of("forward").values()):
                given = hook(self, args, kwargs, result) if with_kwargs else hook(self, args, result)
                result = result if given is None else given
            return self._watch_result(result, seen)
        except Exception:
            for hook, with_kwargs, always in tuple(self._of("forward").values()):
                if always:
                    self._call_anyway(hook, (args, kwargs, result) if with_kwargs else (args, result))
            raise

    def _call_anyway(self, hook: Hook, given: tuple[Any, ...]) -> None:
        try:
            hook(self, *given)
        except Exception as error:
            warnings.warn(f"a forward hook with always_call failed after another error: {error}", stacklevel=2)

    def _watch_arguments(self, args: tuple[Any, ...], seen: list[Any]) -> tuple[Any, ...]:
        hooks = tuple(hook for hook, _, _ in self._of("backward").values())
        places = [at for at, arg in enumerate(args) if isinstance(arg, Tensor) and not isinstance(arg, Parameter)]
        if not hooks or not places or not is_tracing():
            return args

        def back(*given: Any) -> tuple[Any, ...]:
            grads = _tuple(given[-1])
            output = tuple(seen)
            seen.clear()
            for hook in hooks:
                new = hook(self, grads, output)
                grads = grads if new is None else _tuple(new)
            return grads

        inner = tuple(args[at] for at in places)
        watched = _tuple(guarded(self, back, inner, inner if len(inner) > 1 else inner[0]))
        whole = list(args)
        for at, value in zip(places, watched, strict=True):
            whole[at] = value
        return tuple(whole)

    def _watch_result(self, result: Any, seen: list[Any]) -> Any:
        hooks = tuple(hook for hook, _, _ in self._of("backward_pre").values())
        members = _tuple(result)
        if not is_tracing() or not (hooks or self._of("backward")) or not all(isinstance(m, Tensor) for m in members):
            return result

        def back(*given: Any) -> tuple[Any, ...]:
            grads = _tuple(given[-1])
            for hook in hooks:
                new = hook(self, grads)
                grads = grads if new is None else _tuple(new)
            seen[:] = grads
            current().at_the_end.append(unanswered)  # type: ignore[attr-defined]
            return grads

        def unanswered() -> None:
            # The arguments have no gradient; the hooks are still called (measured).
            if seen:
                for hook, _, _ in tuple(self._of("backward").values()):
                    hook(self, (None,), tuple(seen))
                seen.clear()

        return guarded(self, back, members, result)


def _before(
    cell: Any, hook: Hook, with_kwargs: bool, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    given = hook(cell, args, kwargs) if with_kwargs else hook(cell, args)
    if given is None:
        return args, kwargs
    if not with_kwargs:
        return _tuple(given), kwargs
    if not (isinstance(given, tuple) and len(given) == 2):
        raise SettingTypeError("a forward pre hook with kwargs gives None or (args, kwargs), "
                               f"got {type(given).__name__}")  # fmt: skip
    return _tuple(given[0]), given[1]


def _tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def _of_a_parameter(self: Any, hook_fn: Hook) -> HookHandle:
    """As ``register_hook``, whose argument has another name for a parameter (measured)."""
    return register_hook(self, hook_fn)


Parameter.register_hook = _of_a_parameter  # type: ignore[attr-defined]


@tensor_method("register_hook")
def register_hook(tensor: Any, hook: Hook) -> HookHandle:
    """``Tensor.register_hook``: ``hook(grad)`` sees the gradient of a tensor under a gradient in PyNative mode, and its
    result replaces it. A parameter's hook runs at every gradient until the handle removes it.

    Raises ``UnsupportedError`` where it would have no effect: for other tensors outside of a gradient, and in graphs.
    """
    checked(hook)
    if isinstance(tensor, Parameter) and not is_tracing():
        held = tensor.__dict__.setdefault("_grad_hooks", OrderedDict())
        key = next(_NUMBERS)
        held[key] = hook
        return HookHandle(lambda: held.pop(key, None))
    if not is_tracing() or not is_eager() or isinstance(tensor, Parameter):
        raise UnsupportedError(f"register_hook has no effect at {where()}: it is for parameters, and for what a "
                               "function computes under a gradient in PyNative mode")  # fmt: skip
    active = [True]

    def back(_x: Any, _out: Any, dout: Any) -> tuple[Any, ...]:
        new = hook(dout) if active[0] else None
        return (dout if new is None else new,)

    tensor.operand = guarded(current(), back, (tensor,), tensor).operand
    return HookHandle(lambda: active.__setitem__(0, False))
