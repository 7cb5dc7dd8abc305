"""Transforms of an image's colours, without chance."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.errors import SettingError, SettingTypeError, StateError, UnsupportedError
from harness.framework.dataset.vision import arithmetic
from harness.framework.dataset.vision.arguments import LARGEST_REAL, integer, real, sequence
from harness.framework.dataset.vision.arithmetic import Array, mixed, scaled
from harness.framework.dataset.vision.base import FixedImage
from harness.framework.dataset.vision.smoothing import blurred, sharpened, usual_sigma
from harness.framework.dataset.vision.utils import ConvertMode, coloured, image

_F32 = np.float32


def brightened(array: Any, factor: float, owner: str) -> Array:
    """All values times ``factor``."""
    return scaled(coloured(array, owner, (1, 3), flat=True), float(_F32(factor)))


def contrasted(array: Any, factor: float, owner: str) -> Array:
    """``array`` times ``factor``, and the rest of its mean grey."""
    alpha = float(_F32(factor))
    shade = arithmetic.grey(_mixable(array, owner)).astype(np.float64).mean()
    grey = np.full(array.shape, shade if array.dtype == np.float32 else int(shade + 0.5), array.dtype)
    return mixed(grey, 1.0 - alpha, array, alpha)


def saturated(array: Any, factor: float, owner: str) -> Array:
    """``array`` times ``factor``, and the rest of its grey."""
    alpha = float(_F32(factor))
    grey = np.repeat(arithmetic.grey(_mixable(array, owner))[..., None], 3, 2)
    return mixed(grey, 1.0 - alpha, array, alpha)


def _mixable(array: Any, owner: str) -> Array:
    coloured(array, owner)
    if array.dtype not in (np.uint8, np.uint16, np.float32):
        raise StateError(f"{owner}: an image of uint8, uint16 or float32 is needed, got {array.dtype}")
    return np.asarray(array)


def turned(array: Any, factor: float, owner: str) -> Array:
    """The hue turned by the share ``factor`` of a whole turn."""
    coloured(array, owner)
    if array.dtype == np.float32:
        raise UnsupportedError(f"{owner}: the hue of float32 images is not supported; MindSpore changes single bytes "
                               "of theirs")  # fmt: skip
    if array.dtype != np.uint8:
        raise StateError(f"{owner}: an image of uint8 is needed, got {array.dtype}")
    made = arithmetic.hsv(array)
    made[..., 0] += np.uint8(int(_F32(factor) * _F32(255)) & 255)
    return arithmetic.red_green_blue(made)


def blended(array: Any, factor: float, owner: str) -> Array:
    """Sharpened by ``factor`` (below 1: blurred)."""
    image(array, owner)
    if array.dtype in (np.int32, np.int64, np.uint32, np.uint64, np.int8, np.float16, np.bool_):
        raise StateError(f"{owner}: an image of {array.dtype} cannot be sharpened")
    return sharpened(array, float(_F32(factor)))


def enhanced(picture: Any, kind: str, factor: float) -> Any:
    """A picture changed by one of Pillow's enhancers."""
    from PIL import ImageEnhance

    return getattr(ImageEnhance, kind)(picture).enhance(factor)


class AdjustBrightness(FixedImage):
    """All values times ``brightness_factor``."""

    def __init__(self, brightness_factor: float) -> None:
        self.brightness_factor = real(brightness_factor, "brightness_factor", self.name, 0)

    def compute(self, array: Any) -> Any:
        return brightened(array, self.brightness_factor, self.name)

    def picture(self, image: Any) -> Any:
        return enhanced(image, "Brightness", self.brightness_factor)


class AdjustContrast(FixedImage):
    """An image and its mean grey mixed: ``contrast_factor`` of the image."""

    def __init__(self, contrast_factor: float) -> None:
        self.contrast_factor = real(contrast_factor, "contrast_factor", self.name, 0)

    def compute(self, array: Any) -> Any:
        return contrasted(array, self.contrast_factor, self.name)

    def picture(self, image: Any) -> Any:
        return enhanced(image, "Contrast", self.contrast_factor)


