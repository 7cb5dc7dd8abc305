"""Functions and tensor methods that change shape, order or dtype."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from harness import dtypes
from harness.dtypes import DType
from harness.errors import (
    DtypeError,
    KernelError,
    SettingError,
    SettingTypeError,
    ShapeError,
    StateError,
    UnsupportedError,
)
from harness.framework.ops.eager import is_number
from harness.framework.ops.functions.inner import widened_of
from harness.framework.tensor import (
    Tensor,
    call,
    differentiated_outside,
    is_eager,
    is_tracing,
    read,
    tensor_method,
    tensor_property,
)
from harness.framework.tensor.devices import asked_by_to

__all__ = [
    "broadcast_to", "cast", "expand_as", "expand_dims", "flatten", "flip", "moveaxis", "movedim", "numel", "padding",
    "permute", "pixel_shuffle", "rank", "ravel", "repeat_elements", "reshape", "reverse", "rot90", "shape", "size",
    "squeeze", "swapaxes", "swapdims", "t", "tile", "transpose", "unsqueeze", "view_as",
]  # fmt: skip


def as_dtype(given: Any) -> DType:
    """A dtype given as such, or Python's type; ``TypeError`` otherwise, for a name too (measured)."""
    if isinstance(given, DType):
        return given
    python = {bool: dtypes.bool_, int: dtypes.int64, float: dtypes.float32}
    if given in python:
        return python[given]
    raise SettingTypeError(f"a dtype is needed, got {given!r}")


#: further names that ``Tensor.astype`` has for dtypes
_SPELLED = {
    "byte": "int8", "short": "int16", "intc": "int32", "long": "int64", "intp": "int64", "int": "int64",
    "int_": "int64", "ubyte": "uint8", "ushort": "uint16", "uintc": "uint32", "uintp": "uint64", "uint": "uint64",
    "half": "float16", "single": "float32", "double": "float64", "float": "float64", "float_": "float64",
}  # fmt: skip


def asked_dtype(given: Any) -> DType:
    """A dtype as ``Tensor.astype`` takes it: names and numpy's scalar types, too; ``float`` is Float64, ``int`` Int64.

    Raises:
        TypeError: it is none, or numpy's dtype object.
    """
    if isinstance(given, type) and issubclass(given, np.generic):
        return dtypes.from_numpy(given)
    if given is float:
        return dtypes.float64
    return dtypes.by_name(_SPELLED.get(given, given)) if isinstance(given, str) else as_dtype(given)


def sizes(given: tuple[Any, ...]) -> tuple[int, ...]:
    """Dimensions given as separate ints or as one tuple or list."""
    flat = tuple(given[0]) if len(given) == 1 and isinstance(given[0], (tuple, list)) else given
    if not all(_is_size(d) for d in flat):
        raise SettingTypeError(f"dimensions and axes must be ints, got {' '.join(repr(flat).split())}")
    return tuple(int(d) for d in flat)


def _is_size(given: Any) -> bool:
    """Whether a value can stand for one dimension or axis: an int, an integer tensor of one element."""
    if isinstance(given, Tensor):
        return given.size == 1 and given.dtype.kind in "iu"
    return given is not None and not isinstance(given, (bool, float, str))


def axis_of(axis: int, rank: int, name: str) -> int:
    """``axis`` counted from the front; ``ValueError`` if it is out of range."""
    if not -rank <= axis < rank:
        raise ValueError(f"{name}: axis {axis} lies outside {-rank}..{rank - 1}")
    return axis % rank


def reshape(input: Tensor, shape: Any) -> Tensor:
    """``input`` with dimensions ``shape`` (one may be -1)."""
    return call("Reshape", input, sizes((shape,)))  # type: ignore[no-any-return]


@tensor_method("reshape")
def _reshape(self: Tensor, *shape: Any) -> Tensor:
    if not shape:
        raise SettingTypeError("reshape needs a shape")
    return reshape(self, sizes(shape))


@tensor_method("reshape_as", "view_as")
def _reshape_as(self: Tensor, other: Tensor) -> Tensor:
    return reshape(self, other.shape)


def cast(input: Tensor, dtype: Any) -> Tensor:
    """``input`` (a number, too: measured) in ``dtype``; itself where it already is."""
    target = as_dtype(dtype)
    if is_number(input):
        return Tensor(np.asarray(input).astype(target.numpy), target)
    return input if input.dtype is target else call("Cast", input, target)


@tensor_method("astype")
def _astype(self: Tensor, dtype: Any, copy: bool = True) -> Tensor:
    return cast(read(self), asked_dtype(dtype))


