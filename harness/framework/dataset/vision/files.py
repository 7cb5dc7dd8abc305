"""Functions for files of pictures."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np

from harness.errors import SettingTypeError, StateError
from harness.framework.dataset.pictures import Array, pillow
from harness.framework.dataset.vision.utils import ImageReadMode, is_picture


def _name(filename: Any, owner: str) -> Path:
    if not isinstance(filename, str):
        raise SettingTypeError(f"{owner}: filename must be a str, got {type(filename).__name__}")
    return Path(filename)


def _read(filename: Any, owner: str) -> bytes:
    path = _name(filename, owner)
    try:
        return path.read_bytes()
    except OSError as error:
        raise StateError(f"{owner}: {filename} cannot be read: {error.strerror}") from None


def read_file(filename: str) -> Array:
    """The bytes of a file, uint8 (n,); ``StateError`` if it cannot be read."""
    return np.frombuffer(_read(filename, "read_file"), np.uint8).copy()


def write_file(filename: str, data: Any) -> None:
    """Writes uint8 of one dimension; ``StateError`` for anything else, or where there is no place for it."""
    path = _name(filename, "write_file")
    array = _array(data, "write_file")
    if array.dtype != np.uint8 or array.ndim != 1:
        raise StateError(f"write_file: uint8 of one dimension is needed, got {array.dtype} {array.shape}")
    try:
        path.write_bytes(array.tobytes())
    except OSError as error:
        raise StateError(f"write_file: {filename} cannot be written: {error.strerror}") from None


def _array(value: Any, owner: str) -> Array:
    array = value.asnumpy() if hasattr(value, "asnumpy") else value
    if not isinstance(array, np.ndarray):
        raise SettingTypeError(f"{owner}: an array or a Tensor is needed, got {type(value).__name__}")
    return array


def read_image(filename: str, mode: ImageReadMode = ImageReadMode.UNCHANGED) -> Array:
    """The picture in a file, uint8 (height, width, channels): as it is, of one channel, or of three.

    Raises:
        StateError: it cannot be read, or is no picture.
    """
    path = _name(filename, "read_image")
    if not isinstance(mode, ImageReadMode):
        raise SettingTypeError(f"read_image: mode must be an ImageReadMode, got {mode!r}")
    data, image = _read(str(path), "read_image"), pillow()
    try:
        with image.open(io.BytesIO(data)) as opened:
            if mode is not ImageReadMode.UNCHANGED:
                opened = opened.convert("L" if mode is ImageReadMode.GRAYSCALE else "RGB")
            elif opened.mode not in ("L", "RGB", "RGBA"):
                opened = opened.convert("RGBA" if "transparency" in opened.info else "RGB")
            array = np.asarray(opened)
    except (OSError, ValueError, SyntaxError, image.DecompressionBombError) as error:
        raise StateError(f"read_image: {filename} cannot be decoded as a picture: {error}") from None
    return array if array.ndim == 3 else array[:, :, None]


def get_image_size(image: Any) -> list[int]:
    """[height, width] of an array (height, width[, channels]) or of a picture."""
    if is_picture(image):
        return [image.size[1], image.size[0]]
    shape = _shape(image, "get_image_size")
    return list(shape if len(shape) == 2 else shape[-3:-1])


def get_image_num_channels(image: Any) -> int:
    """The number of channels of an array (height, width[, channels]) or of a picture."""
    if is_picture(image):
        return len(image.getbands())
    shape = _shape(image, "get_image_num_channels")
    return shape[-1] if len(shape) > 2 else 1


def _shape(image: Any, owner: str) -> tuple[int, ...]:
    if not isinstance(image, np.ndarray):
        raise SettingTypeError(f"{owner}: an array or a PIL image is needed, got {type(image).__name__}")
    if image.ndim < 2:
        raise StateError(f"{owner}: an image (height, width[, channels]) is needed, got shape {image.shape}")
    return tuple(map(int, image.shape))
