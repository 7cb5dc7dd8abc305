"""Arrays of a ``numpy.savez`` file: a zip of ``.npy`` files. No object array is ever loaded."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from harness.capture import npy
from harness.capture.torch_files.archive import members
from harness.capture.torch_files.tensors import Item, StoredTensor
from harness.errors import TreeError
from harness.reading import open_inside

_SUFFIX = ".npy"
_LONGEST_HEADER = 1 << 16


def items(path: str) -> Iterator[Item]:
    """The arrays of a file, by their names, in its order.

    Raises:
        ValueError: it is no such file, is compressed or damaged, or an array is of objects.
        OSError: it cannot be opened.
    """
    descriptor, _ = open_inside(path, None, TreeError)
    with open(descriptor, "rb") as file:
        for name, member in members(file).items():
            if not name.endswith(_SUFFIX):
                raise ValueError(f"its member {name[:80]!r} is no .npy file; numpy.savez writes no other")
            file.seek(member.start)
            try:
                header = npy.parse_header(file.read(min(member.size, _LONGEST_HEADER)))
            except npy.Incomplete as error:
                raise ValueError(f"its member {name[:80]!r}: {error}") from None
            size = prod(header.shape) * header.dtype.itemsize
            if min(header.shape, default=0) < 0 or header.offset + size != member.size:
                raise ValueError(f"its member {name[:80]!r} has {member.size} bytes, its header makes another number")
            strides = _strides(header.shape, header.fortran)
            where = member.start + header.offset
            yield Item(
                name[: -len(_SUFFIX)], StoredTensor(path, None, header.dtype, header.shape, strides, where, size)
            )


def _strides(shape: tuple[int, ...], fortran: bool) -> tuple[int, ...]:
    """In elements."""
    steps, width = [], 1
    for size in shape if fortran else reversed(shape):
        steps.append(width)
        width *= size
    return tuple(steps if fortran else reversed(steps))
