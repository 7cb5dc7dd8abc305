"""The tensors of a ``.pt`` file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from harness import dtypes
from harness.capture.torch_files.archive import Member, content, members
from harness.capture.torch_files.program import Call, Name, Storage, read
from harness.dtypes import DType
from harness.errors import DtypeError, TreeError
from harness.reading import open_inside
from harness.records import Array

_STORAGES = {
    "FloatStorage": dtypes.float32, "DoubleStorage": dtypes.float64, "HalfStorage": dtypes.float16,
    "BFloat16Storage": dtypes.bfloat16, "LongStorage": dtypes.int64, "IntStorage": dtypes.int32,
    "ShortStorage": dtypes.int16, "CharStorage": dtypes.int8, "ByteStorage": dtypes.uint8, "BoolStorage": dtypes.bool_,
    "ComplexFloatStorage": dtypes.complex64, "ComplexDoubleStorage": dtypes.complex128,
}  # fmt: skip
_UNTYPED = "UntypedStorage"
_PICKLE = "data.pkl"
_LONGEST_PICKLE = 1 << 24
#: Tensors and numbers of a file, and how deep they may be nested.
_MOST, _DEEPEST = 100_000, 64
#: Elements that a tensor may have beyond those of its storage (strides of 0 repeat elements).
_MOST_REPEATED = 1 << 24
_LEGACY = (b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19", b"\x80\x04\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19")


@dataclass(frozen=True, slots=True)
class StoredTensor:
    """A tensor, and where its elements are.

    Attributes:
        path, inside: of its file, and the real path of the directory that no link may leave (None: any).
        dtype, shape: of the tensor.
        strides: in elements.
        start, size: place and number of the bytes of the file that hold it, from its first element on.
        swapped: whether the bytes of each element lie in big-endian order.
        conjugated, negated: what is still to be done to the elements.
    """

    path: str
    inside: str | None
    dtype: DType
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    start: int
    size: int
    swapped: bool = False
    conjugated: bool = False
    negated: bool = False

    def __call__(self) -> Array:
        """The elements, in C order; ``TreeError`` if the file cannot be read any more."""
        flat = np.frombuffer(self._data(), self.dtype.numpy)
        if self.swapped:
            flat = flat.byteswap()
        steps = tuple(stride * flat.itemsize for stride in self.strides)
        # Not ``as_strided``, which knows none of the dtypes that numpy lacks.
        found: Array = np.ndarray(self.shape, flat.dtype, flat, strides=steps)
        if self.conjugated:
            found = np.conj(found)
        return np.ascontiguousarray(-found if self.negated else found).reshape(self.shape)

    def _data(self) -> bytes:
        """The bytes of the elements."""
        try:
            descriptor, _ = open_inside(self.path, self.inside, TreeError)
            with open(descriptor, "rb") as file:
                file.seek(self.start)
                data = file.read(self.size)
        except OSError as error:
            raise TreeError(f"{self.path}: {error.strerror}") from None
        if len(data) != self.size:
            raise TreeError(f"{self.path}: the file is cut")
        return data


class Item(NamedTuple):
    """What a file holds under a name (``layers.0.weight``): a tensor, a number or a text."""

    name: str
    value: StoredTensor | bool | int | float | str


def items(path: str, inside: str | None = None) -> list[Item]:
    """The tensors, numbers and texts of a file, by their names in nested dictionaries and lists; a tensor alone has an
    empty name.

    Args:
        inside: real path of the directory that no link may leave; by default links may lead anywhere.

    Raises:
        ValueError: it is no file of ``torch.save``, it is damaged, or it holds something else, which is named.
        OSError: it cannot be opened.
        TreeError: it lies outside of ``inside``.
    """
    descriptor, _ = open_inside(path, inside, TreeError)
    with open(descriptor, "rb") as file:
        if file.read(len(_LEGACY[0])) in _LEGACY:
            raise ValueError(
                "a file of torch.save before 1.6, or without its zip format; save it again to have it read"
            )
        found = members(file)
        prefix = next((name[: -len(_PICKLE)] for name in found if name.endswith(f"/{_PICKLE}")), None)
        if prefix is None:
            raise ValueError(f"a zip archive without {_PICKLE}: no file of torch.save")
        reader = _Reader(path, inside, file, found, prefix)
        return list(reader.items(read(content(file, found[prefix + _PICKLE], _LONGEST_PICKLE))))


class _Reader:
    def __init__(self, path: str, inside: str | None, file: BinaryIO, found: dict[str, Member], prefix: str) -> None:
        self._path, self._inside, self._members, self._prefix = path, inside, found, prefix
        order = found.get(f"{prefix}byteorder")
        self._swapped = order is not None and content(file, order, 16) == b"big"
        self._count = 0

    def items(self, value: Any, name: str = "", depth: int = 0) -> Iterator[Item]:
        """What a value holds."""
        self._count += 1
        if self._count > _MOST or depth > _DEEPEST:
            raise ValueError(f"it holds more than {_MOST} objects, or they are nested deeper than {_DEEPEST}")
        if isinstance(value, Call):
            yield from self._of_call(value, name, depth)
        elif isinstance(value, dict):
            for key, each in value.items():
                yield from self.items(each, f"{name}.{key}" if name else str(key), depth + 1)
        elif isinstance(value, (Storage, Name)):
            raise ValueError("it holds a storage or a class, not a tensor")
        elif isinstance(value, (list, tuple)):
            for at, each in enumerate(value):
                yield from self.items(each, f"{name}.{at}" if name else str(at), depth + 1)
        elif value is not None:
            yield Item(name, value)

    def _of_call(self, call: Call, name: str, depth: int) -> Iterator[Item]:
        function, arguments = call.function.name, call.arguments
        if function == "Size":
            yield from self.items(list(arguments[0]) if arguments else [], name, depth + 1)
        elif function == "_rebuild_parameter" and arguments and isinstance(arguments[0], Call):
            yield from self._of_call(arguments[0], name, depth)
        elif function == "_rebuild_from_type_v2" and len(arguments) > 2 and isinstance(arguments[2], tuple):
            if not isinstance(arguments[0], Name):
                raise ValueError("a tensor that is described in an unknown way")
            yield from self._of_call(Call(arguments[0], arguments[2]), name, depth)
        elif function.startswith("_rebuild_tensor"):
            yield Item(name, self._tensor(function, arguments))
        else:
            raise ValueError(f"a tensor that {function[:80]} makes, which is not read")

    def _tensor(self, function: str, arguments: tuple[Any, ...]) -> StoredTensor:
        if len(arguments) < 4 or not isinstance(arguments[0], Storage):
            raise ValueError("a tensor without a storage")
        storage, start, shape, strides = arguments[:4]
        if isinstance(shape, Call) and shape.function.name == "Size" and shape.arguments:
            shape = shape.arguments[0]
        if not _are_sizes(shape) or not _are_sizes(strides) or len(shape) != len(strides) or not _are_sizes((start,)):
            raise ValueError("a tensor whose shape or strides are no numbers")
        typed = arguments[6] if function.endswith("_v3") and len(arguments) > 6 else None
        at = 7 if function.endswith("_v3") else 6
        marks = arguments[at] if len(arguments) > at and isinstance(arguments[at], dict) else {}
        if set(marks) - {"conj", "neg"}:
            raise ValueError(f"a tensor with the marks {', '.join(map(str, marks))[:80]}, which are not read")
        member, dtype = self._storage(storage, typed)
        first, size = member.start + start * dtype.itemsize, _extent(shape, strides) * dtype.itemsize
        if size and start * dtype.itemsize + size > member.size:
            raise ValueError("a tensor that reaches beyond its storage")
        if prod(shape) > max(_MOST_REPEATED, member.size // dtype.itemsize):
            raise ValueError(f"a tensor of {prod(shape)} elements that are a few repeated ones")
        more = self._swapped, bool(marks.get("conj")), bool(marks.get("neg"))
        return StoredTensor(self._path, self._inside, dtype, tuple(shape), tuple(strides), first, size, *more)

    def _storage(self, storage: Storage, typed: Any) -> tuple[Member, DType]:
        """A storage's bytes, and the dtype of its elements."""
        fields = storage.fields
        if (
            len(fields) < 5
            or fields[0] != "storage"
            or not isinstance(fields[1], Name)
            or not isinstance(fields[2], str)
        ):
            raise ValueError("a storage that is described in an unknown way")
        member = self._members.get(f"{self._prefix}data/{fields[2]}")
        if member is None:
            raise ValueError(f"the storage {fields[2][:80]!r} is not in the file")
        kind = fields[1].name
        if kind == _UNTYPED and isinstance(typed, Name):
            try:
                return member, dtypes.by_name(typed.name)
            except DtypeError as error:
                raise ValueError(str(error)) from None
        if kind not in _STORAGES:
            raise ValueError(f"a storage of the type {str(fields[1])[:80]}, which is not read")
        return member, _STORAGES[kind]


def _are_sizes(values: Any) -> bool:
    return isinstance(values, (tuple, list)) and all(type(each) is int and 0 <= each < 2**62 for each in values)


def _extent(shape: tuple[int, ...], strides: tuple[int, ...]) -> int:
    """Elements of a storage from a tensor's first to its last; 0 for an empty tensor."""
    if not prod(shape):
        return 0
    return 1 + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))


def is_stored(path: str) -> bool:
    """Whether a file is named as files of ``torch.save`` are."""
    return os.path.splitext(path)[1] in (".pt", ".pth")
