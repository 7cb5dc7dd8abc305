"""``ForiLoop``, ``WhileLoop``, ``Scan``: Python's loops as calls, whose turns are parts of the graph.

Source: MindSpore 2.10.0, measured; outside of graphs they are Python's loops, and so are their graphs here.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any

from harness.errors import DecidedLateError, HarnessError, SettingError, SettingTypeError
from harness.framework.ops.primitive import Primitive
from harness.framework.tensor import Tensor

__all__ = ["ForiLoop", "Scan", "WhileLoop"]


class _Loop(Primitive):
    def __init__(self) -> None:
        super().__init__()

    def _checked(self, function: Any, unroll: Any = True) -> Any:
        if not isinstance(unroll, bool):
            raise SettingTypeError(f"{self.name}: unroll must be a bool, got {unroll!r}")
        if not isinstance(function, (FunctionType, MethodType)):
            raise SettingTypeError(f"{self.name}: loop_func must be a function, got {type(function).__name__}")
        return function

    def _run(self, turns: Callable[[], Any]) -> Any:
        try:
            return turns()
        except (DecidedLateError, SettingError):
            raise
        except (HarnessError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise SettingError(f"{self.name}: loop_func failed: {error}") from error


class ForiLoop(_Loop):
    """``value = loop_func(i, value)`` for each i from ``lower`` to before ``upper``.

    Call:
        lower, upper: ints, or tensors of one.
        loop_func: a function.
        init_val: the first value.
        unroll: both are the same here.
    """

    def __call__(self, lower: Any, upper: Any, loop_func: Any, init_val: Any, unroll: bool = True) -> Any:
        if isinstance(upper, bool) or not isinstance(upper, (int, Tensor)):
            raise SettingTypeError(f"ForiLoop: upper must be an int or a Tensor, got {type(upper).__name__}")
        function = self._checked(loop_func, unroll)

        def turns() -> Any:
            value = init_val
            for at in range(int(lower), int(upper)):
                value = function(at, value)
            return value

        return self._run(turns)


class WhileLoop(_Loop):
    """``value = loop_func(value)`` while ``cond_func(value)``."""

    def __call__(self, cond_func: Callable[[Any], Any], loop_func: Any, init_val: Any) -> Any:
        function = self._checked(loop_func)

        def turns() -> Any:
            value = init_val
            while bool(cond_func(value)):
                value = function(value)
            return value

        return self._run(turns)


class Scan(_Loop):
    """``carry, y = loop_func(carry, x)`` for each ``x`` of ``xs`` (None: ``length`` times None); gives the last carry,
    and all ``y`` in a list."""

    def __call__(self, loop_func: Any, init: Any, xs: Any, length: int | None = None, unroll: bool = True) -> Any:
        function = self._checked(loop_func, unroll)
        if xs is not None and not isinstance(xs, (list, tuple)):
            raise SettingTypeError(f"Scan: xs must be a list, a tuple or None, got {type(xs).__name__}")
        if xs is None and (isinstance(length, bool) or not isinstance(length, int)):
            raise SettingTypeError(f"Scan: without xs, length must be an int, got {length!r}")

        def turns() -> Any:
            carry, found = init, []
            for each in [None] * (length or 0) if xs is None else xs:
                carry, made = function(carry, each)
                found.append(made)
            return carry, found

        return self._run(turns)
