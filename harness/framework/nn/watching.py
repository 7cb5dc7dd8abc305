"""Values and gradients of watched calls in PyNative mode, as hooks of the real one see them.

Under a gradient a call is traced, and its values are known when the gradient has run: they are results of its graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any

import numpy as np

from harness.dtypes import DType
from harness.errors import HarnessError
from harness.framework.compile.custom_backward import guarded
from harness.framework.tensor import Parameter, Tensor, is_tracing
from harness.framework.tensor.dispatch import current
from harness.framework.tensor.watching import WATCHERS
from harness.graph import Const, Node

Array = np.ndarray[Any, np.dtype[Any]]


class Seen:
    """A tensor at one moment; ``array`` is None until the gradient it is part of has run."""

    __slots__ = ("array", "dtype")

    def __init__(self, dtype: DType, array: Array | None) -> None:
        self.dtype = dtype
        self.array = array


_waiting: ContextVar[list[tuple[Seen, Tensor]] | None] = ContextVar("values of a gradient", default=None)


def seen(tensor: Tensor, before: bool = False) -> Seen:
    """What ``tensor`` holds now; under a gradient a parameter's value is that after it, but with ``before``."""
    waiting = _waiting.get()
    if waiting is None or not is_tracing() or (before and isinstance(tensor, Parameter)):
        return Seen(tensor.dtype, tensor.asnumpy().copy())
    found = Seen(tensor.dtype, None)
    waiting.append((found, tensor))
    return found


@contextmanager
def gradient_of(function: Callable[..., Any]) -> Iterator[tuple[Callable[..., Any], Callable[[Any], Any]]]:
    """A function to trace in place of ``function``, and one that takes the run's result apart; while nobody watches
    they change nothing."""
    if not WATCHERS:
        yield function, lambda result: result
        return
    waiting: list[tuple[Seen, Tensor]] = []
    watcher = WATCHERS[0]
    state = watcher.state()

    def watched(*args: Any) -> Any:
        waiting.clear()
        watcher.restore(state)
        try:
            result = function(*args)
        except BaseException:
            _compute(waiting)
            raise
        return (result, tuple(tensor for _, tensor in waiting)) if waiting else result

    def told(result: Any) -> Any:
        if not waiting:
            return result
        result, values = result
        for (found, _), value in zip(waiting, values, strict=True):
            found.array = value.asnumpy()
        return result

    token = _waiting.set(waiting)
    try:
        yield watched, told
    finally:
        _waiting.reset(token)


def _compute(waiting: Sequence[tuple[Seen, Tensor]]) -> None:
    """Fills in what can be known of a gradient that failed before it ran."""
    for found, tensor in waiting:
        with suppress(HarnessError):
            found.array = tensor.asnumpy().copy()


def on_gradients(
    owner: Any, values: Sequence[Any], told: Callable[[tuple[Any, ...]], None]
) -> tuple[tuple[Any, ...], bool]:
    """``values`` as they were; on the way back ``told`` is given the gradients of the tensors among them.

    Returns:
        The values, and whether a gradient can come: there is a tensor of floating point, and a gradient is taken.
    """
    places = [at for at, value in enumerate(values) if isinstance(value, Tensor) and not _is_state(value)]
    if not is_tracing() or not any(values[at].dtype.kind in "fc" for at in places):
        return tuple(values), False

    def back(*given: Any) -> tuple[Any, ...]:
        grads = given[-1] if isinstance(given[-1], tuple) else (given[-1],)
        told(tuple(g if float_ and not _is_absent(g) else None for g, float_ in zip(grads, floats, strict=True)))
        return grads

    inner = tuple(values[at] for at in places)
    floats = [value.dtype.kind in "fc" for value in inner]
    passed = guarded(owner, back, inner, inner if len(inner) > 1 else inner[0])
    whole = list(values)
    for at, value in zip(places, passed if len(inner) > 1 else (passed,), strict=True):
        whole[at] = value
    return tuple(whole), True


def _is_absent(grad: Any) -> bool:
    """Whether nothing leads to a gradient, so that zeros stand in for it."""
    operand = getattr(grad, "operand", None)
    if isinstance(operand, Const):
        return not np.any(operand.value)
    return operand is None or (isinstance(operand, Node) and operand.op == "ZerosLike")


def _is_state(value: Tensor) -> bool:
    """Whether it is a parameter without a gradient, which an operator may change (statistics of ``BatchNorm``)."""
    return isinstance(value, Parameter) and not value.requires_grad


def at_the_end(action: Callable[[], None]) -> None:
    """Calls ``action`` when the gradient that is written is complete."""
    current().at_the_end.append(action)  # type: ignore[attr-defined]
