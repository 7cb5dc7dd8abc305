"""Arrays from nothing, from numbers and from other arrays."""

from __future__ import annotations

from typing import Any

import numpy

from harness import dtypes
from harness.errors import SettingError, SettingTypeError
from harness.framework import ops as _ops
from harness.framework.numpy.promotion import of_name
from harness.framework.ops.functions.drawing import between
from harness.framework.ops.functions.random import drawn
from harness.framework.ops.functions.shape import cast
from harness.framework.seed import get_seed
from harness.framework.tensor import Tensor

#: looks its names up when they are used
ops: Any = _ops

__all__ = [
    "arange", "array", "asarray", "asfarray", "copy", "diag", "diagflat", "empty", "empty_like", "eye", "full",
    "full_like", "geomspace", "identity", "indices", "linspace", "logspace", "meshgrid", "ones", "ones_like", "rand",
    "randint", "randn", "tri", "tril", "tril_indices", "triu", "triu_indices", "zeros", "zeros_like",
]  # fmt: skip

_NARROW = {"Int64": dtypes.int32, "Float64": dtypes.float32}


def asarray(a: Any, dtype: Any = None) -> Any:
    """A tensor of numbers, lists, tuples or a tensor; Python's ints become Int32, its floats Float32."""
    if isinstance(a, Tensor):
        return a if dtype is None else cast(a, of_name(dtype))
    if not isinstance(a, (bool, int, float, list, tuple)):
        raise SettingTypeError(
            f"numpy.asarray takes an int, a float, a bool, a Tensor, a list or a tuple, got {type(a).__name__}"
        )
    if isinstance(a, (list, tuple)) and any(isinstance(each, Tensor) for each in a):
        stacked = ops.stack([asarray(each) for each in a])
        return stacked if dtype is None else cast(stacked, of_name(dtype))
    made = Tensor(a)
    narrow = _NARROW.get(made.dtype.name, made.dtype)
    return Tensor(a, narrow if dtype is None else of_name(dtype))


def array(obj: Any, dtype: Any = None, copy: bool = True, ndmin: int = 0) -> Any:
    """``asarray``, with at least ``ndmin`` axes."""
    made = asarray(obj, dtype)
    if made is obj and copy:
        made = made.copy()
    while len(made.shape) < ndmin:
        made = made.expand_dims(0)
    return made


def asfarray(a: Any, dtype: Any = dtypes.float32) -> Any:
    """``asarray`` of floats; any other dtype counts as Float32."""
    kind = None if dtype is None else of_name(dtype)
    return asarray(a, kind if kind is None or kind.name in ("Float16", "Float32", "Float64") else dtypes.float32)


def _shape(shape: Any) -> tuple[int, ...]:
    shape = shape.asnumpy().tolist() if isinstance(shape, Tensor) and len(shape.shape) < 2 else shape
    given = (shape,) if isinstance(shape, int) else shape
    if not isinstance(given, (tuple, list)) or not all(isinstance(n, int) for n in given):
        raise SettingTypeError(f"numpy: a shape is an int, or a tuple or list of ints, got {shape!r}")
    return tuple(given)


def full(shape: Any, fill_value: Any, dtype: Any = None) -> Any:
    """``fill_value`` everywhere."""
    if isinstance(fill_value, (list, tuple, Tensor)) and 0 not in _shape(shape):
        return ops.broadcast_to(asarray(fill_value, dtype), _shape(shape))
    if isinstance(fill_value, (list, tuple, Tensor)):
        return Tensor(numpy.zeros(_shape(shape)), asarray(fill_value, dtype).dtype)
    return Tensor(numpy.full(_shape(shape), fill_value), asarray(fill_value).dtype if dtype is None else of_name(dtype))


def zeros(shape: Any, dtype: Any = dtypes.float32) -> Any:
    """Zeros."""
    return full(shape, 0, dtype)


def ones(shape: Any, dtype: Any = dtypes.float32) -> Any:
    """Ones."""
    return full(shape, 1, dtype)


def empty(shape: Any, dtype: Any = dtypes.float32) -> Any:
    """Zeros: old memory cannot be reproduced."""
    return full(shape, 0, dtype)


def _like(prototype: Any, value: Any, dtype: Any, shape: Any) -> Any:
    given = asarray(prototype)
    return full(given.shape if shape is None else shape, value, given.dtype if dtype is None else dtype)


def zeros_like(a: Any, dtype: Any = None, shape: Any = None) -> Any:
    """Zeros of the shape and dtype of ``a``."""
    return _like(a, 0, dtype, shape)


def ones_like(a: Any, dtype: Any = None, shape: Any = None) -> Any:
    """Ones of the shape and dtype of ``a``."""
    return _like(a, 1, dtype, shape)


