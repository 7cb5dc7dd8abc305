"""Functions that make tensors of known values: constants of the graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness import dtypes
from harness.dtypes import DType
from harness.errors import DtypeError, SettingError, SettingTypeError
from harness.framework.ops.constants import TYPE_IDS, int_tensor, type_tensor
from harness.framework.ops.functions.shape import as_dtype, sizes
from harness.framework.ops.functions.windows import _Y
from harness.framework.tensor import Tensor, call, held, is_tracing, tensor_method

__all__ = [
    "arange", "diag", "eye", "fill", "full", "full_like", "linspace", "logspace", "meshgrid", "ones", "ones_like",
    "range", "scalar_to_tensor", "zeros", "zeros_like",
]  # fmt: skip


def constant(value: Any, shape: Any, dtype: DType) -> Tensor:
    """A tensor of one value; ``TypeError`` if that is not a number."""
    if value is None or isinstance(value, (str, bytes)):
        raise TypeError(f"a tensor of {dtype} is filled with a number, got {value!r}")
    with np.errstate(over="ignore", invalid="ignore"):  # too large: infinite, as in MindSpore
        return Tensor(np.full(sizes((shape,)), held(value), dtype.numpy), dtype)


def _made(function: str, tensor: Tensor, op: str, *arguments: Any) -> Tensor:
    """``tensor``, with the operator that makes it if it is changed in place; otherwise it is a constant.

    Args:
        function: the function of ``ops`` that was called: the operator stands in its scope (measured).
    """
    if is_tracing():
        tensor.made_by = f"ops.{function}", op, arguments
    return tensor


def zeros(size: Any, dtype: Any = None) -> Tensor:
    """Zeros; float32 unless ``dtype`` is given."""
    filled = constant(0, size, dtypes.float32 if dtype is None else as_dtype(dtype))
    return _made("zeros", filled, "Zeros", filled.shape, TYPE_IDS[filled.dtype.name])


def ones(shape: Any, dtype: Any = None) -> Tensor:
    """Ones; float32 unless ``dtype`` is given."""
    filled = constant(1, shape, dtypes.float32 if dtype is None else as_dtype(dtype))
    return _made("ones", filled, "Ones", filled.shape, TYPE_IDS[filled.dtype.name])


def full(size: Any, fill_value: Any, *, dtype: Any = None) -> Tensor:
    """``fill_value`` everywhere; int64 unless ``dtype`` is given, whatever the value (measured)."""
    filled = constant(fill_value, size, dtypes.int64 if dtype is None else as_dtype(dtype))
    return _made("full", filled, "FillV2", filled.shape, Tensor(held(fill_value), filled.dtype))


def fill(type: Any, shape: Any, value: Any) -> Tensor:
    """``value`` everywhere in dtype ``type``."""
    return constant(value, shape, as_dtype(type))


def _like(value: Any, input: Tensor, dtype: Any, op: str) -> Tensor:
    if -1 in input.shape:
        return call(op, input, None if dtype is None else as_dtype(dtype))  # type: ignore[no-any-return]
    return constant(value, input.shape, input.dtype if dtype is None else as_dtype(dtype))


def zeros_like(input: Tensor, *, dtype: Any = None) -> Tensor:
    """Zeros of the shape (and, unless given, the dtype) of ``input``."""
    if -1 in input.shape:
        return _like(0, input, dtype, "ZerosLikeExt")
    filled = _made("zeros_like", constant(0, input.shape, input.dtype), "ZerosLike", input)
    if dtype is None or as_dtype(dtype) is input.dtype:
        return filled
    return call("Cast", filled, as_dtype(dtype))  # type: ignore[no-any-return]


def ones_like(input: Tensor, *, dtype: Any = None) -> Tensor:
    """Ones of the shape (and, unless given, the dtype) of ``input``."""
    return _like(1, input, dtype, "OnesLikeExt")


def full_like(input: Tensor, fill_value: Any, *, dtype: Any = None) -> Tensor:
    """``fill_value`` everywhere in the shape (and, unless given, the dtype) of ``input``."""
    if isinstance(fill_value, Tensor) and len(fill_value.shape) > 1:
        raise SettingError(f"full_like: fill_value is one number, got a tensor of shape {fill_value.shape}")
    return constant(fill_value, input.shape, input.dtype if dtype is None else as_dtype(dtype))


def _new(name: str) -> Any:
    def method(self: Tensor, size: Any, *, dtype: Any = None) -> Tensor:
        target = self.dtype if dtype is None else as_dtype(dtype)
        return call(name, sizes((size,)), target)  # type: ignore[no-any-return]

    return method


tensor_method("new_zeros")(_new("NewZeros"))
tensor_method("new_ones")(_new("NewOnes"))


def arange(start: Any = 0, end: Any = None, step: Any = 1, *, dtype: Any = None) -> Tensor:
    """Numbers from ``start`` (0 if only one bound is given) below ``end`` by ``step``."""
    if end is None:
        start, end = 0, start
    if step == 0:
        raise ValueError("arange: step must not be 0")
    start, end, step = (_bound(v) for v in (start, end, step))
    whole = all(isinstance(v, int) for v in (start, end, step))
    target = as_dtype(dtype) if dtype is not None else dtypes.int64 if whole else dtypes.float32
    if (end - start) * step < 0:
        raise ValueError(f"arange: no step of {step} leads from {start} to {end}")
    return Tensor(np.arange(start, end, step).astype(target.numpy), target)


def _bound(given: Any) -> Any:
    """A bound as a number, which a tensor without axes stands for, too."""
    if isinstance(given, Tensor) and given.shape:
        raise SettingError(f"arange: a tensor in place of a number has no axes, got shape {given.shape}")
    return given.asnumpy().item() if isinstance(given, Tensor) else given


def range(start: Any, end: Any, step: Any, maxlen: int = 1000000) -> Tensor:
    """Numbers from ``start`` below ``end`` by ``step``: int64, or float32 if they are floats (measured)."""
    values = [v.item() if isinstance(v, Tensor) else v for v in (start, end, step)]
    if len({isinstance(v, float) for v in values}) > 1:
        raise DtypeError(f"range: start, end and step must be all ints or all floats, got {values}")
    out = arange(*values)
    if out.size > maxlen:
        raise ValueError(f"range: {out.size} numbers, more than maxlen {maxlen}")
    return out


def linspace(start: Any, end: Any, steps: int) -> Tensor:
    """``steps`` numbers evenly from ``start`` to ``end``, both included; float32 for Python numbers."""
    bounds = [v if isinstance(v, Tensor) else Tensor(np.float32(v)) for v in (start, end)]
    return call("LinSpace", *bounds, int(steps))  # type: ignore[no-any-return]


def eye(n: int, m: int | None = None, dtype: Any = None) -> Tensor:
    """Ones on the diagonal of an (n, m) matrix; float32 unless ``dtype`` is given."""
    target = dtypes.float32 if dtype is None else as_dtype(dtype)
    columns = n if m is None else m
    return call("Eye", int_tensor(n), int_tensor(columns), type_tensor(target))  # type: ignore[no-any-return]


def meshgrid(*inputs: Tensor, indexing: str = "xy") -> tuple[Tensor, ...]:
    """Each vector over the grid of all; ``xy`` exchanges the first two axes."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing must be 'xy' or 'ij', got {indexing!r}")
    for each in inputs:
        if not isinstance(each, Tensor):
            raise SettingTypeError(f"meshgrid: tensors are needed, got {type(each).__name__}")
    return call("Meshgrid", tuple(inputs), int(indexing == "xy"))  # type: ignore[no-any-return]


@tensor_method("diag")
def diag(input: Tensor) -> Tensor:
    """The elements on the diagonal of zeros of shape ``(*input.shape, *input.shape)``."""
    return call("Diag", input)  # type: ignore[no-any-return]


def scalar_to_tensor(input_x: Any, dtype: Any = dtypes.float32) -> Tensor:
    """A number as a tensor without dimensions."""
    return Tensor(np.asarray(input_x), as_dtype(dtype))


@tensor_method("fill")
def _fill(self: Tensor, value: Any) -> Tensor:
    """A tensor like this one of one value; None stands for NaN."""
    if value is None and self.dtype.kind != "f":
        raise DtypeError(f"Tensor.fill(None) takes a floating tensor, got {self.dtype}")
    return constant(np.nan if value is None else value, self.shape, self.dtype)


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
