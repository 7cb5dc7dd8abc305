"""Windows of signals, powers at even distances, and blocks of space as entries of a batch."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness import dtypes
from harness.dtypes import DType
from harness.errors import DtypeError, SettingError, SettingTypeError
from harness.framework.tensor import Tensor, call

__all__ = [
    "approximate_equal", "bartlett_window", "batch_to_space_nd", "blackman_window", "hamming_window", "inplace_add",
    "inplace_sub", "inplace_update", "logspace", "padding", "population_count", "space_to_batch_nd",
]  # fmt: skip

_Y: dict[str, Any] = {"output_names": ["y"]}
#: numbers of the dtypes of a Hamming window, as graphs show them
_KINDS = {dtypes.float32: 0, dtypes.float16: 1, dtypes.float64: 11}


def _window(op: str, length: Any, periodic: Any, dtype: Any) -> Any:
    if not isinstance(length, Tensor):
        raise DtypeError(f"{op}: window_length must be a tensor, got {type(length).__name__}")
    return call(op, length, **window_attrs(op, periodic, dtype))


def window_attrs(op: str, periodic: Any, dtype: Any) -> dict[str, Any]:
    """Attributes of BartlettWindow and BlackmanWindow.

    Raises:
        SettingTypeError: ``periodic`` is no bool, or ``dtype`` no floating dtype.
    """
    if not isinstance(periodic, bool):
        raise SettingTypeError(f"{op}: periodic must be a bool, got {periodic!r}")
    kind = dtypes.float32 if dtype is None else dtype
    if not isinstance(kind, DType) or kind.kind != "f":
        raise SettingTypeError(f"{op}: dtype must be a floating dtype, got {dtype!r}")
    return {"periodic": periodic, "output_is_dynamic_shape": True, "max_length": 1000000, "dtype": kind}


def bartlett_window(window_length: Any, periodic: bool = True, *, dtype: Any = None) -> Any:
    """A triangle of ``window_length`` (a tensor) elements; ``periodic``: that of one more, without the last."""
    return _window("BartlettWindow", window_length, periodic, dtype)


def blackman_window(window_length: Any, periodic: bool = True, *, dtype: Any = None) -> Any:
    """Blackman's window of ``window_length`` (a tensor) elements; ``periodic`` as for ``bartlett_window``."""
    return _window("BlackmanWindow", window_length, periodic, dtype)


def hamming_window(
    window_length: int, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, *, dtype: Any = None
) -> Any:
    """``alpha - beta * cos`` over ``window_length`` elements; ``periodic`` as for ``bartlett_window``."""
    for value, kind, name in (
        (window_length, int, "window_length"), (periodic, bool, "periodic"), (alpha, float, "alpha"),
        (beta, float, "beta"),
    ):  # fmt: skip
        if not isinstance(value, kind):
            raise SettingTypeError(f"hamming_window: {name} must be of {kind.__name__}, got {value!r}")
    if window_length < 0:
        raise SettingError(f"hamming_window: window_length must be at least 0, got {window_length}")
    if window_length <= 1:
        return Tensor(np.ones(window_length))
    given = dtypes.float32 if dtype is None else dtype
    if given not in _KINDS:
        raise SettingTypeError(f"hamming_window: dtype must be a floating dtype, got {dtype!r}")
    attrs: dict[str, Any] = {
        "periodic": periodic, "input_names": ["length"], **_Y, "beta": beta, "alpha": alpha, "dtype": _KINDS[given],
    }  # fmt: skip
    return call("HammingWindow", Tensor(np.array([window_length], np.int32)), **attrs)


def logspace(start: Any, end: Any, steps: int, base: int = 10, *, dtype: Any = dtypes.float32) -> Any:
    """``base`` to ``steps`` powers, evenly from ``start`` to ``end`` (floats, or tensors without dimensions)."""
    for value, name in ((steps, "steps"), (base, "base")):
        if isinstance(value, bool) or not isinstance(value, int):
            raise SettingTypeError(f"logspace: {name} must be an int, got {value!r}")
    if steps < 0:
        raise SettingError(f"logspace: steps must be at least 0, got {steps}")
    if not isinstance(dtype, DType) or dtype.kind != "f":
        raise SettingTypeError(f"logspace: dtype must be a floating dtype, got {dtype!r}")
    ends = [Tensor(np.asarray(end, np.float32)) if isinstance(end, float) else end for end in (start, end)]
    if not all(isinstance(end, Tensor) for end in ends):
        raise DtypeError(f"logspace: start and end must be floats or tensors, got {start!r} and {end!r}")
    attrs: dict[str, Any] = {"steps": steps, "input_names": ["start", "end"], "base": base, **_Y, "dtype": dtype}
    return call("LogSpace", *ends, **attrs)


