"""Networks that compute in float16 or bfloat16, wholly or in part, as ``mindspore.amp``.

Source of lists and levels: MindSpore 2.10.0, measured. Level O1 and ``custom_mixed_precision`` rewrite a network's
source there; here each cell of the list casts its arguments and its result (``docs/differences.md``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness import dtypes
from harness.dtypes import DType
from harness.errors import SettingError, SettingTypeError, UnsupportedError
from harness.framework import log, nn
from harness.framework.nn.cell import Cell
from harness.framework.nn.namespace import ops
from harness.framework.tensor import Tensor

_LEVELS = ("O0", "O1", "O2", "O3", "auto")
_log = log.get("train")


def get_white_list() -> list[Any]:
    """The cells and primitives that level O1 computes in half precision."""
    return [nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.Conv1dTranspose, nn.Conv2dTranspose, nn.Conv3dTranspose, nn.Dense,
            nn.LSTMCell, nn.RNNCell, nn.GRUCell, ops.Conv2D, ops.Conv3D, ops.Conv2DTranspose, ops.Conv3DTranspose,
            ops.Conv2DBackpropInput, ops.MatMul, ops.BatchMatMul, ops.PReLU, ops.ReLU, ops.Ger]  # fmt: skip


def get_black_list() -> list[Any]:
    """The cells that level O2 computes in float32."""
    return [nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.LayerNorm]


class _OutputTo16(Cell):
    """A cell whose result is cast to half precision."""

    def __init__(self, backbone: Cell, dtype: DType = dtypes.float16) -> None:
        super().__init__(auto_prefix=False)
        self._backbone = backbone
        self.dtype = dtype

    def construct(self, *args: Any, **kwargs: Any) -> Any:
        return ops.cast(self._backbone(*args, **kwargs), self.dtype)


class _OutputTo32(Cell):
    """A network whose results are cast to float32."""

    def __init__(self, backbone: Cell) -> None:
        super().__init__(auto_prefix=False)
        self._backbone = backbone

    def construct(self, *args: Any, **kwargs: Any) -> Any:
        return to_float32(self._backbone(*args, **kwargs))


class WithLossCell(Cell):
    """A loss that takes a network's result and label as float32."""

    def __init__(self, backbone: Any, loss_fn: Any) -> None:
        super().__init__(auto_prefix=False)
        self._backbone = backbone
        self._loss_fn = loss_fn

    def construct(self, data: Any, label: Any) -> Any:
        out = self._backbone(data)
        label = to_float32(label)
        return self._loss_fn(to_float32(out), label)


def to_float32(value: Any) -> Any:
    """A floating tensor (or each of a tuple) in float32; anything else as it is."""
    if isinstance(value, (tuple, list)):
        return tuple(to_float32(member) for member in value)
    if isinstance(value, Tensor) and value.dtype.is_floating and value.dtype is not dtypes.float32:
        return ops.cast(value, dtypes.float32)
    return value


def auto_mixed_precision(network: Any, amp_level: str = "O0", dtype: DType = dtypes.float16) -> Any:
    """``network`` (changed) in mixed precision.

    Args:
        network: a cell.
        amp_level: ``O0`` as it is; ``O1`` convolutions, dense and recurrent layers in ``dtype``; ``O2`` all but
            normalisations; ``O3`` everything. ``auto`` is not supported.
        dtype: float16 or bfloat16.
    """
    if amp_level == "auto":
        raise UnsupportedError("auto_mixed_precision: level 'auto' casts operator by operator, which is not supported; "
                               "use O1, O2 or O3")  # fmt: skip
    if not isinstance(network, Cell):
        raise SettingTypeError(f"auto_mixed_precision: network must be a Cell, got {type(network).__name__}")
    _check_dtype(dtype, "auto_mixed_precision")
    if amp_level not in _LEVELS:
        raise SettingError(f"auto_mixed_precision: amp_level must be one of {list(_LEVELS)}, got {amp_level!r}")
    if amp_level == "O0":
        return network
    if network.__dict__.get("_amp_level"):
        _log.warning(f"The network's mixed precision goes from {network.__dict__['_amp_level']} to {amp_level}")
    if amp_level == "O1":
        network = _lower(network, tuple(get_white_list()).__contains__, dtype)
    else:
        if amp_level == "O2":
            keep_float32(network, dtype)
        else:
            network.to_float(dtype)
        network = _OutputTo32(network)
    network.__dict__["_amp_level"] = amp_level
    return network


def custom_mixed_precision(
    network: Any, *, white_list: Any = None, black_list: Any = None, dtype: DType = dtypes.float16
) -> Any:
    """``network`` with the cells of ``white_list`` (or all but those of ``black_list``) in half precision."""
    if not isinstance(network, Cell):
        raise SettingTypeError(f"custom_mixed_precision: network must be a Cell, got {type(network).__name__}")
    if (white_list is None) == (black_list is None):
        raise SettingError("custom_mixed_precision takes one of white_list and black_list")
    _check_dtype(dtype, "custom_mixed_precision")
    for each in (given := white_list if white_list is not None else black_list):
        if not isinstance(each, type):
            raise SettingTypeError(f"custom_mixed_precision: the list must hold classes, got {each!r}")
    chosen: Callable[[type], bool] = given.__contains__ if white_list is not None else lambda c: c not in given
    return _lower(network, chosen, dtype)


def _check_dtype(dtype: Any, owner: str) -> None:
    if dtype not in (dtypes.float16, dtypes.bfloat16):
        raise SettingError(f"{owner}: dtype must be float16 or bfloat16, got {dtype}")


def _lower(network: Cell, chosen: Callable[[type], bool], dtype: DType) -> Cell:
    """Makes each chosen cell without child cells cast its arguments to ``dtype`` and its result to float32."""
    for _, cell in network.cells_and_names():
        leaf = not list(cell.cells())
        if ((chosen(type(cell)) and leaf) or (chosen(type(cell)) and type(cell) in get_white_list())) and (
            cell._float_dtype is None
        ):
            cell.to_float(dtype)
            cell.__class__ = _returning_float32(type(cell))
    return network


def _returning_float32(cls: type) -> type:
    """``cls`` with results in float32, under its own name (scopes are made of it)."""

    def construct(self: Any, *args: Any, **kwargs: Any) -> Any:
        return to_float32(cls.construct(self, *args, **kwargs))  # type: ignore[attr-defined]

    return type(cls.__name__, (cls,), {"construct": construct, "__module__": cls.__module__})


def keep_float32(network: Cell, dtype: DType) -> None:
    """Makes a network compute in ``dtype``, except its normalisations, whose results are cast to ``dtype``."""
    network.to_float(dtype)
    _keep(network, dtype)


def _keep(network: Cell, dtype: DType) -> None:
    for name, cell in list(network.name_cells().items()):
        if isinstance(cell, tuple(get_black_list())):
            network._cells[name] = _OutputTo16(cell.to_float(dtypes.float32), dtype)
        elif cell is not network:
            _keep(cell, dtype)
