"""How ``Print`` shows its arguments.

Source: MindSpore 2.10.0 on a CPU, measured byte for byte in graph mode and in PyNative mode
(``tests/data/ops/printed.json``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from harness import dtypes
from harness.dtypes import DType
from harness.errors import TraceError
from harness.framework.tensor.text import array_text, number_text

Array = np.ndarray[Any, np.dtype[Any]]


def constant_text(array: Array, dtype: DType) -> str:
    """A tensor that is a constant of the graph: its elements between parentheses."""
    if not array.ndim:
        return number_text(array.item())
    return array_text(array, dtype, commas=True, brackets="()") if array.size else "()"


def value_lines(value: Any) -> Iterator[str]:
    """The lines of a value that is not a tensor: a number, a text, a dtype, None, or a tuple of such."""
    if isinstance(value, (tuple, list)):
        if not value:
            yield "()"
        elif all(type(each) is int for each in value):
            yield array_text(np.array(value, np.int64), dtypes.int64, commas=True, brackets="()")
        elif all(isinstance(each, (float, np.floating)) for each in value):
            yield array_text(np.array(value, np.float32), dtypes.float32, commas=True, brackets="()")
        else:
            for each in value:
                yield from value_lines(each)
    elif isinstance(value, (bool, int, float, complex, np.generic)):
        yield number_text(value)
    else:
        yield str(value)


def arguments(given: Sequence[Any], is_live: Callable[[Any], bool]) -> Iterator[Any]:
    """The arguments of a ``Print`` in a graph: dicts as tuples of their values; mixed or nested ones are split.

    Args:
        is_live: tells computed tensors and parameters from constants.

    Raises:
        TraceError: numbers of different kinds, or bools, in one tuple; the device refuses them.
    """
    for value in given:
        value = tuple(value.values()) if isinstance(value, dict) else value
        if not isinstance(value, (tuple, list)):
            yield value
            continue
        kinds = {type(each) for each in value}
        if kinds <= {int, float, bool} and (len(kinds) > 1 or kinds == {bool}):
            raise TraceError(f"Print: a tuple must hold ints or floats only, got {tuple(value)!r}")
        floats = all(isinstance(each, (float, np.floating)) for each in value)
        if kinds <= {int} or floats or all(map(is_live, value)):
            yield tuple(value)
        else:
            yield from _apart(value, is_live)


def _apart(value: Any, is_live: Callable[[Any], bool]) -> Iterator[Any]:
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, (tuple, list)):
        for each in value:
            yield from _apart(each, is_live)
    else:
        yield value