@tensor_method("copy")
def _copy(self: Tensor) -> Tensor:
    if self.dtype is dtypes.bool_:
        return call("LogicalNot", call("LogicalNot", self))  # type: ignore[no-any-return]
    if self.dtype.name in ("Int32", "Int64", "UInt32", "UInt64"):
        return call("TensorMove", self)  # type: ignore[no-any-return]
    wide = self if self.dtype is dtypes.float64 or self.dtype.kind == "c" else cast(self, dtypes.float32)
    return cast(call("Divs", wide, 1.0), self.dtype)


@tensor_method("to")
def _to(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """In another dtype, or that of another tensor; see ``asked_by_to``."""
    dtype = asked_by_to("Tensor", args, kwargs)
    if dtype is not None and dtype is not self.dtype:
        return cast(self, dtype)
    return self if is_tracing() else Tensor.over(self.asnumpy())


@tensor_method("type_as")
def _type_as(self: Tensor, other: Tensor) -> Tensor:
    return self.astype(other.dtype)  # type: ignore[no-any-return]


def _cast_to(dtype: DType) -> Callable[[Tensor], Tensor]:
    def method(self: Tensor) -> Tensor:
        return self.astype(dtype)  # type: ignore[no-any-return]

    return method


def _attach_casts() -> None:
    names = {
        "float": dtypes.float32, "half": dtypes.float16, "double": dtypes.float64, "bfloat16": dtypes.bfloat16,
        "int": dtypes.int32, "long": dtypes.int64, "short": dtypes.int16, "byte": dtypes.uint8, "bool": dtypes.bool_,
    }  # fmt: skip
    for name, dtype in names.items():
        tensor_method(name)(_cast_to(dtype))


_attach_casts()


def flatten(input: Tensor, order: str = "C", *, start_dim: int = 1, end_dim: int = -1) -> Tensor:
    """Axes ``start_dim`` to ``end_dim`` as one; ``order`` must be ``C``."""
    if order != "C":
        raise ValueError(f"flatten: order must be 'C', got {order!r}")
    rank = len(input.shape)
    if rank <= 1:
        if (start_dim, end_dim) != (1, -1):
            axis_of(start_dim, 1, "flatten"), axis_of(end_dim, 1, "flatten")
        return reshape(input, (-1,)) if rank == 0 else input
    first, last = axis_of(start_dim, rank, "flatten"), axis_of(end_dim, rank, "flatten")
    if first > last:
        raise ValueError(f"flatten: start_dim {start_dim} comes after end_dim {end_dim}")
    if (first, last) == (1, rank - 1):
        return call("Flatten", input)  # type: ignore[no-any-return]
    if first == last:
        return input
    middle = input.shape[first : last + 1]
    return reshape(input, (*input.shape[:first], -1 if -1 in middle else prod(middle), *input.shape[last + 1 :]))


@tensor_method("flatten")
def _flatten(self: Tensor, order: Any = "C", last: Any = None, *, start_dim: Any = None, end_dim: Any = None) -> Tensor:
    """``flatten(order, start_dim=, end_dim=)``, or ``flatten(start_dim, end_dim)`` by position."""
    if type(order) is int:
        if start_dim is not None or (last is not None and end_dim is not None):
            raise SettingTypeError("Tensor.flatten takes start_dim and end_dim once each, got one of them twice")
        ends = [each for each in (last, end_dim) if each is not None]
        return call("FlattenExt", self, order, *(ends or [-1]))  # type: ignore[no-any-return]
    if order not in ("C", "F"):
        raise SettingTypeError(f"Tensor.flatten: order must be 'C' or 'F', got {order!r}")
    first, end = 0 if start_dim is None else start_dim, -1 if end_dim is None else end_dim
    return flatten(self, order, start_dim=first, end_dim=end)


@tensor_method("ravel")
def _ravel(self: Tensor) -> Tensor:
    return reshape(self, (-1,))


def transpose(input: Tensor, dims: Any) -> Tensor:
    """``input`` with its axes in the order ``dims``."""
    return call("Transpose", input, sizes((dims,)))  # type: ignore[no-any-return]


def permute(input: Tensor, axis: Any) -> Tensor:
    """``input`` with its axes in the order ``axis``."""
    return transpose(input, axis)


@tensor_method("transpose")
def _transpose(self: Tensor, *axes: Any, ext: bool = False, dim0: int = 0, dim1: int = 0) -> Tensor:
    if ext:
        return call("TransposeExtView", self, dim0, dim1, side_effect_mem=True)  # type: ignore[no-any-return]
    if len(axes) == 2 and all(isinstance(axis, int) for axis in axes) and is_eager():
        return swapaxes(self, *axes)  # of two ints it exchanges these axes, in graphs alone it is an order (measured)
    return _permuted(self, *axes)


@tensor_method("permute")
def _permuted(self: Tensor, *axes: Any) -> Tensor:
    order = sizes(axes) or tuple(reversed(range(len(self.shape))))
    if len(order) != len(self.shape):
        raise SettingError(f"transpose: {len(order)} axes given for a tensor of {len(self.shape)}")
    return transpose(self, order)


@tensor_property("T")
def _turned(self: Tensor) -> Tensor:
    return transpose(self, tuple(reversed(range(len(self.shape))))) if len(self.shape) > 1 else self


@tensor_property("mT")
def _matrix_turned(self: Tensor) -> Tensor:
    return swapaxes(self, -2, -1)


@tensor_method("swapaxes")
def swapaxes(input: Tensor, axis0: int, axis1: int) -> Tensor:
    """``input`` with two axes exchanged."""
    order = list(range(len(input.shape)))
    first, second = (axis_of(a, len(order), "swapaxes") for a in (axis0, axis1))
    if first == second:
        return input
    order[first], order[second] = second, first
    return transpose(input, tuple(order))


@tensor_method("swapdims")
def swapdims(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """``input`` with two axes exchanged."""
    return swapaxes(input, dim0, dim1)


@tensor_method("movedim", "moveaxis")
def movedim(x: Tensor, source: Any, destination: Any) -> Tensor:
    """``x`` with the axes ``source`` moved to the places ``destination``."""
    rank = len(x.shape)
    given = [v if isinstance(v, (int, tuple, list)) else () for v in (source, destination)]
    origin, goal = ((v,) if isinstance(v, int) else tuple(v) for v in given)
    moved = [axis_of(a, rank, "movedim") for a in origin]
    places = [axis_of(a, rank, "movedim") for a in goal]
    if len(moved) != len(places) or len(set(moved)) != len(moved) or len(set(places)) != len(places):
        raise ValueError(f"movedim: source {source} and destination {destination} must name as many different axes")
    order = [a for a in range(rank) if a not in moved]
    for place, axis in sorted(zip(places, moved, strict=True)):
        order.insert(place, axis)
    return transpose(x, tuple(order))


moveaxis = movedim


@tensor_method("expand_dims")
def expand_dims(input_x: Tensor, axis: int) -> Tensor:
    """``input_x`` with a new axis of length 1 at ``axis``."""
    return call("ExpandDims", input_x, axis)  # type: ignore[no-any-return]


@tensor_method("unsqueeze")
def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """``input`` with a new axis of length 1 at ``dim``."""
    return expand_dims(input, dim)


@tensor_method("squeeze")
def squeeze(input: Tensor, axis: Any = None) -> Tensor:
    """``input`` without the axes ``axis`` (all of length 1 if None)."""
    if axis is None:
        axis = () if is_tracing() else tuple(a for a, n in enumerate(input.shape) if n == 1)
    return call("Squeeze", input, (axis,) if isinstance(axis, int) else tuple(axis))  # type: ignore[no-any-return]


def tile(input: Tensor, dims: Any) -> Tensor:
    """``input`` repeated ``dims`` times along its axes."""
    return call("Tile", input, sizes((dims,)))  # type: ignore[no-any-return]


@tensor_method("tile")
def _tile(self: Tensor, *dims: Any) -> Tensor:
    if not dims:
        raise SettingTypeError("tile needs the numbers of repeats")
    if isinstance(dims[0], list):
        raise SettingTypeError(f"Tensor.tile: a tuple of ints is needed, got {dims[0]!r}")
    return tile(self, sizes(dims))


@tensor_method("repeat")
def _repeat(self: Tensor, *repeats: Any) -> Tensor:
    """Refused: no CPU kernel repeats.

    Raises:
        SettingTypeError: a tensor; in a graph a tuple or list beside another argument.
        SettingError: in a graph, fewer numbers than axes.
    """
    inner = [each for each in repeats if isinstance(each, (tuple, list))]
    several = inner[0] if len(repeats) == 1 and inner else repeats
    if any(isinstance(each, Tensor) for each in several) or (inner and len(repeats) > 1 and not is_eager()):
        raise SettingTypeError(f"Tensor.repeat: ints, or a tuple of them, are needed, got {repeats!r}")
    if repeats and len(several) < len(self.shape) and not is_eager():
        raise SettingError(f"Tensor.repeat: one number for each of {len(self.shape)} axes is needed, got {several}")
    raise UnsupportedError(f"Tensor.repeat{repeats} has no CPU kernel (Repeat); use Tensor.tile")


def broadcast_to(input: Tensor, shape: Any) -> Tensor:
    """``input`` stretched to ``shape``, where -1 keeps an axis's length."""
    return call("BroadcastTo", input, sizes((shape,)))  # type: ignore[no-any-return]


@tensor_method("broadcast_to")
def _broadcast_to(self: Tensor, shape: Any) -> Tensor:
    return broadcast_to(self, shape)


@tensor_method("expand_as")
def _expand_as(self: Tensor, other: Tensor) -> Tensor:
    return broadcast_to(self, other.shape)


def repeat_elements(x: Tensor, rep: int, axis: int = 0) -> Tensor:
    """Each slice along ``axis`` ``rep`` times in a row."""
    if x.dtype.kind == "b":
        raise DtypeError("repeat_elements and repeat_interleave take numbers, got Bool; cast the tensor (ops.cast)")
    at = axis_of(axis, len(x.shape), "repeat_elements")
    tall = widened_of(x, at + 1)
    times = tuple(rep if a == at + 1 else 1 for a in range(len(tall.shape)))
    shape = tuple(n * rep if a == at else n for a, n in enumerate(x.shape))
    return reshape(tile(tall, times), shape)


@tensor_method("flip")
def flip(input: Tensor, dims: Any) -> Tensor:
    """``input`` with the order along the axes ``dims`` reversed."""
    return differentiated_outside(reversed_along(input, dims))


def reversed_along(input: Tensor, dims: Any) -> Tensor:
    """As ``flip``, in a function whose gradient stands in the cell (measured: ``rot90``)."""
    return call("ReverseV2", input, sizes((dims,)))  # type: ignore[no-any-return]


def shape(input_x: Tensor) -> tuple[int, ...]:
    """The dimensions."""
    return tuple(input_x.shape)


def rank(input_x: Tensor) -> int:
    """The number of dimensions."""
    return len(input_x.shape)


def size(input_x: Tensor) -> int:
    """The number of elements."""
    return prod(input_x.shape)


def numel(input: Tensor) -> int:
    """The number of elements."""
    return prod(input.shape)


def view_as(input: Tensor, other: Tensor) -> Tensor:
    """``input`` with the dimensions of ``other``."""
    return reshape(input, other.shape)


def ravel(input: Tensor) -> Tensor:
    """``input`` with one axis."""
    return reshape(input, (-1,))


@tensor_method("contiguous")
def _contiguous(self: Tensor) -> Tensor:
    if not is_eager() or self.taken_from is None or self.is_contiguous():
        return self
    return Tensor.over(np.ascontiguousarray(self.asnumpy()))


@tensor_method("expand")
def _expand(self: Any, *size: Any) -> Any:
    """Broadcast to ``size``, where -1 keeps a length; MindSpore cannot compile this method (measured:
    ``tests/framework/ops/test_functions.py``)."""
    if not is_eager():
        if len(size) > 1:
            raise SettingTypeError(f"Tensor.expand takes one tuple in a graph, got {len(size)} numbers")
        raise KernelError("Tensor.expand cannot be compiled in a graph; use broadcast_to")
    return broadcast_to(self, sizes(size))


@tensor_method("resize")
def _resize(self: Any, *new_shape: Any) -> Any:
    """The first elements in a new shape; a larger one is filled with zeros."""
    shape = sizes(new_shape)
    flat, wanted = reshape(self, (-1,)), math.prod(shape)
    if wanted > flat.shape[0]:
        raise UnsupportedError(f"Tensor.resize to more elements ({wanted} of {flat.shape[0]}) is not supported here")
    names: dict[str, Any] = {
        "output_names": ("output",),
        "input_names": (
            "x", "begin", "end", "strides", "begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask",
            "shrink_axis_mask",
        ),
    }  # fmt: skip
    return reshape(call("StridedSlice", flat, (0,), (wanted,), (1,), 1, 0, 0, 0, 0, **names), shape)


@tensor_method("sum_to_size")
def _sum_to_size(self: Any, *size: Any) -> Any:
    """Summed over axes until the shape is ``size``."""
    wanted = sizes(size)
    extra = len(self.shape) - len(wanted)
    if extra < 0 or any(n not in (1, own) for n, own in zip(wanted, self.shape[extra:], strict=True)):
        raise ValueError(f"sum_to_size: {tuple(self.shape)} cannot be summed to {wanted}")
    pairs = enumerate(zip(wanted, self.shape[extra:], strict=True))
    axes = (*range(extra), *(extra + a for a, (n, own) in pairs if n == 1 and own > 1))
    x = call("SumExt", self, axes, True, None) if axes else self
    return reshape(x, wanted) if extra else x


def expand_as(input: Any, other: Any) -> Any:
    """Broadcast to the shape of ``other``; MindSpore has no kernel of this function in graphs (measured:
    ``tests/framework/ops/test_functions.py``)."""
    if not is_eager():
        raise KernelError("ops.expand_as has no CPU kernel in a graph; use broadcast_to")
    return broadcast_to(input, other.shape)


@tensor_method("t")
def t(input: Tensor) -> Tensor:
    """A matrix with its axes exchanged; a vector as it is."""
    if len(input.shape) > 2:
        raise SettingError(f"t: at most 2 dimensions are taken, got {len(input.shape)}")
    return transpose(input, (1, 0)) if len(input.shape) == 2 else input


@tensor_method("rot90")
def rot90(input: Tensor, k: int, dims: Sequence[int]) -> Tensor:
    """``input`` rotated ``k`` times by 90 degrees, from the first of two axes to the second."""
    rank = len(input.shape)
    if not isinstance(k, int) or not isinstance(dims, (list, tuple)):
        raise SettingTypeError(f"rot90: k must be an int and dims a tuple, got {k!r} and {dims!r}")
    if len(dims) != 2:
        raise SettingError(f"rot90: dims must name two axes, got {dims}")
    if dims[0] == dims[1] or abs(dims[0] - dims[1]) == rank:
        raise StateError(f"rot90: dims must name two different axes, got {dims}")
    first, second = (axis_of(a, rank, "rot90") for a in dims)
    turned = list(range(rank))
    turned[first], turned[second] = second, first
    if k % 4 == 0:
        return input
    if k % 4 == 2:
        return reversed_along(reversed_along(input, (dims[0],)), (dims[1],))
    if k % 4 == 1:
        return transpose(reversed_along(input, (dims[1],)), tuple(turned))
    return reversed_along(transpose(input, tuple(turned)), (dims[1],))


@tensor_method("reverse")
def reverse(x: Tensor, axis: Any) -> Tensor:
    """``x`` backwards along ``axis``."""
    if not isinstance(axis, (tuple, list)):
        raise SettingTypeError(f"reverse: axis must be a tuple or list of ints, got {axis!r}")
    return flip(x, axis)


def at_once(name: str, *known: Any) -> None:
    """``UnsupportedError`` in a graph whose values are not known."""
    if not is_eager() and any(type(value) is not Tensor for value in known):
        raise UnsupportedError(f"Tensor.{name} is not supported in a graph")


@tensor_method("view")
def _view(self: Any, *shape: Any) -> Any:
    if not shape:
        raise SettingTypeError("view needs a shape")
    if len(shape) == 1 and isinstance(shape[0], DType):
        return _bits_as(self, shape[0])
    return reshape(self, sizes(shape))


def _bits_as(x: Tensor, dtype: DType) -> Tensor:
    """``x.view(dtype)``: the same bytes as another dtype.

    Raises:
        ValueError: the last axis does not hold a whole number of elements.
    """
    at_once("view of a dtype", x)
    old, new = x.dtype.numpy.itemsize, dtype.numpy.itemsize
    if old != new and (not x.shape or x.shape[-1] * old % new):
        raise ShapeError(f"view: the last axis of shape {list(x.shape)} in {x.dtype} is no whole number of {dtype}")
    return Tensor.over(x.asnumpy().view(dtype.numpy))


def padding(x: Any, pad_dim_size: int = 8) -> Any:
    """``x`` (..., 1) filled up with zeros to (..., ``pad_dim_size``)."""
    if isinstance(pad_dim_size, bool) or not isinstance(pad_dim_size, int):
        raise SettingTypeError(f"padding: pad_dim_size must be an int, got {pad_dim_size!r}")
    if pad_dim_size < 1:
        raise SettingError(f"padding: pad_dim_size must be above 0, got {pad_dim_size}")
    return call("Padding", x, pad_dim_size=pad_dim_size)


def pixel_shuffle(input: Any, upscale_factor: int) -> Any:
    """(..., C * r * r, H, W) to (..., C, H * r, W * r)."""
    *outer, channels, height, width = input.shape
    r = upscale_factor
    if r < 1 or channels % (r * r):
        raise SettingError(f"pixel_shuffle: {channels} channels must be a multiple of the square of {r}")
    parts = input.reshape((*outer, channels // (r * r), r, r, height, width))
    n = len(outer)
    parts = transpose(parts, (*range(n), n, n + 3, n + 1, n + 4, n + 2))
    return parts.reshape((*outer, channels // (r * r), height * r, width * r))
