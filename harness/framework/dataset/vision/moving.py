"""Transforms that turn, shear or tilt an image."""

from __future__ import annotations

import math
import random as _random
from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.errors import SettingError, SettingTypeError, StateError
from harness.framework.dataset.checks import flag
from harness.framework.dataset.random import Mersenne32
from harness.framework.dataset.transforms.compound import probability
from harness.framework.dataset.vision.arguments import ascending, integer, positive, real, sequence
from harness.framework.dataset.vision.arithmetic import Array
from harness.framework.dataset.vision.base import DrawnImage, FixedImage, PictureImage
from harness.framework.dataset.vision.utils import Inter, filling, for_arrays, given_picture, image, pillow_filter
from harness.framework.dataset.vision.utils import interpolation as interpolation_of
from harness.framework.dataset.vision.warping import projected, rotation, seen, warped

_F32 = np.float32
_LARGEST = 2**31 - 1


def _center(center: Any, owner: str) -> tuple[float, float] | None:
    if center is None:
        return None
    if not isinstance(center, tuple) or len(center) != 2:
        raise SettingError(f"{owner}: center must be None or a tuple (x, y), got {center!r}")
    x, y = (real(each, "center", owner, -_LARGEST - 1, _LARGEST) for each in center)
    return x, y


def _whole_or_between(mode: Inter, owner: str) -> Inter:
    """``mode``; ``StateError`` for the two that do not turn arrays."""
    if mode in (Inter.ANTIALIAS, Inter.PILCUBIC):
        raise StateError(f"{owner}: Inter.{mode.name} is not there for arrays")
    return mode


def turned(array: Any, degrees: float, mode: Inter, expand: bool, center: tuple[float, float] | None,
           fill: Sequence[int], owner: str) -> Array:  # fmt: skip
    """``array`` turned counter-clockwise around ``center``; with ``expand`` as large as the turned one."""
    high, wide = image(array, owner).shape[:2]
    x, y = (float(_F32(each)) for each in (center or ((wide - 1) / 2, (high - 1) / 2)))
    degrees = float(_F32(degrees))
    matrix, size = rotation((x, y), degrees), (high, wide)
    if expand:
        broad, tall = _bounds(_F32(x), _F32(y), _F32(wide), _F32(high), degrees)
        matrix[:, 2] += broad / 2 - wide / 2, tall / 2 - high / 2
        size = (int(np.rint(tall)), int(np.rint(broad)))
    return warped(array, matrix, size, mode, fill[::-1], owner)


def _bounds(x: Any, y: Any, wide: Any, high: Any, degrees: float) -> tuple[float, float]:
    """(width, height) around an image that is turned around (x, y), in float32."""
    angle = degrees * math.pi / 180
    up, along = _F32(math.sin(angle)) * _F32(0.5), _F32(math.cos(angle)) * _F32(0.5)
    first = (x - up * high - along * wide, y + along * high - up * wide)
    second = (x + up * high - along * wide, y - along * high - up * wide)
    third, fourth = ((2 * x - each[0], 2 * y - each[1]) for each in (first, second))
    across, down = zip(first, second, third, fourth, strict=True)
    return float(_F32(max(across) - min(across))), float(_F32(max(down) - min(down)))


def sheared(array: Any, degrees: float, move: tuple[Any, Any], scale: float, shear: tuple[float, float], mode: Inter,
            fill: Sequence[int], owner: str) -> Array:  # fmt: skip
    """``array`` turned clockwise, moved by pixels (x, y), scaled, and sheared by angles; all in float32."""
    high, wide = image(array, owner).shape[:2]

    def radians(value: Any) -> Any:
        return _F32(math.pi * float(_F32(value)) / 180.0)

    def of(function: Any, value: Any) -> Any:
        return _F32(function(float(value)))

    turn, across, down = radians(degrees), radians(shear[0]), radians(-_F32(shear[1]))
    size, lean = _F32(scale), of(math.cos, down)
    side, rise = of(math.cos, turn + down), of(math.sin, turn + down)
    a = size * side / lean
    b = size * (-side * of(math.tan, across) / lean - of(math.sin, turn))
    d = size * rise / lean
    e = size * (-rise * of(math.tan, across) / lean + of(math.cos, turn))
    x, y = _F32((wide - 1) / 2.0), _F32((high - 1) / 2.0)
    c = (1 - a) * x - b * y + _F32(move[0])
    f = (1 - e) * y - d * x + _F32(move[1])
    return warped(array, np.array([[a, b, c], [d, e, f]], _F32), (high, wide), mode, fill, owner)


