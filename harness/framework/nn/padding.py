"""Layers that put elements around a tensor.

Source of the operators each becomes: MindSpore 2.10.0, measured.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from harness.errors import SettingError, SettingTypeError, ShapeError
from harness.framework.nn import checks
from harness.framework.nn.cell import Cell
from harness.framework.nn.namespace import ops
from harness.framework.tensor import Tensor

__all__ = [
    "ConstantPad1d", "ConstantPad2d", "ConstantPad3d", "Pad", "ReflectionPad1d", "ReflectionPad2d", "ReflectionPad3d",
    "ReplicationPad1d", "ReplicationPad2d", "ReplicationPad3d", "ZeroPad2d",
]  # fmt: skip


class Pad(Cell):
    """Zeros, or a tensor's own elements, around it.

    Args:
        paddings: a pair of numbers for each axis.
        mode: ``CONSTANT`` (zeros), ``REFLECT`` (without the border) or ``SYMMETRIC`` (with it).
    """

    def __init__(self, paddings: Any, mode: str = "CONSTANT") -> None:
        super().__init__()
        if not isinstance(paddings, tuple):
            raise SettingTypeError(f"{self.cls_name}: paddings must be a tuple, got {type(paddings).__name__}")
        if any(not isinstance(pair, (tuple, list)) or len(pair) != 2 for pair in paddings):
            raise SettingError(f"{self.cls_name}: paddings must be pairs, got {paddings!r}")
        if len(paddings) > 4 and mode == "CONSTANT":
            raise SettingError(f"{self.cls_name}: paddings of at most four axes are accepted, got {len(paddings)}")
        self.mode = checks.among(mode, ("CONSTANT", "REFLECT", "SYMMETRIC"), "mode", self.cls_name)
        self.paddings: Any = paddings
        if mode == "CONSTANT":
            self.pad: Any = ops.Pad(paddings)
        else:
            self.paddings = Tensor(np.array(paddings, np.int64))
            self.pad = ops.MirrorPad(mode=mode)

    def construct(self, x: Any) -> Any:
        return self.pad(x) if self.mode == "CONSTANT" else self.pad(x, self.paddings)


class _Around(Cell):
    """Paddings that begin with the last axis."""

    #: axes padded
    _rank: ClassVar[int]

    def _pairs(self, padding: Any, most: int) -> tuple[int, ...]:
        """The paddings of each axis, from the last one on: one int for all ``_rank``, or a tuple of two for each of at
        most ``most`` axes (measured)."""
        if not isinstance(padding, (int, tuple)):
            raise SettingTypeError(f"{self.cls_name}: padding must be an int or a tuple of ints, got {padding!r}")
        given = (padding,) * (2 * self._rank) if isinstance(padding, int) else padding
        least = 2 if self._rank == 1 else 0
        if len(given) % 2 or not least <= len(given) <= 2 * most:
            accepted = f"an int, or two ints for each axis, at most {2 * most}"
            raise SettingError(f"{self.cls_name}: padding must be {accepted}, got {padding!r}")
        if not all(isinstance(n, int) for n in given):
            raise SettingTypeError(f"{self.cls_name}: padding must hold ints, got {padding!r}")
        return tuple(map(int, given))


class _Constant(_Around):
    def __init__(self, padding: Any, value: Any) -> None:
        super().__init__()
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise SettingTypeError(f"{self.cls_name}: value must be a number, got {value!r}")
        self.padding = self._pairs(padding, self._rank)
        self.value = value

    def construct(self, x: Any) -> Any:
        return ops.pad(x, self.padding, "constant", self.value)


class ConstantPad1d(_Constant):
    """A value around the last axis."""

    _rank = 1


class ConstantPad2d(_Constant):
    """A value around the last two axes."""

    _rank = 2


class ConstantPad3d(_Constant):
    """A value around the last three axes."""

    _rank = 3


class ZeroPad2d(_Constant):
    """Zeros around the last two axes."""

    _rank = 2

    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0)


class _Reflection(_Around):
    """The elements beside the border, around the last axes of a tensor with one or two axes before them."""

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = self._pairs(padding, 3)
        if not self.padding or min(self.padding) < 0:
            raise SettingError(f"{self.cls_name}: padding must not be below 0, got {padding!r}")
        self.mirror = ops.MirrorPad(mode="REFLECT")

    def construct(self, x: Any) -> Any:
        before = len(x.shape) - len(self.padding) // 2
        if before < 1:
            raise ShapeError(f"{self.cls_name}: {len(self.padding) // 2 + 1} axes are needed, got {x.shape}")
        pairs = [self.padding[i : i + 2] for i in range(0, len(self.padding), 2)][::-1]
        return self.mirror(x, Tensor(np.array([(0, 0)] * before + pairs, np.int64)))


class ReflectionPad1d(_Reflection):
    """Reflection around the last axis."""

    _rank = 1


class ReflectionPad2d(_Reflection):
    """Reflection around the last two axes."""

    _rank = 2


class ReflectionPad3d(_Reflection):
    """Reflection around the last three axes."""

    _rank = 3


class _Replication(_Around):
    """The border's elements, around the last axes."""

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = self._pairs(padding, 3)

    def construct(self, x: Any) -> Any:
        is_single = len(x.shape) == self._rank + 1
        needed = len(self.padding) // 2 + 2
        if len(x.shape) + is_single != needed:
            raise ShapeError(
                f"{self.cls_name}: {needed} axes are needed for {len(self.padding)} paddings, got {x.shape}"
            )
        padded = ops.PadV3("edge")(x.expand_dims(0) if is_single else x, self.padding, None)
        return padded.squeeze(0) if is_single else padded


class ReplicationPad1d(_Replication):
    """Replication around the last axis."""

    _rank = 1


class ReplicationPad2d(_Replication):
    """Replication around the last two axes."""

    _rank = 2


class ReplicationPad3d(_Replication):
    """Replication around the last three axes."""

    _rank = 3
