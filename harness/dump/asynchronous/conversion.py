"""Converts asynchronous dump files to ``.npy``, ``.bin`` and ``.json``, as ``msaccucmp convert`` does, without CANN.

Names, shapes, dtypes, exit codes and the list of what failed are those of msaccucmp 26.2.0, run beside this code
(docs/differences.md says where not).
"""

from __future__ import annotations

import io
import os
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from harness.devices.formats import numbers
from harness.dump.asynchronous import elements, opdebug, reformat
from harness.dump.asynchronous.dump_data import DumpFile, Entry
from harness.dump.names import row_text
from harness.dump.writer import MAPPING, Buffer, Directory
from harness.errors import ConvertError, TreeError

Array = np.ndarray[Any, np.dtype[Any]]
Kind = Literal["npy", "msnpy", "bin"]
KINDS: tuple[Kind, ...] = ("npy", "msnpy", "bin")

OK, WRITE_FAILED, OUT_OF_RANGE = 0, 19, 12
"""Exit codes of msaccucmp, in addition to those in ``reformat`` and ``elements``."""

FILE_MODE = 0o600
_LONGEST = 255
"""Names with at least this many characters are replaced (measured)."""
_FIELDS = 5
_BUFFERS = {0: "l1"}

FORMATS = frozenset(numbers.printed_name(name) for name in numbers.NUMBERS) - {"FRACTAL_ZZ", "NC", "NCL"} - {
    name for name in numbers.NUMBERS if name.startswith("FRACTAL_NZ_C0")
}  # fmt: skip
"""Names of formats that msaccucmp takes."""


@dataclass(frozen=True, slots=True)
class Request:
    """The conversion wanted for every file.

    Attributes:
        kind: ``npy``, ``msnpy`` (names as MindSpore gives them) or ``bin`` (bare bytes).
        format: target format; None keeps the tensors' format.
        only: ``(io, index)`` of the only tensor wanted, or None for all; only with a format.
        shape: replaces the header's host shape; only with a format.
    """

    kind: Kind = "npy"
    format: str | None = None
    only: tuple[str, int] | None = None
    shape: tuple[int, ...] = ()


@dataclass(slots=True)
class Outcome:
    """The result of converting a file.

    Attributes:
        code: exit code.
        failed: the file, and the tensors of it that failed, as the list of failures names them.
        written: names of the files made.
    """

    code: int
    failed: str
    written: list[str]


