"""How a ``.ir`` prints values: scalars, tuples, tensors, attributes.

Source of the forms: MindSpore 2.10.0 CPU ``.ir`` files, measured.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from harness import dtypes
from harness.dtypes import DType
from harness.graph.node import Const
from harness.recording.spec import OpaqueSpec

Array = np.ndarray[Any, np.dtype[Any]]

WHOLE_BELOW = 30
"""Tensors with at least this many elements print as ``[...]``."""
EDGE = 3
"""In tensors of two axes and more, an axis longer than twice this prints its first and last ``EDGE`` entries."""

_SHORT = {
    "Bool": "Bool", "Int8": "I8", "Int16": "I16", "Int32": "I32", "Int64": "I64", "UInt8": "U8", "UInt16": "U16",
    "UInt32": "U32", "UInt64": "U64", "Float16": "F16", "Float32": "F32", "Float64": "F64", "BFloat16": "BF16",
    "Complex64": "C64", "Complex128": "C128",
}  # fmt: skip


def short_name(dtype: DType) -> str:
    """``F32`` for Float32: how scalars and type attributes name a dtype."""
    return _SHORT[dtype.name]


def number(value: Any) -> str:
    """A number as C++ streams print it by default: six significant digits, ``nan``, ``inf``, ``1e-05``."""
    return f"{float(value):g}"


def scalar(value: Any) -> str | None:
    """``Bool(1)``, ``I64(3)``, ``F32(1e-05)``, ``"text"``, ``F32`` of a dtype, ``None``; None for any other value."""
    if value is None:
        return "None"
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, DType):
        return short_name(value)
    if isinstance(value, (bool, np.bool_)):
        return f"Bool({int(value)})"
    if isinstance(value, (np.integer, np.floating)):
        dtype = dtypes.from_numpy(value.dtype)
        return f"{short_name(dtype)}({number(value) if dtype.is_floating else int(value)})"
    if isinstance(value, int):
        return f"I64({value})"
    if isinstance(value, float):
        return f"F32({number(value)})"
    return None


def value_text(value: Any) -> str:
    """A constant's value in an argument list."""
    text = scalar(value)
    if text is not None:
        return text
    if isinstance(value, tuple):
        return f"({', '.join(value_text(v) for v in value)})"
    if isinstance(value, list):
        return f"[{', '.join(value_text(v) for v in value)}]"
    return tensor(np.asarray(value))


def constant_text(const: Const) -> str:
    """A ``Const`` in an argument list; a monad prints as ``UMonad[U]`` or ``IOMonad[IO]``."""
    if isinstance(const.spec, OpaqueSpec) and const.spec.kind.endswith("Monad"):
        return f"{const.spec.kind}[{const.value}]"
    return value_text(const.value)


def _bare(value: Any) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(_bare(v) for v in value)})"
    if isinstance(value, list):
        return f"[{', '.join(_bare(v) for v in value)}]"
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, np.bool_)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        return number(value)
    return value_text(value) if scalar(value) is None or isinstance(value, DType) else str(value)


def attribute(value: Any) -> str:
    """An attribute's value: like an argument, but numbers and strings inside a tuple or list stand bare."""
    return _bare(value) if isinstance(value, (tuple, list)) else value_text(value)


def attributes(attrs: Mapping[str, Any]) -> str:
    """``{key: value, key: value}``."""
    return f"{{{', '.join(f'{key}: {attribute(value)}' for key, value in attrs.items())}}}"


def tensor(array: Array) -> str:
    """``Tensor(shape=[2], dtype=Float32, value=[...])``."""
    dtype = dtypes.from_numpy(array.dtype)
    return f"Tensor(shape={list(array.shape)}, dtype={dtype.name}, value={_tensor_value(array, dtype)})"


def _tensor_value(array: Array, dtype: DType) -> str:
    if array.ndim == 0:
        value = array.item() if dtype.kind != "f" else float(array)
        return number(value) if dtype.is_floating else str(value)
    if array.size >= WHOLE_BELOW:
        return "[...]"
    cell = _cell(array, dtype)
    if array.ndim == 1:
        return f"[{_wrapped([cell(v) for v in array], 24 if dtype.kind in 'iu' else 12)}]"
    return "\n" + (_rows(array, cell, 1) if array.size else "")


def _cell(array: Array, dtype: DType) -> Callable[[Any], str]:
    """The formatter of one element."""
    if dtype.kind == "b":
        return lambda v: f"{bool(v)!s:>5}"
    if dtype.kind == "f":
        digits = 4 if dtype.itemsize == 2 else 8
        return lambda v: f"{float(v):{digits + 7}.{digits}e}"
    if dtype.kind == "c":
        return str
    width = max((len(str(int(v))) for v in array.flat), default=0)
    return lambda v: f"{int(v):>{width}}"


def _wrapped(cells: list[str], per_line: int) -> str:
    lines = [" ".join(cells[at : at + per_line]) for at in range(0, len(cells), per_line)]
    return " \n ".join(lines)


def _rows(array: Array, cell: Callable[[Any], str], depth: int) -> str:
    inner = array.ndim == 1
    parts = [cell(v) if inner else _rows(v, cell, depth + 1) for v in array]
    if len(parts) > 2 * EDGE:
        parts[EDGE:-EDGE] = ["..."]
    return f"[{(' ' if inner else chr(10) + ' ' * depth).join(parts)}]"
