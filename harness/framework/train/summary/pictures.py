"""Pictures of summary files: a tensor of pictures drawn on one sheet, as PNG."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from harness.errors import UnsupportedError
from harness.suggest import install

Array = np.ndarray[Any, np.dtype[Any]]
#: pictures in a row
IN_A_ROW = 8


def sheet(pictures: Array) -> Array:
    """Pictures (n, 1 or 3, height, width) on one sheet (rows * height, columns * width, 3), uint8: bytes as they are, 0
    to 1 as shares of 255, any other range stretched over 0 to 255."""
    count, _channels, height, width = pictures.shape
    columns = min(count, IN_A_ROW)
    canvas = np.zeros((3, height * -(-count // columns), width * columns))
    for at, picture in enumerate(pictures):
        row, column = divmod(at, columns)
        canvas[:, row * height : (row + 1) * height, column * width : (column + 1) * width] = picture
    low, high = canvas.min(), canvas.max()
    scale, shift = 1.0, 0.0
    if high <= 1 and low >= 0:
        scale = 255.0
    else:
        shift = low
        scale = 255 / (high - low + 1) if high != low else 1.0
    scaled: Array = ((canvas.transpose(1, 2, 0).astype(np.float32) - shift) * scale).astype(np.uint8)
    return scaled


def png(pixels: Array) -> bytes:
    """Pixels (height, width, 3) as a PNG file; ``UnsupportedError`` without Pillow."""
    try:
        from PIL import Image
    except ImportError:
        raise UnsupportedError(f"pictures of a summary need Pillow: {install('pytest-msdump[data]')}") from None
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, format="PNG")
    return out.getvalue()
