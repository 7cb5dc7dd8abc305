"""How tensors are shown.

Source: MindSpore 2.10.0 on a CPU, measured byte for byte (``tests/data/ops/printed.json``, and beside the real one in
``tests/interop/test_tutorials.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness import dtypes
from harness.dtypes import DType

Array = np.ndarray[Any, np.dtype[Any]]

#: an array of one axis with more elements is shown by its ends; of more axes, an axis with more
MOST, MOST_OF_AN_AXIS = 1000, 6
#: elements shown of each end
ENDS = 3
#: elements on a line, by the kind of dtype
_ON_A_LINE = {"f": 12, "b": 12, "i": 24, "u": 24}
#: digits and width of floats
_DIGITS = {dtypes.float16: (4, 11), dtypes.float32: (8, 15), dtypes.float64: (8, 15)}


def number_text(value: Any) -> str:
    """A number as a C++ stream shows it: six significant digits; a bool as 1 or 0."""
    if isinstance(value, (bool, np.bool_)):
        return str(int(value))
    if isinstance(value, (complex, np.complexfloating)):
        return f"({value.real:g},{value.imag:g})"
    return str(int(value)) if isinstance(value, (int, np.integer)) else f"{float(value):g}"


def array_text(array: Array, dtype: DType, *, commas: bool, brackets: str = "[]") -> str:
    """The elements of an array of at least one axis.

    Args:
        commas: between elements and rows.
        brackets: opening and closing one.
    """
    limit = MOST if array.ndim == 1 else MOST_OF_AN_AXIS
    shown = array
    for axis, size in enumerate(array.shape):
        if size > limit:
            shown = np.take(shown, [*range(ENDS), *range(size - ENDS, size)], axis=axis)
    cut = tuple(size > limit for size in array.shape)
    texts = np.array(_element_texts(shown, dtype), object).reshape(shown.shape)
    each = _ON_A_LINE.get(dtype.kind, 0) if array.ndim == 1 else 0
    return _rows(texts, cut, 0, "," if commas else "", brackets, each)


def _element_texts(shown: Array, dtype: DType) -> list[str]:
    flat = shown.reshape(-1)
    if dtype.kind == "b":
        return [f"{bool(value)!s:>5}" for value in flat]
    if dtype in _DIGITS:
        digits, width = _DIGITS[dtype]
        return [f"{float(value):{width}.{digits}e}" for value in flat]
    if dtype.kind == "c":
        return [_complex(value) for value in flat]
    texts = [number_text(float(value) if dtype.kind == "f" else value) for value in flat]
    width = max(map(len, texts), default=0)
    return [text.rjust(width) for text in texts]


def _complex(value: Any) -> str:
    return f"{value.real:g}{value.imag:+g}j"


def _rows(texts: Array, cut: Sequence[bool], depth: int, comma: str, brackets: str, each: int) -> str:
    opening, closing = brackets[0], brackets[1]
    if texts.ndim == 1:
        return opening + _line(list(texts), cut[0], comma, each) + closing
    parts = [_rows(part, cut[1:], depth + 1, comma, brackets, each) for part in texts]
    rows = [part + comma for part in parts[:-1]] + parts[-1:]
    if cut[0]:
        rows.insert(ENDS, "...")
    return opening + f"\n{' ' * (depth + 1)}".join(rows) + closing


def _line(texts: list[str], cut: bool, comma: str, each: int) -> str:
    if cut:
        return " ... ".join(f"{comma} ".join(part) for part in (texts[:ENDS], texts[-ENDS:]))
    out = ""
    for at, text in enumerate(texts, 1):
        out += text + (f"{comma} " if at < len(texts) else "")
        out += "\n " if each and at % each == 0 else ""
    return out


def array_tensor_text(array: Array, dtype: DType) -> str:
    """A tensor that was made of an array without a copy, as ``repr`` shows it."""
    between = "\n" if array.ndim > 1 else " "
    text = np.array2string(array, separator=", ", prefix="", threshold=1000)
    return f"Tensor(shape={list(array.shape)}, dtype={dtype}, value={between}{text})"


def tensor_text(array: Array, dtype: DType, *, pynative: bool = False) -> str:
    """The printed text of a tensor: in graph mode, or with ``pynative`` by ``ops.Print`` outside of graphs."""
    if not array.ndim and not pynative:
        return number_text(array.item() if dtype.kind != "c" else complex(array.item()))
    head = f"Tensor(shape={list(array.shape)}, dtype={dtype}, value="
    if not array.ndim:
        value = array.item()
        return f"{head} {value if dtype.kind == 'b' else _complex(value) if dtype.kind == 'c' else number_text(value)})"
    if not array.size:
        return f"{head}[])"
    between = "\n" if array.ndim > 1 else " " if pynative else ""
    return f"{head}{between}{array_text(array, dtype, commas=pynative)})"
