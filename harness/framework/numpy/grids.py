"""``mgrid`` and ``ogrid``."""

from __future__ import annotations

from typing import Any

import numpy

from harness.errors import SettingError, SettingTypeError
from harness.framework import ops as _ops
from harness.framework.tensor import Tensor

#: looks its names up when they are used
ops: Any = _ops

__all__ = ["mgrid", "ogrid"]


class _Grid:
    """Numbers at the places that slices name: ``grid[0:3, 0:1:5j]``."""

    def __init__(self, whole: bool) -> None:
        self.whole = whole

    def __getitem__(self, key: Any) -> Any:
        slices = key if isinstance(key, tuple) else (key,)
        lines = [_line(each) for each in slices]
        if len(lines) == 1:
            return Tensor(lines[0])
        shapes = [tuple(len(line) if a == at else 1 for a in range(len(lines))) for at, line in enumerate(lines)]
        parts = [line.reshape(shape) for line, shape in zip(lines, shapes, strict=True)]
        if not self.whole:
            return [Tensor(part) for part in parts]
        return Tensor(
            numpy.stack(numpy.broadcast_arrays(*(p.astype(numpy.result_type(*_kinds(parts))) for p in parts)))
        )


def _kinds(parts: list[Any]) -> list[Any]:
    """Float32 where one part has it, else Int32."""
    return [numpy.float32 if any(p.dtype == numpy.float32 for p in parts) else numpy.int32]


def _line(each: Any) -> Any:
    if not isinstance(each, slice) or each.stop is None:
        raise SettingTypeError(f"numpy.mgrid: slices with an end are needed, got {each!r}")
    start, step = 0 if each.start is None else each.start, 1 if each.step is None else each.step
    if not isinstance(start, int) or not isinstance(each.stop, int):
        raise SettingTypeError(f"numpy.mgrid: the ends of slices must be ints, got {each!r}")
    if isinstance(step, complex):
        return numpy.linspace(start, each.stop, int(abs(step))).astype(numpy.float32)
    found = numpy.arange(start, each.stop, step)
    if not found.size:
        raise SettingError(f"numpy.mgrid: {each!r} has no elements")
    return found.astype(numpy.int32 if found.dtype.kind == "i" else numpy.float32)


mgrid, ogrid = _Grid(True), _Grid(False)