class AdjustSaturation(FixedImage):
    """An image and its grey mixed: ``saturation_factor`` of the image."""

    def __init__(self, saturation_factor: float) -> None:
        self.saturation_factor = real(saturation_factor, "saturation_factor", self.name, 0)

    def compute(self, array: Any) -> Any:
        return saturated(array, self.saturation_factor, self.name)

    def picture(self, image: Any) -> Any:
        return enhanced(image, "Color", self.saturation_factor)


class AdjustSharpness(FixedImage):
    """An image and its blurred twin mixed: ``sharpness_factor`` of the image."""

    def __init__(self, sharpness_factor: float) -> None:
        self.sharpness_factor = real(sharpness_factor, "sharpness_factor", self.name, 0)

    def compute(self, array: Any) -> Any:
        return blended(array, self.sharpness_factor, self.name)


class AdjustHue(FixedImage):
    """The hue turned by ``hue_factor``, in [-0.5, 0.5], of a whole turn."""

    def __init__(self, hue_factor: float) -> None:
        self.hue_factor = real(hue_factor, "hue_factor", self.name, -0.5, 0.5)

    def compute(self, array: Any) -> Any:
        return turned(array, self.hue_factor, self.name)

    def picture(self, image: Any) -> Any:
        return hue_of_picture(image, self.hue_factor)


def hue_of_picture(picture: Any, factor: float) -> Any:
    """A picture with its hue turned; as it is where it has none."""
    from PIL import Image

    if picture.mode in ("L", "1", "I", "F"):
        return picture
    hue, saturation, value = picture.convert("HSV").split()
    moved = Image.fromarray(np.asarray(hue) + np.uint8(int(factor * 255) & 255))
    return Image.merge("HSV", (moved, saturation, value)).convert(picture.mode)


class AdjustGamma(FixedImage):
    """``gain * 255 * (x / 255) ** gamma`` of uint8; of floats ``(x * gain) ** gamma``, within [0, 1]."""

    several = True

    def __init__(self, gamma: float, gain: float = 1) -> None:
        self.gamma = real(gamma, "gamma", self.name, 0)
        if gain is None:
            raise SettingTypeError("AdjustGamma: gain must be a number, got None")
        self.gain = real(gain, "gain", self.name)

    def compute(self, array: Any) -> Any:
        coloured(array, self.name, (1, 3), flat=True)
        gamma, gain = _F32(self.gamma), _F32(self.gain)
        if array.dtype.kind == "f":
            with np.errstate(invalid="ignore"):
                made = np.power((array.astype(_F32) * gain).astype(np.float64), np.float64(gamma)).astype(_F32)
            return np.minimum(np.maximum(made, _F32(0)), _F32(1))
        if array.dtype != np.uint8:
            raise UnsupportedError(f"AdjustGamma: an image of {array.dtype} is not supported; use uint8 or float32")
        share = (np.arange(256) / 255.0).astype(_F32)
        curve = np.power(share.astype(np.float64), np.float64(gamma)).astype(_F32).astype(np.float64)
        table = np.floor(np.minimum(curve * (255.0 + 1 - 1e-3) * np.float64(gain), 255.0))
        return (table.astype(np.int64) & 255).astype(np.uint8)[array]

    def picture(self, image: Any) -> Any:
        bands = len(image.getbands())
        if bands not in (1, 3):
            return image
        table = [int((255 + 1 - 0.001) * self.gain * pow(at / 255.0, self.gamma)) for at in range(256)]
        return image.point(table * bands)


class AutoContrast(FixedImage):
    """The values of each channel stretched to [0, 255], without the ``cutoff`` percent at both ends, and ``ignore``."""

    def __init__(self, cutoff: float = 0.0, ignore: Any = None) -> None:
        self.cutoff, self.ignore = cutting(cutoff, ignore, self.name)

    def compute(self, array: Any) -> Any:
        return stretched(array, self.cutoff, self.ignore, self.name)

    def picture(self, image: Any) -> Any:
        from PIL import ImageOps

        return ImageOps.autocontrast(image, self.cutoff, self.ignore)


