"""What a tensor is: questions that need no operator, or one and its answer."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from harness.errors import SettingError, SettingTypeError, UnsupportedError
from harness.framework.ops.functions.comparison import greater, greater_equal, isclose, less, less_equal
from harness.framework.ops.functions.math import deg2rad, exp, expm1, logaddexp, rad2deg
from harness.framework.ops.functions.matrix import outer
from harness.framework.ops.functions.reduction import all
from harness.framework.tensor import Tensor, call, is_eager, tensor_method, tensor_property
from harness.framework.tensor.symbol import OpenDims

__all__ = [
    "deepcopy", "is_floating_point", "is_nonzero", "tensor_exp", "tensor_expm1", "tensor_ge", "tensor_gt",
    "tensor_le", "tensor_lt",
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


@tensor_method("value")
def _value(self: Any) -> Any:
    _in_graphs("Tensor.value", "use the tensor itself")
    return self


def deepcopy(input_x: Any) -> Any:
    """A copy."""
    return call("Identity", input_x)


@tensor_method("type")
def _type(self: Tensor, dtype: Any = None) -> Any:
    return str(self.dtype) if dtype is None else self.astype(dtype)