def approximate_equal(x: Any, y: Any, tolerance: float = 1e-5) -> Any:
    """Whether each two elements differ by less than ``tolerance``."""
    if not isinstance(tolerance, float):
        raise SettingTypeError(f"approximate_equal: tolerance must be a float, got {tolerance!r}")
    return call("ApproximateEqual", x, y, tolerance=tolerance)


def block(value: Any, pairs: Any, owner: str) -> tuple[Any, Any]:
    """A block's sizes, and a pair for each of them."""
    sizes = [value] * len(pairs) if isinstance(value, int) else list(value)
    if any(isinstance(n, bool) or not isinstance(n, int) or n < 1 for n in sizes):
        raise SettingError(f"{owner}: block_shape must be ints above 0, got {value!r}")
    rows = [list(pair) for pair in pairs]
    if len(rows) != len(sizes) or any(len(pair) != 2 or min(pair) < 0 for pair in rows):
        raise SettingError(f"{owner}: {len(sizes)} pairs of at least 0 are needed, got {pairs!r}")
    return tuple(sizes) if isinstance(value, int) else sizes, rows


def batch_to_space_nd(input_x: Any, block_shape: Any, crops: Any) -> Any:
    """Entries of a batch put together to blocks of space, whose ends are cut off."""
    sizes, rows = block(block_shape, crops, "batch_to_space_nd")
    return call("BatchToSpaceND", input_x, block_shape=sizes, crops=rows)


def space_to_batch_nd(input_x: Any, block_size: Any, paddings: Any) -> Any:
    """The elements of blocks of padded space as entries of a batch."""
    sizes, rows = block(block_size, paddings, "space_to_batch_nd")
    return call("SpaceToBatchND", input_x, paddings=rows, block_shape=sizes)


def padding(x: Any, pad_dim_size: int = 8) -> Any:
    """``x`` (..., 1) filled up with zeros to (..., ``pad_dim_size``)."""
    if isinstance(pad_dim_size, bool) or not isinstance(pad_dim_size, int):
        raise SettingTypeError(f"padding: pad_dim_size must be an int, got {pad_dim_size!r}")
    if pad_dim_size < 1:
        raise SettingError(f"padding: pad_dim_size must be above 0, got {pad_dim_size}")
    return call("Padding", x, pad_dim_size=pad_dim_size)


def population_count(input_x: Any) -> Any:
    """How many bits of each element (a whole number) are 1, as UInt8."""
    return call("PopulationCount", input_x, output_names=["output"], input_names=["input"])


def rows(indices: Any, owner: str) -> tuple[int, ...]:
    """The numbers of rows; ``SettingTypeError`` unless an int or a tuple of them."""
    chosen = indices if isinstance(indices, tuple) else (indices,)
    if any(isinstance(row, bool) or not isinstance(row, int) for row in chosen):
        raise SettingTypeError(f"{owner}: indices must be an int or a tuple of them, got {indices!r}")
    return chosen


def _changed(op: str, x: Any, v: Any, indices: Any) -> Any:
    return call(op, x, v, **_Y, input_names=["x", "v"], indices=rows(indices, op))


def inplace_add(x: Any, v: Any, indices: Any) -> Any:
    """``x`` with ``v`` added to the rows ``indices``."""
    return _changed("InplaceAdd", x, v, indices)


def inplace_sub(x: Any, v: Any, indices: Any) -> Any:
    """``x`` with ``v`` taken from the rows ``indices``."""
    return _changed("InplaceSub", x, v, indices)


def inplace_update(x: Any, v: Any, indices: Any) -> Any:
    """``x`` with ``v`` in place of the rows ``indices``."""
    chosen = indices if isinstance(indices, Tensor) else Tensor(np.asarray(indices, np.int64))
    return call("InplaceUpdateV2", x, chosen, v, **_Y, input_names=["x", "indices", "v"])
