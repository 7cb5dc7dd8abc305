"""RGBToHSV and HSVToRGB: colours (..., 3) by hue, saturation and value."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Call, Operator, operator
from harness.framework.ops.elementwise import check_kind
from harness.graph import Spec


class _Colours(Operator):
    functional = False
    tensors = (0,)
    #: how many axes there may be
    ranks: ClassVar[range]

    def infer(self, call: Call) -> Spec:
        check_kind(call, "f", 0)
        if len(call.shape(0)) not in self.ranks or call.shape(0)[-1] != 3:
            raise call.fail(f"{self.ranks[0]} or more axes, the last of 3 elements, are needed")
        return call.tensor(0).tensor


@operator
class RGBToHSV(_Colours):
    """Hue, saturation and value of red, green and blue; of Float16 the saturation is not divided by the value, as
    MindSpore's CPU has it."""

    name = "RGBToHSV"
    ranks = range(1, 9)

    def kernel(self, call: Call, x: Array) -> Array:
        red, green, blue = np.moveaxis(numerics.wide(x), -1, 0)
        most = np.maximum(np.maximum(red, green), blue)
        span = most - np.minimum(np.minimum(red, green), blue)
        part = 1 / (6 * np.where(span > 0, span, 1))
        hue = np.where(red == most, (green - blue) * part, (red - green) * part + 4 / 6)
        hue = np.where((green == most) & (red != most), (blue - red) * part + 2 / 6, hue)
        hue = np.where(span > 0, np.where(hue < 0, hue + 1, hue), 0)
        if call.dtype(0).numpy == np.float16:
            return np.stack([hue, span, most], -1)
        return np.stack([hue, np.where(most > 0, span / np.where(most > 0, most, 1), 0), most], -1)


@operator
class HSVToRGB(_Colours):
    """Red, green and blue of hue, saturation and value; a hue beyond 1 does not wrap around."""

    name = "HSVToRGB"
    ranks = range(4, 5)

    def kernel(self, call: Call, x: Array) -> Array:
        hue, saturation, value = np.moveaxis(numerics.wide(x), -1, 0)
        turn = 6 * hue
        shares = (np.abs(turn - 3) - 1, 2 - np.abs(turn - 2), 2 - np.abs(turn - 4))
        return np.stack([value * (1 - saturation + saturation * np.clip(share, 0, 1)) for share in shares], -1)
