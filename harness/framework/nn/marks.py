"""``set_dump``: marks cells and primitives for dump mode 2.

Source: MindSpore 2.10.0, measured: the last call wins; a cell's mark reaches every cell below it.
"""

from __future__ import annotations

import warnings
from typing import Any

from harness.errors import SettingError
from harness.framework import context
from harness.framework.nn.cell import Cell
from harness.framework.ops.primitive import Primitive

__all__ = ["set_dump"]


def set_dump(target: Any, enabled: bool = True) -> None:
    """Marks the operators of a cell (and of all cells below), or one primitive, as ``mindspore.tools.set_dump``.

    Args:
        target: a ``Cell`` or ``Primitive`` instance.
        enabled: whether they are to be dumped.

    Raises ``SettingError`` for anything else. Off Ascend a ``UserWarning`` says that only dump mode 2 uses the mark.
    """
    if not isinstance(target, (Cell, Primitive)):
        raise SettingError(f"set_dump: the target must be a Cell or Primitive instance, got {type(target).__name__}")
    if not isinstance(enabled, bool):
        raise SettingError(f"set_dump: enabled must be a bool, got {type(enabled).__name__} {enabled!r}")
    if isinstance(target, Primitive):
        _warn()
        target.add_prim_attr("dump", "true" if enabled else "false")
        return
    for _, cell in target.cells_and_names():
        _warn()
        cell.add_flags(dump=enabled)
        cell.__dict__["_dump"] = enabled


def _warn() -> None:
    device = context.get_context("device_target")
    if device != "Ascend":
        warnings.warn(f"set_dump selects operators for dump mode 2, which exists on Ascend only; "
                      f"the device is {device}", UserWarning, stacklevel=3)  # fmt: skip
