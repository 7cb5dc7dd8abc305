"""What a tensor is: questions that need no operator, or one and its answer."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from harness.errors import KernelError, SettingError, SettingTypeError, UnsupportedError
from harness.framework.ops.functions.comparison import greater, greater_equal, less, less_equal
from harness.framework.ops.functions.composed import isclose
from harness.framework.ops.functions.indexing import slice
from harness.framework.ops.functions.math import deg2rad, exp, expm1, logaddexp, rad2deg
from harness.framework.ops.functions.matrix import outer
from harness.framework.ops.functions.picking import searchsorted
from harness.framework.ops.functions.reduction import all
from harness.framework.ops.functions.shape import broadcast_to, reshape, sizes
from harness.framework.tensor import Tensor, call, is_eager, tensor_method, tensor_property
from harness.framework.tensor.symbol import OpenDims

__all__ = [
    "deepcopy", "expand_as", "floordiv", "floormod", "invert", "is_floating_point", "is_nonzero", "lrn", "soft_shrink",
    "tensor_exp", "tensor_expm1", "tensor_ge", "tensor_gt", "tensor_le", "tensor_lt", "tensor_slice",
]  # fmt: skip

tensor_exp, tensor_expm1 = exp, expm1
tensor_ge, tensor_gt, tensor_le, tensor_lt = greater_equal, greater, less_equal, less


@tensor_property("symbolic_shape")
def _symbolic_shape(x: Tensor) -> list[Any] | None:
    """Declared dimensions with what their symbols say; None for a tensor without symbols."""
    return x.shape.said() if isinstance(x.shape, OpenDims) else None


for _function in (deg2rad, rad2deg, logaddexp, outer):
    tensor_method(_function.__name__)(_function)


@tensor_method("is_floating_point")
def is_floating_point(input: Any) -> bool:
    """Whether the dtype has fractions."""
    return input.dtype.kind == "f"  # type: ignore[no-any-return]


@tensor_method("is_signed")
def _is_signed(self: Any) -> bool:
    return self.dtype.kind in "ifc"


@tensor_method("ndimension")
def _ndimension(self: Any) -> int:
    return len(self.shape)


@tensor_method("nelement")
def _nelement(self: Any) -> int:
    return math.prod(self.shape)


def _in_graphs(name: str, instead: str) -> None:
    if not is_eager():
        raise UnsupportedError(f"{name} in a graph is not supported here; {instead}")


@tensor_method("allclose")
def _allclose(self: Any, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    _in_graphs("Tensor.allclose", "use isclose(other).all()")
    if not isinstance(other, Tensor):
        raise SettingTypeError(f"Tensor.allclose: other must be a Tensor, got {type(other).__name__}")
    return bool(all(isclose(self, other, rtol, atol, equal_nan)))


def is_nonzero(input: Any) -> bool:
    """Whether the only element is not 0."""
    if math.prod(input.shape) != 1:
        raise SettingError(f"is_nonzero takes a tensor of one element, got {tuple(input.shape)}")
    _in_graphs("is_nonzero", "compare the tensor with 0")
    return bool(input.asnumpy().reshape(()))


def _in_memory(x: Any) -> tuple[Any, int]:
    """A tensor's values as they lie in the memory of the one it was taken from, and the address of that."""
    values = x.asnumpy()
    if x.taken_from is None:
        return values, (values if values.base is None else np.asarray(values.base)).ctypes.data
    source, place = x.taken_from
    whole, begin = _in_memory(source)
    try:
        part = place(whole) if callable(place) else whole[place]
    except (TypeError, IndexError):  # places that tensors name: their elements are copied
        return values, values.ctypes.data
    shared = part.shape == values.shape and np.may_share_memory(part, whole)
    return (part, begin) if shared else (values, values.ctypes.data)


@tensor_method("is_contiguous")
def _is_contiguous(self: Any) -> bool:
    _in_graphs("Tensor.is_contiguous", "ask outside of construct")
    return bool(_in_memory(self)[0].flags.c_contiguous)