class Rotate(FixedImage):
    """Turned by ``degrees`` counter-clockwise."""

    def __init__(self, degrees: float, resample: Inter = Inter.NEAREST, expand: bool = False, center: Any = None,
                 fill_value: Any = 0) -> None:  # fmt: skip
        self.degrees = real(degrees, "degrees", self.name) % 360
        self.resample = interpolation_of(resample, self.name)
        self.expand = flag(expand, "expand", self.name)
        self.several = not self.expand
        self.center = _center(center, self.name)
        self.fill_value = filling(fill_value, self.name)

    def compute(self, array: Any) -> Any:
        mode = _whole_or_between(self.resample, self.name)
        return turned(array, self.degrees, mode, self.expand, self.center, self.fill_value, self.name)


class Affine(FixedImage):
    """Turned by ``degrees`` clockwise, moved by ``translate`` (shares of width and height), scaled, and sheared."""

    def __init__(self, degrees: float, translate: Any, scale: float, shear: Any, resample: Inter = Inter.NEAREST,
                 fill_value: Any = 0) -> None:  # fmt: skip
        self.degrees = real(degrees, "degrees", self.name, -180, 180)
        x, y = (real(each, "translate", self.name, -1, 1) for each in sequence(translate, "translate", self.name, (2,)))
        self.translate = (x, y)
        self.scale_ = positive(scale, "scale", self.name, float("inf"))
        pair = sequence(shear, "shear", self.name, (2,)) if isinstance(shear, (list, tuple)) else (shear, 0.0)
        across, down = (real(each, "shear", self.name, -180, 180, flags=isinstance(shear, bool)) for each in pair)
        self.shear = (across, down)
        self.resample = interpolation_of(resample, self.name)
        self.fill_value = filling(fill_value, self.name)

    def compute(self, array: Any) -> Any:
        mode = _whole_or_between(self.resample, self.name)
        high, wide = image(array, self.name).shape[:2]
        move = (_F32(self.translate[0]) * _F32(wide), _F32(self.translate[1]) * _F32(high))
        return sheared(array, self.degrees, move, self.scale_, self.shear, mode, self.fill_value, self.name)


def _four_points(points: Any, name: str, owner: str) -> list[tuple[int, int]]:
    made = []
    for each in sequence(points, name, owner, (4,)):
        x, y = (integer(at, name, owner, -_LARGEST - 1, _LARGEST) for at in sequence(each, name, owner, (2,)))
        made.append((x, y))
    return made


def tilted(picture: Any, start: Sequence[Any], end: Sequence[Any], mode: Inter) -> Any:
    """A picture whose points ``start`` are seen at ``end``."""
    from PIL import Image

    rows: list[list[float]] = []
    for (x, y), (u, v) in zip(end, start, strict=True):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
    right = np.array(start, np.float64).reshape(8)
    factors = np.linalg.lstsq(np.array(rows, np.float64), right, rcond=None)[0]
    return picture.transform(picture.size, Image.Transform.PERSPECTIVE, factors.tolist(), pillow_filter(mode))


class Perspective(FixedImage):
    """Seen so that ``start_points`` (four of (x, y)) come to lie at ``end_points``."""

    def __init__(self, start_points: Any, end_points: Any, interpolation: Inter = Inter.BILINEAR) -> None:
        self.start_points = _four_points(start_points, "start_points", self.name)
        self.end_points = _four_points(end_points, "end_points", self.name)
        self.interpolation = interpolation_of(interpolation, self.name)

    def compute(self, array: Any) -> Any:
        mode = for_arrays(self.interpolation, self.name)
        return projected(image(array, self.name), seen(self.start_points, self.end_points), mode, self.name)

    def picture(self, image: Any) -> Any:
        return tilted(image, self.start_points, self.end_points, self.interpolation)


