"""The hashes of a ``statistic.csv``. They read bytes, not numbers, and so run outside the single pass.

Source: ``samples`` of the real host writer, reproduced (SHA1 of long tensors: dump_output.md section 8).
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from harness.stats.digest import as_bytes

Array = np.ndarray[Any, np.dtype[Any]]

#: Number of elements hashed at once by SHA1; in a larger tensor each chunk of this size is hashed separately.
SHA1_CHUNK = 20480


def md5(array: Array) -> str:
    """MD5 of the array's bytes in hex (little endian, C order)."""
    return hashlib.md5(as_bytes(array).data, usedforsecurity=False).hexdigest()


def sha1(array: Array) -> str:
    """Hex SHA1 of the array's bytes; of more than ``SHA1_CHUNK`` elements, that of the chunks' joined hex digests."""
    data = as_bytes(array).data
    if array.size <= SHA1_CHUNK:
        return hashlib.sha1(data, usedforsecurity=False).hexdigest()
    step = SHA1_CHUNK * array.dtype.itemsize
    whole = hashlib.sha1(usedforsecurity=False)
    for at in range(0, len(data), step):
        whole.update(hashlib.sha1(data[at : at + step], usedforsecurity=False).hexdigest().encode())
    return whole.hexdigest()