def cutting(cutoff: Any, ignore: Any, owner: str) -> tuple[float, list[int]]:
    """Checked ``cutoff`` and ``ignore`` of ``AutoContrast``."""
    share = real(cutoff, "cutoff", owner, 0)
    if share >= 50:
        raise SettingError(f"{owner}: cutoff must be in [0, 50), got {cutoff}")
    given = [] if ignore is None else [ignore] if isinstance(ignore, int) else ignore
    if not isinstance(given, (list, tuple)):
        raise SettingTypeError(f"{owner}: ignore must be an int or several, got {ignore!r}")
    return share, [integer(each, "ignore", owner, 0, 255) for each in given]


def stretched(array: Any, cutoff: float, ignore: list[int], owner: str) -> Array:
    """See ``AutoContrast``."""
    planes = _planes(array, owner)
    made = np.empty_like(planes)
    for at in range(planes.shape[2]):
        counts = np.bincount(planes[..., at].reshape(-1), minlength=256)
        counts[ignore] = 0
        low, high = _bounds(counts, int(_F32(cutoff)))
        table = np.arange(256)
        if high > low:
            scale = _F32(255.0 / (high - low))
            offset = _F32(-low) * scale
            table = np.clip(np.trunc(table.astype(_F32) * scale + offset), 0, 255).astype(np.int64)
        made[..., at] = table[planes[..., at]]
    return made.reshape(array.shape)


def _planes(array: Any, owner: str) -> Array:
    """``array`` with an axis of channels."""
    coloured(array, owner, (1, 3), flat=True)
    if array.dtype != np.uint8:
        raise StateError(f"{owner}: an image of uint8 is needed, got {array.dtype}")
    return np.asarray(array.reshape(*array.shape[:2], -1))


def _bounds(counts: Array, percent: int) -> tuple[int, int]:
    """The smallest and the largest value that are left when ``percent`` of all are taken off at each end."""
    cut = int(_F32(percent) / _F32(100) * _F32(counts.sum()))
    for order in (range(256), range(255, -1, -1)):
        left = cut
        for at in order:
            taken = min(left, int(counts[at]))
            counts[at] -= taken
            left -= taken
    there = np.flatnonzero(counts)
    return (int(there[0]), int(there[-1])) if there.size else (255, -1)


class Equalize(FixedImage):
    """The values of each channel spread so that all are as frequent."""

    def compute(self, array: Any) -> Any:
        return equalized(array, self.name)

    def picture(self, image: Any) -> Any:
        from PIL import ImageOps

        return ImageOps.equalize(image)


def equalized(array: Any, owner: str) -> Array:
    """See ``Equalize``."""
    planes = _planes(array, owner)
    made = np.empty_like(planes)
    for at in range(planes.shape[2]):
        plane = planes[..., at]
        counts = np.bincount(plane.reshape(-1), minlength=256)
        first = int(np.flatnonzero(counts)[0])
        if counts[first] == plane.size:
            made[..., at] = first
            continue
        scale = _F32(255) / _F32(plane.size - counts[first])
        counts[: first + 1] = 0
        table = np.rint(np.cumsum(counts).astype(_F32) * scale)
        made[..., at] = np.clip(table, 0, 255).astype(np.uint8)[plane]
    return made.reshape(array.shape)


class Solarize(FixedImage):
    """``255 - x`` of the values in ``threshold`` (low, high), or, if it is one number, of those from it on."""

    def __init__(self, threshold: Any) -> None:
        given = (threshold, threshold) if isinstance(threshold, (int, float)) else threshold
        low, high = (
            real(each, "threshold", self.name, 0, 255) for each in sequence(given, "threshold", self.name, (2,))
        )
        if high < low:
            raise SettingError(f"Solarize: threshold must be (low, high), got {threshold!r}")
        self.threshold = (low, high)

    def compute(self, array: Any) -> Any:
        return solarized(array, *self.threshold, self.name)


def solarized(array: Any, low: float, high: float, owner: str) -> Array:
    """See ``Solarize``."""
    coloured(array, owner, (1, 3), flat=True)
    chosen = array >= low
    if high != low:
        chosen &= array <= high
    return np.asarray(np.where(chosen, arithmetic.saturated(255.0 - array.astype(np.float64), array.dtype), array))


class Posterize(FixedImage):
    """The highest ``bits`` bits of each value."""

    def __init__(self, bits: int) -> None:
        self.bits = integer(bits, "bits", self.name, 0, 8)

    def compute(self, array: Any) -> Any:
        return posterized(array, self.bits, self.name)