def _span(degrees: Any, owner: str) -> tuple[float, float]:
    """(least, most) of ``degrees``, a number or two."""
    if isinstance(degrees, (list, tuple)):
        least, most = (real(each, "degrees", owner) for each in sequence(degrees, "degrees", owner, (2,)))
        if least > most:
            raise SettingError(f"{owner}: degrees must be (low, high), got {degrees!r}")
        return least, most
    value = real(degrees, "degrees", owner, 0)
    return -value, value


class RandomRotation(DrawnImage):
    """Turned by an angle drawn from (-``degrees``, ``degrees``), or from two given ones."""

    def __init__(self, degrees: Any, resample: Inter = Inter.NEAREST, expand: bool = False, center: Any = None,
                 fill_value: Any = 0) -> None:  # fmt: skip
        least, most = _span(degrees, self.name)
        if not isinstance(degrees, (list, tuple)):
            least, most = -(degrees % 360), degrees % 360
        elif most - least >= 360:
            least, most = -180, 180
        else:
            least, most = least % 360, most % 360
            most += 360 if least > most else 0
        self.degrees = (least, most)
        self.resample = interpolation_of(resample, self.name)
        self.expand = flag(expand, "expand", self.name)
        self.center = _center(center, self.name)
        self.fill_value = filling(fill_value, self.name)

    def draw(self, random: Mersenne32, array: Any) -> Any:
        mode = _whole_or_between(for_arrays(self.resample, self.name), self.name)
        least, most = (_F32(each) for each in self.degrees)
        share = _F32(random.real32()) * _F32(2) + _F32(-1)
        degrees = (most + least) / _F32(2) + share * ((most - least) / _F32(2))
        return turned(array, float(degrees), mode, self.expand, self.center, self.fill_value, self.name)

    def picture(self, image: Any) -> Any:
        degrees = _random.uniform(*self.degrees) % 360.0
        filter_ = pillow_filter(self.resample)
        if self.resample is Inter.ANTIALIAS and (degrees not in (0, 90, 180, 270) or self.center):
            raise SettingError("RandomRotation: Inter.ANTIALIAS turns by whole quarters around the middle only")
        return image.rotate(degrees, filter_, self.expand, self.center, fillcolor=self.fill_value)


