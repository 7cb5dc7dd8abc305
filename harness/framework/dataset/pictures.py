"""Files of pictures to arrays, by Pillow (extra ``data``)."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from harness.errors import StateError
from harness.suggest import install

Array = np.ndarray[Any, np.dtype[Any]]


def pillow() -> Any:
    """Pillow's ``Image``; ``StateError`` where it is not installed."""
    try:
        from PIL import Image
    except ImportError:
        raise StateError(f"decoding pictures needs Pillow: {install('pytest-msdump[data]')}") from None
    return Image


def decoded(data: bytes, origin: str) -> Array:
    """A picture's file as uint8 (height, width, 3), red first; ``StateError`` if it is none."""
    image = pillow()
    try:
        with image.open(io.BytesIO(data)) as opened:
            return np.asarray(opened.convert("RGB"))
    except (OSError, ValueError, SyntaxError, image.DecompressionBombError) as error:
        raise StateError(f"{origin} cannot be decoded as a picture: {error}") from None