def empty_like(prototype: Any, dtype: Any = None, shape: Any = None) -> Any:
    """Zeros of the shape and dtype of ``prototype``."""
    return _like(prototype, 0, dtype, shape)


def full_like(a: Any, fill_value: Any, dtype: Any = None, shape: Any = None) -> Any:
    """``fill_value`` in the shape and dtype of ``a``."""
    return _like(a, fill_value, dtype, shape)


def arange(start: Any, stop: Any = None, step: Any = None, dtype: Any = None) -> Any:
    """Numbers from ``start`` to before ``stop``: Int32, or Float32 where one of them is a float."""
    begin, end = (0, start) if stop is None else (start, stop)
    values = [each.asnumpy().item() if isinstance(each, Tensor) else each for each in (begin, end, step or 1)]
    if not all(isinstance(each, (int, float)) for each in values):
        raise SettingTypeError(f"numpy.arange takes numbers, got {start!r}, {stop!r}, {step!r}")
    narrow = dtypes.float32 if any(isinstance(each, float) for each in values) else dtypes.int32
    wide = {float: dtypes.float64, int: dtypes.int64}.get(dtype)  # here alone they are numpy's own (measured)
    made = numpy.arange(*values)
    if not made.size:
        raise SettingError(f"numpy.arange: there are no numbers from {values[0]} to {values[1]} by {values[2]}")
    return Tensor(made, narrow if dtype is None else wide or of_name(dtype))


def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    """``num`` numbers at equal distances; with ``retstep`` the distance, too."""
    if not isinstance(num, int) or num < 1:
        raise SettingError(f"numpy.linspace: num must be an int of at least 1, got {num!r}")
    first, last = (each.asnumpy() if isinstance(each, Tensor) else numpy.asarray(each) for each in (start, stop))
    values, distance = numpy.linspace(first, last, num=num, endpoint=endpoint, retstep=True, axis=axis)
    made = Tensor(values, dtypes.float32 if dtype is None else of_name(dtype))
    if not retstep:
        return made
    return made, float(distance) if numpy.ndim(distance) == 0 else Tensor(distance, dtypes.float32)


def logspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: float = 10.0, dtype: Any = None, axis: int = 0
) -> Any:
    """``base`` to the power of ``linspace``."""
    powers = linspace(start, stop, num, endpoint, False, dtypes.float64, axis)
    return Tensor(numpy.power(base, powers.asnumpy()), dtypes.float32 if dtype is None else of_name(dtype))


def eye(N: int, M: int | None = None, k: int = 0, dtype: Any = dtypes.float32) -> Any:
    """Ones on the ``k``-th diagonal."""
    return Tensor(numpy.eye(N, M, k), of_name(dtype))


def identity(n: int, dtype: Any = dtypes.float32) -> Any:
    """Ones on the diagonal of a square."""
    return eye(n, dtype=dtype)


def tri(N: int, M: int | None = None, k: int = 0, dtype: Any = dtypes.float32) -> Any:
    """Ones on and below the ``k``-th diagonal."""
    return Tensor(numpy.tri(N, M, k), of_name(dtype))


def tril(m: Any, k: int = 0) -> Any:
    """What is on and below the ``k``-th diagonal."""
    given = asarray(m)
    if len(given.shape) == 1:
        return ops.where(tri(given.shape[0], k=k, dtype=dtypes.bool_), given, full_like(given, 0))
    return ops.tril(given, k)


def triu(m: Any, k: int = 0) -> Any:
    """What is on and above the ``k``-th diagonal."""
    given = asarray(m)
    if len(given.shape) == 1:
        return ops.where(tri(given.shape[0], k=k - 1, dtype=dtypes.bool_), full_like(given, 0), given)
    return ops.triu(given, k)


def diag(v: Any, k: int = 0) -> Any:
    """A matrix with the vector ``v`` on a diagonal; the diagonal of a matrix."""
    given = asarray(v)
    return _diagonal(given, k) if len(given.shape) == 2 else _matrix(given, k)


def _matrix(given: Any, k: int) -> Any:
    size, away = given.shape[0], abs(k)
    made = given * ops.eye(size, size, given.dtype)
    if not k:
        return made
    beside, below = (ops.zeros(shape, given.dtype) for shape in ((size, away), (away, size + away)))
    wide = ops.concat((beside, made) if k > 0 else (made, beside), 1)
    return ops.concat((wide, below) if k > 0 else (below, wide), 0)


