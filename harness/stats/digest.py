"""Content digests, which identify the bits of a tensor."""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import Any

import numpy as np
import xxhash

from harness import dtypes
from harness.errors import DtypeError

Array = np.ndarray[Any, np.dtype[Any]]

#: Length of a digest in bytes (xxh3_128).
DIGEST_BYTES = 16
#: Bytes of an array that is copied, because that costs less than to look at it in place.
_SHORT = 4096
_LITTLE = sys.byteorder == "little"


def digest(array: Array, dtype_name: str) -> bytes:
    """16-byte xxh3_128 of dtype, shape and content.

    It hashes the CamelCase dtype name, the shape, and the little-endian bytes in C order. So equal bytes with another
    dtype or shape differ, -0.0 differs from 0.0, and a NaN's payload counts. A C-contiguous array is hashed without a
    copy.

    Args:
        array: any shape; its numpy dtype must be the one that holds ``dtype_name`` (byte order is free).
        dtype_name: MindSpore dtype name in any case (``Float32``).

    Raises:
        DtypeError: ``dtype_name`` is unknown, or not what ``array`` holds.

    Examples:
        >>> import numpy as np
        >>> from harness.stats import digest
        >>> digest(np.float32([0, 1]), "Float32").hex()[:8], digest(np.float32([-0.0, 1]), "Float32").hex()[:8]
        ('75e1c9b6', '61e69716')
    """
    if array.nbytes <= _SHORT and array.dtype.isnative and _LITTLE:
        return digest_of_bytes(array.tobytes(), array.dtype, dtype_name, array.shape)
    hasher = Digester(dtype_name, array.shape, array.dtype)
    hasher.take(array)
    return hasher.digest()


def digest_of_bytes(held: bytes, given: np.dtype[Any], dtype_name: str, shape: tuple[int, ...]) -> bytes:
    """``digest`` of an array by its little-endian bytes in C order.

    Args:
        held: the bytes.
        given: numpy dtype of the array.
        dtype_name: as for ``digest``.
        shape: shape of the array.

    Raises:
        DtypeError: as ``digest``.
    """
    return xxhash.xxh3_128_digest(_header(given, dtype_name, shape) + held)


class Digester:
    """The digest of a tensor that comes in pieces, in C order.

    Args:
        dtype_name: as for ``digest``.
        shape: shape of the whole tensor.
        given: numpy dtype of the pieces.

    Raises:
        DtypeError: as ``digest``.

    Examples:
        >>> import numpy as np
        >>> from harness.stats import Digester, digest
        >>> whole = np.arange(6, dtype=np.float32)
        >>> running = Digester("Float32", whole.shape, whole.dtype)
        >>> for piece in (whole[:4], whole[4:]):
        ...     running.take(piece)
        >>> running.digest() == digest(whole, "Float32")
        True
    """

    __slots__ = ("_hasher",)

    def __init__(self, dtype_name: str, shape: tuple[int, ...], given: np.dtype[Any]) -> None:
        self._hasher = xxhash.xxh3_128(_header(given, dtype_name, shape))

    def take(self, piece: Array) -> None:
        """Takes the next elements.

        Args:
            piece: any number of elements, in C order.
        """
        if piece.size:
            self._hasher.update(as_bytes(piece).data)

    def digest(self) -> bytes:
        """The digest (16 bytes) of all elements taken."""
        return self._hasher.digest()


@lru_cache(maxsize=4096)
def _header(given: np.dtype[Any], dtype_name: str, shape: tuple[int, ...]) -> bytes:
    return f"{checked_dtype(given, dtype_name)}({','.join(map(str, shape))})".encode()


_ACCEPTED: dict[tuple[np.dtype[Any], str], str] = {}


def checked_dtype(given: np.dtype[Any], dtype_name: str) -> str:
    """CamelCase name of ``dtype_name``; ``DtypeError`` unless a numpy array of ``given`` holds that dtype."""
    try:
        return _ACCEPTED[given, dtype_name]
    except KeyError:
        pass
    wanted = dtypes.by_name(dtype_name)
    if given.newbyteorder("=") != wanted.numpy:
        raise DtypeError(f"an array of numpy dtype {given} was given as {wanted.name}, which needs {wanted.numpy}")
    # A handful of dtypes exist, so this never grows beyond a few rows.
    return _ACCEPTED.setdefault((given, dtype_name), wanted.name)


def as_bytes(array: Array) -> Array:
    """The array's little-endian C-order bytes, uint8 [nbytes]; a view if the array has this form already."""
    if array.dtype.byteorder == ">":
        array = array.astype(array.dtype.newbyteorder("<"))
    if not array.flags.c_contiguous:
        array = np.ascontiguousarray(array)
    return array.reshape(-1).view(np.uint8)
