"""What a tensor says of its memory, and what is set on it from outside of graphs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from harness.dtypes import DType
from harness.errors import SettingError, SettingTypeError, UnsupportedError
from harness.framework.tensor import Tensor, is_eager, tensor_method

__all__: list[str] = []

#: devices a tensor may be asked to move to
_PLACES = ("Ascend", "GPU", "CPU")


def _outside(name: str) -> None:
    if not is_eager():
        raise UnsupportedError(f"Tensor.{name} in a graph is not supported here; call it outside of construct")


@tensor_method("get_bytes")
def _get_bytes(self: Any) -> bytes:
    _outside("get_bytes")
    return bytes(self.asnumpy().tobytes())


def _convert_bytes_to_tensor(bytes_data: bytes, dims: Any, data_type: DType) -> Tensor:
    """A tensor of shape ``dims`` and dtype ``data_type`` whose memory begins with ``bytes_data``; the rest is 0."""
    if not isinstance(bytes_data, bytes):
        raise SettingTypeError(f"convert_bytes_to_tensor: bytes are needed, got {type(bytes_data).__name__}")
    size = math.prod(dims) * data_type.itemsize
    held = bytes_data[:size].ljust(size, b"\0")
    return Tensor(np.frombuffer(held, data_type.numpy).reshape(tuple(dims)), data_type)


Tensor.convert_bytes_to_tensor = staticmethod(_convert_bytes_to_tensor)  # type: ignore[attr-defined]


@tensor_method("is_init")
def _is_init(self: Any) -> bool:
    _outside("is_init")
    return bool(self.__dict__.get("init_flag", False))


@tensor_method("set_init_flag")
def _set_init_flag(self: Any, is_init: bool) -> None:
    _outside("set_init_flag")
    self.__dict__["init_flag"] = bool(is_init)


@tensor_method("is_pinned")
def _is_pinned(self: Any) -> bool:
    _outside("is_pinned")
    return False


@tensor_method("is_shared")
def _is_shared(self: Any) -> bool:
    _outside("is_shared")
    return False


@tensor_method("offload_file_path")
def _offload_file_path(self: Any) -> str:
    _outside("offload_file_path")
    return ""


@tensor_method("set_const_arg")
def _set_const_arg(self: Any, const_arg: bool = True) -> Any:
    _outside("set_const_arg")
    if not isinstance(const_arg, bool):
        raise SettingTypeError(f"Tensor.set_const_arg: a bool is needed, got {const_arg!r}")
    self.const_arg = const_arg
    return self


@tensor_method("move_to")
def _move_to(self: Any, to: str, blocking: bool = True) -> Any:
    _outside("move_to")
    if to not in _PLACES:
        raise SettingError(f"Tensor.move_to: the device must be one of {', '.join(_PLACES)}, got {to!r}")
    if to != "CPU":
        raise RuntimeError(f"Tensor.move_to: the device is the CPU, a tensor cannot move to {to}")
    return Tensor(self)


@tensor_method("set_dtype")
def _set_dtype(self: Any, dtype: DType) -> DType:
    """Brings the elements to another dtype, in place."""
    _outside("set_dtype")
    self._data, self._dtype = self.asnumpy().astype(dtype.numpy), dtype
    return dtype