def posterized(array: Any, bits: int, owner: str) -> Array:
    """See ``Posterize``."""
    image(array, owner)
    if array.dtype not in (np.uint8, np.int8):
        raise StateError(f"{owner}: an image of uint8 or int8 is needed, got {array.dtype}")
    return np.asarray(array & np.uint8(256 - (1 << (8 - bits)) & 255))


_M = ConvertMode
#: the channels of a conversion's result, of those given; 3: the fourth, or as large as can be
_PLACES = {
    _M.COLOR_BGR2BGRA: (0, 1, 2, 3), _M.COLOR_BGRA2BGR: (0, 1, 2), _M.COLOR_BGR2RGBA: (2, 1, 0, 3),
    _M.COLOR_RGBA2BGR: (2, 1, 0), _M.COLOR_BGR2RGB: (2, 1, 0), _M.COLOR_BGRA2RGBA: (2, 1, 0, 3),
    _M.COLOR_GRAY2BGR: (0, 1, 2), _M.COLOR_GRAY2BGRA: (0, 1, 2, 3),
}  # fmt: skip
_BLUE_FIRST = (_M.COLOR_BGR2GRAY, _M.COLOR_BGRA2GRAY)


class ConvertColor(FixedImage):
    """Channels in another order, with or without the fourth, or grey."""

    def __init__(self, convert_mode: ConvertMode) -> None:
        if not isinstance(convert_mode, ConvertMode):
            raise SettingTypeError(f"ConvertColor: convert_mode must be a ConvertMode, got {convert_mode!r}")
        self.convert_mode = convert_mode

    def compute(self, array: Any) -> Any:
        grey_given = self.convert_mode in (_M.COLOR_GRAY2BGR, _M.COLOR_GRAY2BGRA)
        grey_made = self.convert_mode not in _PLACES
        channels = (1,) if grey_given else (3, 4) if grey_made else (1, 3, 4)
        coloured(array, self.name, channels, flat=not grey_made)
        if array.dtype not in (np.uint8, np.uint16, np.float32):
            raise StateError(f"ConvertColor: an image of uint8, uint16 or float32 is needed, got {array.dtype}")
        if grey_made:
            return arithmetic.grey(array, blue_first=self.convert_mode in _BLUE_FIRST)
        array = array if array.ndim == 3 else array[..., None]
        if array.shape[2] == 1:
            array = np.repeat(array, 3, 2)
        if array.shape[2] == 3:
            full = np.iinfo(array.dtype).max if array.dtype.kind == "u" else 1
            array = np.concatenate([array, np.full((*array.shape[:2], 1), full, array.dtype)], 2)
        return np.ascontiguousarray(array[..., list(_PLACES[self.convert_mode])])


class GaussianBlur(FixedImage):
    """A Gaussian of ``kernel_size`` (odd) and ``sigma``, each a number or (across, down)."""

    def __init__(self, kernel_size: Any, sigma: Any = None) -> None:
        sizes = kernel_size if isinstance(kernel_size, (list, tuple)) else (kernel_size,) * 2
        across, down = (integer(each, "kernel_size", self.name, 1, LARGEST_REAL)
                        for each in sequence(sizes, "kernel_size", self.name, (2,)))  # fmt: skip
        if across % 2 == 0 or down % 2 == 0:
            raise SettingError(f"GaussianBlur: kernel_size must be odd, got {kernel_size!r}")
        self.kernel_size = (across, down)
        given = (0,) if sigma is None else sigma if isinstance(sigma, (list, tuple)) else (sigma,)
        if isinstance(sigma, (list, tuple)):
            sequence(sigma, "sigma", self.name, (2,))
        self.sigma = [real(each, "sigma", self.name, 0, flags=True) for each in given]

    def compute(self, array: Any) -> Any:
        image(array, self.name)
        if array.dtype not in (np.uint8, np.uint16, np.int16, np.float32, np.float64) and self.kernel_size != (1, 1):
            raise StateError(f"GaussianBlur: an image of {array.dtype} cannot be blurred")
        widths = [
            float(_F32(each)) or usual_sigma(size) for each, size in zip(self.sigma, self.kernel_size, strict=False)
        ]
        return blurred(array, self.kernel_size, (widths[0], widths[-1]))