def _diagonal(given: Any, k: int) -> Any:
    """The sums of rows where all but a diagonal is 0, without those that it does not meet (recorded)."""
    rows, columns = given.shape
    first, length = max(0, -k), min(rows + min(k, 0), columns - max(k, 0))
    if length <= 0:
        return ops.zeros((0,), given.dtype)
    ones = ops.eye(rows, columns, given.dtype)
    if k > 0:
        ones = ops.concat((ops.zeros((rows, k), given.dtype), _first(ones, (rows, columns - k), 1)), 1)
    elif k < 0:
        ones = ops.concat((ops.zeros((-k, columns), given.dtype), _first(ones, (rows + k, columns), 2)), 0)
    sums = ops.ReduceSum()(given * ones, (1,))
    return ops.strided_slice(sums, (first,), (first + length,), (1,))


def _first(x: Any, size: tuple[int, int], whole: int) -> Any:
    """The first of a matrix; ``whole`` is the mask of the axis that is taken whole."""
    return ops.strided_slice(x, (0, 0), size, (1, 1), begin_mask=whole, end_mask=whole)


def tril_indices(n: int, k: int = 0, m: int | None = None) -> Any:
    """Rows and columns of what ``tril`` keeps."""
    return tuple(Tensor(each, dtypes.int32) for each in numpy.tril_indices(n, k, m))


def triu_indices(n: int, k: int = 0, m: int | None = None) -> Any:
    """Rows and columns of what ``triu`` keeps."""
    return tuple(Tensor(each, dtypes.int32) for each in numpy.triu_indices(n, k, m))


def indices(dimensions: Any, dtype: Any = dtypes.int32, sparse: bool = False) -> Any:
    """For each axis the place of each element along it."""
    places: Any = numpy.indices(_shape(dimensions))
    if sparse:
        places = numpy.ogrid[tuple(slice(n) for n in _shape(dimensions))]
    return [Tensor(each, of_name(dtype)) for each in places]


def meshgrid(*xi: Any, sparse: bool = False, indexing: str = "xy") -> Any:
    """Coordinates of a grid, one tensor for each axis."""
    given = [asarray(each).ravel() for each in xi]
    count = len(given)
    axes = list(range(count))
    if indexing == "xy" and count > 1:
        axes[0], axes[1] = 1, 0
    shape = [0] * count
    for each, axis in zip(given, axes, strict=True):
        shape[axis] = each.shape[0]
    grids = []
    for each, axis in zip(given, axes, strict=True):
        column = each.reshape(tuple(-1 if a == axis else 1 for a in range(count)))
        grids.append(column if sparse else ops.broadcast_to(column, tuple(shape)))
    return grids


def rand(*shape: int, dtype: Any = dtypes.float32) -> Any:
    """Uniform numbers from [0, 1)."""
    return cast(drawn("UniformReal", "UniformReal", shape, get_seed()), dtype)


def randn(*shape: int, dtype: Any = dtypes.float32) -> Any:
    """Normal numbers."""
    return cast(drawn("StandardNormal", "StandardNormal", shape, get_seed()), dtype)


def randint(minval: int, maxval: int | None = None, shape: Any = None, dtype: Any = dtypes.int32) -> Any:
    """Whole numbers from [minval, maxval), or [0, minval)."""
    low, high = (0, minval) if maxval is None else (minval, maxval)
    size = _shape((1,) if shape is None else shape)
    return cast(between("UniformInt", low, high, size, get_seed(), dtypes.int32), dtype)


def copy(a: Any) -> Any:
    """A tensor of its own with the same values."""
    return asarray(a).copy()


def diagflat(v: Any, k: int = 0) -> Any:
    """A matrix with the elements of ``v`` on its ``k``-th diagonal."""
    if not isinstance(v, Tensor):
        raise SettingTypeError(f"numpy.diagflat: a tensor is needed, got {type(v).__name__}")
    return ops.diag_embed(v.reshape((-1,)), k)


def geomspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0) -> Any:
    """``num`` numbers, each the same multiple of the one before."""
    if isinstance(num, bool) or not isinstance(num, int):
        raise SettingTypeError(f"numpy.geomspace: num must be an int, got {num!r}")
    if num < 1:
        raise SettingError(f"numpy.geomspace: num must be above 0, got {num}")
    first, last = (numpy.asarray(asarray(each).asnumpy(), numpy.float64) for each in (start, stop))
    with numpy.errstate(all="ignore"):
        share = numpy.linspace(0, 1, num, endpoint).reshape(-1, *(1,) * max(first.ndim, last.ndim))
        values = first * (last / first) ** share
    kind = dtypes.float32 if dtype is None else dtype
    return cast(Tensor(numpy.moveaxis(values, 0, axis).astype(numpy.float32)), kind)
