"""Writes files as ``torch.save`` does, without PyTorch: the same members, and the same instructions of a pickle."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from harness import dtypes

STORAGES = {
    "Float32": "FloatStorage", "Float64": "DoubleStorage", "Float16": "HalfStorage", "BFloat16": "BFloat16Storage",
    "Int64": "LongStorage", "Int32": "IntStorage", "Int16": "ShortStorage", "Int8": "CharStorage",
    "UInt8": "ByteStorage", "Bool": "BoolStorage", "Complex64": "ComplexFloatStorage",
    "Complex128": "ComplexDoubleStorage",
}  # fmt: skip


def name(module: str, what: str) -> bytes:
    """The instruction that names a function or class."""
    return b"c" + f"{module}\n{what}\n".encode()


def number(value: Any) -> bytes:
    """The instruction that pushes a number, a text, True, False or None."""
    if value is None:
        return b"N"
    if isinstance(value, bool):
        return b"\x88" if value else b"\x89"
    if isinstance(value, str):
        text = value.encode()
        return b"X" + struct.pack("<I", len(text)) + text
    if isinstance(value, float):
        return b"G" + struct.pack(">d", value)
    if 0 <= value < 256:
        return b"K" + bytes([value])
    if -(2**31) <= value < 2**31:
        return b"J" + struct.pack("<i", value)
    return b"\x8a\x08" + value.to_bytes(8, "little", signed=True)


def numbers(values: tuple[int, ...]) -> bytes:
    """A tuple of numbers."""
    return b"(" + b"".join(map(number, values)) + b"t"


class Writer:
    """One file.

    Args:
        prefix: directory of the archive.
    """

    def __init__(self, prefix: str = "archive") -> None:
        self.prefix = prefix
        self.storages: list[bytes] = []

    def tensor(
        self, array: np.ndarray[Any, Any], dtype: str, *, parameter: bool = False, start: int = 0,
        strides: tuple[int, ...] | None = None, marks: Mapping[str, bool] | None = None,
    ) -> bytes:  # fmt: skip
        """The instructions of a tensor, whose storage is added.

        Args:
            start: elements of the storage before it.
            strides: of the tensor, in elements; by default it lies in C order.
        """
        flat = np.ascontiguousarray(array).reshape(-1)
        if strides is None:
            whole = np.ascontiguousarray(array).reshape(array.shape)
            strides = tuple(step // array.itemsize for step in whole.strides)
        else:
            laid = np.zeros(1 + sum((n - 1) * s for n, s in zip(array.shape, strides, strict=True)), array.dtype)
            view = np.lib.stride_tricks.as_strided(laid, array.shape, tuple(s * laid.itemsize for s in strides))
            view[...] = array
            flat = laid
        self.storages.append(bytes(start * flat.itemsize) + flat.tobytes())
        kind = STORAGES.get(dtype)
        typed = name("torch", kind) if kind else name("torch.storage", "UntypedStorage")
        count = len(self.storages[-1]) // (flat.itemsize if kind else 1)
        stored = b"(" + number("storage") + typed + number(str(len(self.storages) - 1)) + number("cpu") + number(count)
        shape = array.shape
        inner = stored + b"tQ" + number(start) + numbers(shape) + numbers(strides) + b"\x89" + HOOKS
        version = "_rebuild_tensor_v2" if kind else "_rebuild_tensor_v3"
        inner += b"" if kind else name("torch", dtypes.by_name(dtype).lower)
        if marks is not None:
            inner += b"}" + b"".join(number(key) + number(value) + b"s" for key, value in marks.items())
        made = name("torch._utils", version) + b"(" + inner + b"tR"
        return made if not parameter else name("torch._utils", "_rebuild_parameter") + made + b"\x88" + HOOKS + b"\x87R"

    def mapping(self, items: Mapping[str, bytes]) -> bytes:
        """The instructions of a dictionary."""
        return b"}(" + b"".join(number(key) + value for key, value in items.items()) + b"u"

    def bytes(self, program: bytes, *, order: bytes = b"little") -> bytes:
        """The whole file."""
        return archive(self.prefix, b"\x80\x02" + program + b".", self.storages, order)


HOOKS = name("collections", "OrderedDict") + b")R"


def archive(prefix: str, pickle: bytes, storages: list[bytes], order: bytes = b"little", method: int = 0) -> bytes:
    """A zip of PyTorch's members."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as file:
        file.writestr(f"{prefix}/data.pkl", pickle)
        file.writestr(f"{prefix}/byteorder", order)
        for at, data in enumerate(storages):
            file.writestr(f"{prefix}/data/{at}", data)
        file.writestr(f"{prefix}/version", b"3\n")
    return out.getvalue()


def one(path: Path, array: np.ndarray[Any, Any], dtype: str, **more: Any) -> Path:
    """A file of a single tensor."""
    writer = Writer()
    path.write_bytes(writer.bytes(writer.tensor(array, dtype, **more)))
    return path
