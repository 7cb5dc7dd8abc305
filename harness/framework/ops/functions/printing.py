"""Printing: ``ops.print_``, and Python's ``print`` in traced code."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from harness.errors import TraceError
from harness.framework.ops.printing import arguments
from harness.framework.tensor import Tensor, call, is_eager
from harness.framework.tensor.text import tensor_text

__all__ = ["print_"]


def print_(*input_x: Any) -> Any:
    """Writes its arguments, one line each: when the graph runs, or at once outside of graphs."""
    return printed(input_x, {"side_effect_io": True})


def printed(given: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
    """A ``Print`` of ``given`` with these attributes; outside of graphs the lines themselves, and None."""
    if not is_eager():
        # A plain tensor is a constant of the graph, which is shown differently.
        ready = tuple(arguments(given, lambda value: isinstance(value, Tensor) and type(value) is not Tensor))
        return call("Print", *ready, **attrs) if ready else None
    for value in given:
        print(_shown(value))
    return None


class _Text(str):
    """A text that is shown without quotes inside a tuple."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _shown(value: Any) -> Any:
    """The arguments for Python's ``print`` in PyNative mode: tensors, also nested ones, as text."""
    if isinstance(value, Tensor):
        return _Text(tensor_text(value.asnumpy(), value.dtype, pynative=True))
    if isinstance(value, dict):
        return {name: _shown(each) for name, each in value.items()}
    return type(value)(map(_shown, value)) if type(value) in (tuple, list) else value


@contextmanager
def python_print() -> Iterator[None]:
    """Within the block Python's ``print`` in traced code is a ``Print`` of the graph, as in MindSpore."""
    before = builtins.print

    def instead(*values: Any, **settings: Any) -> None:
        if is_eager():
            before(*values, **settings)
        elif settings:
            raise TraceError(f"print in a graph takes no {', '.join(settings)}; only values")
        else:
            printed(values, {"side_effect_io": True})

    builtins.print = instead
    try:
        yield
    finally:
        builtins.print = before
