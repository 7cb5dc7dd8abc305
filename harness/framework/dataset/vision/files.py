"""Functions for files of pictures."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np

from harness.errors import SettingTypeError, StateError
from harness.framework.dataset.pictures import Array, pillow
from harness.framework.dataset.vision.utils import ImageReadMode, coloured, is_picture

#: the weights of 1/2**15 by which libpng makes red, green and blue grey
_PNG_GREY = np.array([9797, 19234, 3737])


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
            flat = mode is ImageReadMode.GRAYSCALE or (mode is ImageReadMode.UNCHANGED and opened.mode in ("1", "L"))
            if flat and opened.format == "PNG" and opened.mode not in ("1", "L"):
                array = ((np.asarray(opened.convert("RGB")).astype(np.int64) @ _PNG_GREY) >> 15).astype(np.uint8)
            else:
                array = np.array(opened.convert("L" if flat else "RGB"))
    except (OSError, ValueError, SyntaxError, image.DecompressionBombError) as error:
        raise StateError(f"read_image: {filename} cannot be decoded as a picture: {error}") from None
    return np.asarray(array if array.ndim == 3 else array[:, :, None])


def encode_jpeg(image: Any, quality: int = 75) -> Array:
    """The bytes of a JPEG file, uint8 (n,), of uint8 (height, width[, 1 or 3]); ``quality`` in [1, 100]."""
    return _encoded(image, "encode_jpeg", "JPEG", "quality", quality, 1, 100)


def encode_png(image: Any, compression_level: int = 6) -> Array:
    """The bytes of a PNG file, uint8 (n,), of uint8 (height, width[, 1 or 3]); ``compression_level`` in [0, 9].

    The picture in it is MindSpore's; how it is packed is Pillow's (docs/differences.md).
    """
    return _encoded(image, "encode_png", "PNG", "compress_level", compression_level, 0, 9)


def write_jpeg(filename: str, image: Any, quality: int = 75) -> None:
    """Writes what ``encode_jpeg`` gives."""
    _name(filename, "write_jpeg")
    write_file(filename, encode_jpeg(image, quality))


def write_png(filename: str, image: Any, compression_level: int = 6) -> None:
    """Writes what ``encode_png`` gives."""
    _name(filename, "write_png")
    write_file(filename, encode_png(image, compression_level))


def _encoded(image: Any, owner: str, kind: str, option: str, value: Any, low: int, high: int) -> Array:
    """A file of a kind as bytes; ``StateError`` for a wrong value or image."""
    if not isinstance(value, int):
        raise SettingTypeError(f"{owner}: {option} must be an int, got {value!r}")
    array = _array(image, owner)
    if not low <= value <= high:
        raise StateError(f"{owner}: {option} must be in [{low}, {high}], got {value}")
    coloured(array, owner, (1, 3), flat=True)
    if array.dtype != np.uint8:
        raise StateError(f"{owner}: an image of uint8 is needed, got {array.dtype}")
    file = io.BytesIO()
    flat = array[:, :, 0] if array.ndim == 3 and array.shape[2] == 1 else array
    pillow().fromarray(flat).save(file, kind, **{option: value})
    return np.frombuffer(file.getvalue(), np.uint8).copy()


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