@tensor_method("storage_offset")
def _storage_offset(self: Any) -> int:
    _in_graphs("Tensor.storage_offset", "ask outside of construct")
    values, begin = _in_memory(self)
    return int(values.ctypes.data - begin) // int(self.itemsize)


@tensor_method("stride")
def _stride(self: Any, dim: int | None = None) -> Any:
    _in_graphs("Tensor.stride", "ask outside of construct")
    steps = [n // self.itemsize for n in _in_memory(self)[0].strides]
    return steps if dim is None else steps[dim]


@tensor_method("expand")
def _expand(self: Any, *size: Any) -> Any:
    """Broadcast to ``size``, where -1 keeps a length; MindSpore cannot compile this method (measured)."""
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


@tensor_method("searchsorted")
def _searchsorted(self: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    if side not in ("left", "right"):
        raise SettingError(f"Tensor.searchsorted: side must be 'left' or 'right', got {side!r}")
    return searchsorted(self, v, out_int32=True, right=side == "right", sorter=sorter)


@tensor_method("fill_diagonal")
def _fill_diagonal(self: Any, fill_value: float, wrap: bool = False) -> Any:
    """A copy with ``fill_value`` on the diagonal."""
    names: dict[str, Any] = {"output_names": ["y"], "input_names": ["input_x"]}
    return call("FillDiagonal", self, **names, wrap=wrap, fill_value=float(fill_value))


@tensor_method("hardshrink")
def _hardshrink(self: Any, lambd: float = 0.5) -> Any:
    return call("HShrink", self, float(lambd))


@tensor_method("soft_shrink")
def soft_shrink(input: Any, lambd: float = 0.5) -> Any:
    """``softshrink`` under its older name, which MindSpore cannot compile (measured)."""
    if not is_eager():
        raise KernelError("soft_shrink cannot be compiled in a graph, because it warns that it is old; use softshrink")
    return call("SoftShrink", input, float(lambd))


def expand_as(input: Any, other: Any) -> Any:
    """Broadcast to the shape of ``other``; MindSpore has no kernel of this function in graphs (measured)."""
    if not is_eager():
        raise KernelError("ops.expand_as has no CPU kernel in a graph; use broadcast_to")
    return broadcast_to(input, other.shape)


def lrn(
    x: Any, depth_radius: int = 5, bias: float = 1.0, alpha: float = 1.0, beta: float = 0.5,
    norm_region: str = "ACROSS_CHANNELS",
) -> Any:  # fmt: skip
    """Local response normalisation over the channels of (n, c, h, w)."""
    if norm_region != "ACROSS_CHANNELS":
        raise SettingError(f"lrn: norm_region must be 'ACROSS_CHANNELS', got {norm_region!r}")
    settings: dict[str, Any] = {"beta": float(beta), "depth_radius": depth_radius, "bias": float(bias)}
    names: dict[str, Any] = {"input_names": ["x"], "norm_region": norm_region, "output_names": ["y"]}
    return call("LRN", x, **names, **settings, alpha=float(alpha))


@tensor_method("value")
def _value(self: Any) -> Any:
    _in_graphs("Tensor.value", "use the tensor itself")
    return self


@tensor_method("invert")
def invert(x: Any) -> Any:
    """Each bit of whole numbers turned."""
    return call("Invert", x, output_names=["y"], input_names=["x"])


def floordiv(input: Any, other: Any) -> Any:
    """floor(input / other)."""
    return call("FloorDiv", input, other)


def tensor_slice(input: Any, begin: Any, size: Any) -> Any:
    """The box of ``size`` from corner ``begin``."""
    return slice(input, begin, size)


def floormod(x: Any, y: Any) -> Any:
    """x - floor(x / y) * y."""
    return call("FloorMod", x, y)


def deepcopy(input_x: Any) -> Any:
    """A copy."""
    return call("Identity", input_x)
