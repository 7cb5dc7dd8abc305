"""Tensors of asynchronous dump files: several in one file, in device layout.

Their reader is imported when such a file is found: most trees hold none, and need no protobuf.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Self

from harness.capture.names import FileName
from harness.devices.formats import DEFAULT
from harness.dtypes import DType
from harness.dump.asynchronous import names, opdebug
from harness.errors import DtypeError, TreeError, UnknownNameError
from harness.records import Array

if TYPE_CHECKING:
    from harness.dump.asynchronous import dump_data


class RawFile:
    """A file whose header was read; a ``with`` block keeps it open while its tensors are read."""

    __slots__ = ("_header", "_inside", "_opened", "_uses", "path")

    def __init__(self, path: str, header: dump_data.Header, inside: str) -> None:
        self.path = path
        self._header = header
        self._inside = inside
        self._opened: dump_data.DumpFile | None = None
        self._uses = 0

    def __enter__(self) -> Self:
        self._uses += 1
        return self

    def __exit__(self, *_exception: object) -> None:
        self._uses -= 1
        if not self._uses and self._opened is not None:
            self._opened.close()
            self._opened = None

    def host(self, entry: dump_data.Entry) -> Array:
        """A tensor in host layout; ``TreeError`` if the file is damaged, or gone."""
        from harness.dump.asynchronous.dump_data import DumpFile

        with self:
            if self._opened is None:
                self._opened = DumpFile(self.path, self._header, inside=self._inside)
            return self._opened.host(entry)


class RawTensor(NamedTuple):
    """One tensor of a file.

    Attributes:
        file: the file that holds it.
        entry: its entry in the file's header.
        dtype: dtype of its elements.
        shape: shape on the host.
    """

    file: RawFile
    entry: dump_data.Entry
    dtype: DType
    shape: tuple[int, ...]


def is_raw(file_name: str) -> bool:
    """Whether a file of this name is an operator's file in the asynchronous framing."""
    return names.parse(file_name) is not None and not opdebug.is_record(file_name)


def tensors(path: str, file_name: str, inside: str) -> list[tuple[FileName, RawTensor]]:
    """Every tensor with bytes, and the name that its own file would have.

    Args:
        path: path of the file.
        file_name: its name, or the one ``mapping.csv`` gives it.
        inside: real path of the tree, which no link may leave.

    Raises:
        TreeError: the file is damaged, or lies outside of the tree.
    """
    from harness.dump.asynchronous.dump_data import HOST_FORMATS, DumpFile

    parsed = names.parse(file_name)
    if parsed is None:
        raise TreeError(f"{path}: {file_name!r} is not the name of a dump file")
    with DumpFile(path, inside=inside) as file:
        header = file.header
    op_name, shared = header.op_name or parsed.op_name, RawFile(path, header, inside)
    found = []
    for io, entries in (("input", header.inputs), ("output", header.outputs)):
        for slot, entry in enumerate(entries):
            if entry.size:
                tensor = _described(shared, entry)
                shown = DEFAULT.format if entry.format_name in HOST_FORMATS else entry.format_name
                name = FileName(
                    parsed.op_type, op_name, parsed.task, parsed.stream, parsed.timestamp, io, slot, shown,
                    tensor.dtype.lower,
                )  # fmt: skip
                found.append((name, tensor))
    return found


def _described(file: RawFile, entry: dump_data.Entry) -> RawTensor:
    try:
        dtype, _format = entry.dtype, entry.format_name
    except (UnknownNameError, DtypeError) as error:
        raise TreeError(f"{file.path}: {error}") from None
    return RawTensor(file, entry, dtype, entry.original_shape or entry.shape)