class RandomAffine(DrawnImage):
    """Turned, moved, scaled and sheared by drawn numbers, each from its (low, high)."""

    def __init__(self, degrees: Any, translate: Any = None, scale: Any = None, shear: Any = None,
                 resample: Inter = Inter.NEAREST, fill_value: Any = 0) -> None:  # fmt: skip
        self.degrees = _span(degrees, self.name)
        given = (0.0,) * 4 if translate is None else sequence(translate, "translate", self.name, (2, 4))
        self.translate = [real(each, "translate", self.name, -1, 1) for each in given]
        self.scale = (1.0, 1.0) if scale is None else ascending(scale, "scale", self.name)
        if self.scale[1] <= 0:
            raise SettingError(f"RandomAffine: scale must be above 0, got {scale!r}")
        self.shear = self._shear(shear)
        self.resample = interpolation_of(resample, self.name)
        self.fill_value = filling(fill_value, self.name)

    def _shear(self, shear: Any) -> list[float]:
        if shear is None:
            return [0.0] * 4
        if not isinstance(shear, (list, tuple)):
            value = positive(shear, "shear", self.name, float("inf"), flags=True)
            return [-value, value, 0.0, 0.0]
        made = [*(real(each, "shear", self.name) for each in sequence(shear, "shear", self.name, (2, 4))), 0.0, 0.0]
        if made[0] > made[1] or made[2] > made[3]:
            raise SettingError(f"RandomAffine: shear must be (low, high), or two of them, got {shear!r}")
        return made[:4]

    def draw(self, random: Mersenne32, array: Any) -> Any:
        mode = _whole_or_between(for_arrays(self.resample, self.name), self.name)
        high, wide = image(array, self.name).shape[:2]
        if len(self.translate) != 4:
            raise StateError("RandomAffine: translate must be four numbers for arrays, (low, high) of x and of y")
        ranges: list[Sequence[Any]] = [
            self.degrees,
            (_F32(self.translate[0]) * _F32(wide), _F32(self.translate[1]) * _F32(wide)),
            (_F32(self.translate[2]) * _F32(high), _F32(self.translate[3]) * _F32(high)),
            self.scale, self.shear[:2], self.shear[2:],
        ]  # fmt: skip
        drawn = [float(_F32(random.real32()) * (_F32(most) - _F32(least)) + _F32(least)) for least, most in ranges]
        degrees, x, y, scale, across, down = drawn
        degrees = math.fmod(degrees, 360.0)
        return sheared(array, degrees, (x, y), scale, (across, down), mode, self.fill_value, self.name)

    def picture(self, image: Any) -> Any:
        from PIL import Image

        filter_ = pillow_filter(self.resample)
        wide, high = image.size
        angle = math.radians(_random.uniform(*self.degrees))
        across, down = self.translate[0] * wide, self.translate[1] * high
        x = np.round(_random.uniform(-across, across))
        y = np.round(_random.uniform(-down, down))
        scale = 1.0 / _random.uniform(*self.scale)
        first = math.radians(_random.uniform(*self.shear[:2]))
        second = math.radians(_random.uniform(*self.shear[2:]))
        center = (wide * 0.5 + 0.5, high * 0.5 + 0.5)
        span = math.cos(angle + first) * math.cos(angle + second) + math.sin(angle + first) * math.sin(angle + second)
        matrix = [math.cos(angle + first), math.sin(angle + first), 0,
                  -math.sin(angle + second), math.cos(angle + second), 0]  # fmt: skip
        matrix = [scale / span * each for each in matrix]
        for at, middle in ((0, center[0]), (3, center[1])):
            matrix[at + 2] += matrix[at] * (-center[0] - x) + matrix[at + 1] * (-center[1] - y)
            matrix[at + 2] += middle
        # ``fill_value`` is not used, as in MindSpore, which takes Pillow 13 to be older than Pillow 5.
        return image.transform(image.size, Image.Transform.AFFINE, matrix, filter_)


class RandomPerspective(PictureImage):
    """With probability ``prob`` tilted: each corner moves by up to half of ``distortion_scale`` of the size."""

    def __init__(self, distortion_scale: float = 0.5, prob: float = 0.5, interpolation: Inter = Inter.BICUBIC) -> None:
        for name, value in (("distortion_scale", distortion_scale), ("prob", prob)):
            if not isinstance(value, float):
                raise SettingTypeError(f"RandomPerspective: {name} must be a float, got {value!r}")
        self.distortion_scale = probability(distortion_scale, "distortion_scale", self.name)
        self.prob = probability(prob, "prob", self.name)
        self.interpolation = interpolation_of(interpolation, self.name)

    def compute(self, array: Any) -> Any:
        try:
            picture = given_picture(array, self.name)
        except SettingTypeError as error:
            raise SettingError(str(error)) from None
        if self.prob <= _random.random():
            return picture
        wide, high = picture.size
        across, down = int(wide / 2 * self.distortion_scale), int(high / 2 * self.distortion_scale)
        left, right = (0, across), (wide - across - 1, wide - 1)
        top, bottom = (0, down), (high - down - 1, high - 1)
        corners = ((left, top), (right, top), (right, bottom), (left, bottom))
        end = [(_random.randint(*x), _random.randint(*y)) for x, y in corners]
        start = [(0, 0), (wide - 1, 0), (wide - 1, high - 1), (0, high - 1)]
        return tilted(picture, start, end, self.interpolation)
