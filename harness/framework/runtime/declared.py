"""Arguments declared with ``Cell.set_inputs``: the required arguments of a call, and the shapes to trace with.

Source for refusals and their types of error: MindSpore 2.10.0, measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.errors import SettingError, SettingTypeError
from harness.framework.tensor import Parameter, Symbol, Tensor
from harness.framework.tensor.symbol import ANY_SHAPE


def shapes(cell: str, declared: Sequence[Any], values: Sequence[Any]) -> tuple[Any, ...]:
    """For each argument the shape to trace with: the declared one of a tensor (-1 where dynamic), None for its own
    (declared with any number of axes) and for an argument that is not a tensor, a tuple of shapes for a tuple.

    Args:
        cell: its class, for messages.
        declared: what ``set_inputs`` was given; empty for nothing.
        values: the arguments.

    Raises:
        SettingTypeError: an argument is of another type or dtype than declared.
        SettingError: an argument has another shape, or another value, than declared.
    """
    if not declared:
        return ()
    pairs, seen = enumerate(zip(declared, values, strict=False)), dict[int, int]()
    return tuple(_shape(f"{cell}, input {i}", d, v, seen) for i, (d, v) in pairs)


def _shape(where: str, declared: Any, value: Any, seen: dict[int, int]) -> Any:
    if isinstance(declared, Tensor):
        return _tensor_shape(where, declared, value, seen)
    if isinstance(declared, (tuple, list)):
        kind = tuple if isinstance(declared, tuple) else list
        if not isinstance(value, kind) or len(value) != len(declared):
            said = f"a {kind.__name__} of {len(declared)}"
            raise SettingTypeError(f"{where}: set_inputs says {said}, a {type(value).__name__} given")
        pairs = enumerate(zip(declared, value, strict=True))
        return tuple(_shape(f"{where}[{i}]", d, v, seen) for i, (d, v) in pairs)
    if isinstance(value, Tensor):
        raise SettingTypeError(f"{where}: set_inputs says {declared!r}, a tensor {list(value.shape)} given")
    if type(value) is not type(declared) or value != declared:
        raise SettingError(f"{where}: set_inputs says {declared!r}, {value!r} given")
    return None


def _tensor_shape(where: str, declared: Tensor, value: Any, seen: dict[int, int]) -> tuple[int, ...] | None:
    if not isinstance(value, Tensor) or isinstance(value, Parameter):
        raise SettingTypeError(f"{where}: set_inputs says a tensor, a {type(value).__name__} given")
    if value.dtype is not declared.dtype:
        raise SettingTypeError(f"{where}: set_inputs says {declared.dtype}, {value.dtype} given")
    if declared.shape == ANY_SHAPE:
        return None
    fits = len(value.shape) == len(declared.shape) and all(
        d in (-1, n) for d, n in zip(declared.shape, value.shape, strict=True)
    )
    if not fits:
        said = [None if d == -1 else d for d in declared.shape]
        raise SettingError(f"{where}: set_inputs says shape {said}, {list(value.shape)} given")
    for axis, (symbol, size) in enumerate(zip(getattr(declared.shape, "given", ()), value.shape, strict=False)):
        if isinstance(symbol, Symbol) and (wanted := symbol.refusal(size, seen)):
            raise SettingError(f"{where}: set_inputs says that axis {axis} is {wanted}, {list(value.shape)} given")
    return declared.shape