class Converter:
    """Converts files into one directory.

    Args:
        directory: directory of the results; existing files are replaced.
        request: the conversion wanted.
        complain: called with a line for each failure.
    """

    def __init__(self, directory: Directory, request: Request, complain: Callable[[str], None]) -> None:
        self._directory = directory
        self._request = request
        self._complain = complain
        self._written: list[str] = []

    def convert(self, path: str) -> Outcome:
        """Converts one file; failures are reported in lines and by the exit code, not raised.

        Raises:
            DumpWriteError: the disk failed.
        """
        self._written = []
        outcome = Outcome(OK, path, self._written)
        try:
            with DumpFile(path) as file:
                elements.check(file)
                if self._request.format is not None:
                    self._reformat(file, outcome)
                elif opdebug.is_record(os.path.basename(path)):
                    self._records(file)
                else:
                    self._plain(file)
        except ConvertError as error:
            outcome.code = error.code
            self._complain(str(error))
        except TreeError as error:
            outcome.code = reformat.DATA
            self._complain(str(error))
        return outcome

    # --- tensors as they lie --------------------------------------------------------------------------------------

    def _plain(self, file: DumpFile) -> None:
        for tensor, index, entry in _tensors(file):
            self._save(file, tensor, index, elements.flat(file, entry), _format(file, entry))
        stem = os.path.basename(file.path)
        for index, buffer in enumerate(file.header.buffers):
            name = f"{stem}.{_BUFFERS.get(buffer.buffer_type)}buffer.{index}.bin"
            self._write(name, ".bin", [file.payload(buffer).data])

    def _records(self, file: DumpFile) -> None:
        for index, entry in enumerate(file.header.outputs):
            where = f"{file.path}, output {index}"
            text = opdebug.to_json(opdebug.parse(file.payload(entry).tobytes(), where))
            self._write(f"{os.path.basename(file.path)}.output.{index}.json", ".json", [text.encode()])

    # --- tensors in another format --------------------------------------------------------------------------------

    def _reformat(self, file: DumpFile, outcome: Outcome) -> None:
        only = self._request.only
        if only is not None:
            entries = file.header.inputs if only[0] == "input" else file.header.outputs
            if only[1] >= len(entries):
                text = f"{file.path}: {only[0]} {only[1]} of {len(entries)}; the first is 0"
                raise ConvertError(OUT_OF_RANGE, text)
            self._reformat_one(file, *only, entries[only[1]], elements.flat(file, entries[only[1]]))
            return
        codes = {"input": OK, "output": OK}
        for tensor, index, entry in _tensors(file):
            flat = elements.flat(file, entry)
            try:
                self._reformat_one(file, tensor, index, entry, flat)
            except ConvertError as error:
                codes[tensor] = error.code
                outcome.failed += f",{tensor}:{index}"
                self._complain(f"{file.path}, {tensor} {index}: {error}")
                if self._request.kind == "msnpy":
                    self._save(file, tensor, index, flat, _format(file, entry))
        outcome.code = codes["output"] or codes["input"]

    def _reformat_one(self, file: DumpFile, tensor: str, index: int, entry: Entry, flat: elements.Flat) -> None:
        array, shape, dtype = flat
        target = self._request.format
        assert target is not None  # the caller has checked it
        lies = _format(file, entry)
        source = reformat.real_format(lies, shape)
        wanted = self._request.shape or entry.original_shape
        made = reformat.convert(array, source, target, shape, wanted, entry.sub_format)
        shown = target
        if wanted and source != target and target != "FRACTAL_Z":
            try:
                made = reformat.crop(made, wanted)
            except ConvertError as error:
                shown = lies
                self._complain(f"{file.path}, {tensor} {index}: its padding is kept: {error}")
        self._save(file, tensor, index, elements.Flat(made, made.shape, dtype), shown, made.shape)

    # --- files ----------------------------------------------------------------------------------------------------

    def _save(
        self,
        file: DumpFile,
        tensor: str,
        index: int,
        flat: elements.Flat,
        shown: str,
        sizes: tuple[int, ...] | None = None,
    ) -> None:
        """Writes one tensor; a tensor without dimensions gets one (measured).

        Args:
            flat: the tensor.
            shown: name of its format.
            sizes: sizes for the name; those of the flat tensor if None.
        """
        stem, kind = os.path.basename(file.path), self._request.kind
        whole = np.ascontiguousarray(flat.array).reshape(-1)
        data = whole.view(np.uint8).data
        sizes = flat.array.shape if sizes is None else sizes
        if kind == "bin":
            self._write(f"{stem}.{tensor}.{index}.{'_'.join(map(str, sizes))}.{flat.dtype}.{shown}.bin", ".bin", [data])
            return
        if kind == "msnpy":
            name = f"{_short(stem, file.header.op_name)}.{tensor}.{index}.{shown}.npy"
        elif self._request.format is not None:
            name = f"{stem}.{tensor}.{index}.{'x'.join(map(str, sizes))}.npy"
        else:
            name = f"{stem}.{tensor}.{index}.npy"
        shape = flat.shape if flat.shape or sizes == () else flat.array.shape
        self._write(name, ".npy", [_npy_header(whole.reshape(shape)), data])

    def _write(self, name: str, suffix: str, buffers: Sequence[Buffer]) -> None:
        """Writes a file; a name that is too long becomes 32 hexadecimal digits and a row of ``mapping.csv``."""
        original = name
        if suffix != ".json" and len(name) >= _LONGEST:
            name = uuid.uuid3(uuid.NAMESPACE_DNS, name).hex + suffix
        if not self._directory.write(name, buffers, FILE_MODE):
            raise ConvertError(WRITE_FAILED, f"{self._directory.path}/{name} cannot be written")
        if name != original:
            self._directory.append(MAPPING, f"{name},{original}", FILE_MODE)
        self._written.append(name)


def _tensors(file: DumpFile) -> Iterator[tuple[str, int, Entry]]:
    for tensor, entries in (("input", file.header.inputs), ("output", file.header.outputs)):
        for index, entry in enumerate(entries):
            yield tensor, index, entry


def _format(file: DumpFile, entry: Entry) -> str:
    """The entry's format as msaccucmp prints it."""
    try:
        return numbers.printed_name(entry.format_name)
    except LookupError as error:
        raise ConvertError(reformat.FORMAT, f"{file.path}: {error}") from None


def _short(stem: str, op_name: str) -> str:
    """The file's name with only the last component of the operator's name."""
    parts = stem.split(".")
    if len(parts) == _FIELDS and op_name:
        parts[1] = row_text(op_name.rpartition("/")[2])
    return ".".join(parts)


def _npy_header(array: Array) -> bytes:
    """The header ``numpy.save`` writes."""
    target = io.BytesIO()
    np.lib.format.write_array_header_1_0(target, np.lib.format.header_data_from_array_1_0(array))
    return target.getvalue()
