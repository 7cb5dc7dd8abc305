"""A file in place of a dump tree: a ``dump.json``, a ``statistic.csv``, or a file of tensors."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator

from harness import dtypes
from harness.capture import npy, torch_files
from harness.capture.capture import Capture, Problem
from harness.capture.logs import reader_of
from harness.capture.msprobe import read_msprobe
from harness.capture.msprobe_entries import argument
from harness.capture.named_tensors import npz_items, safetensors
from harness.capture.statistic_rows import MAX_BYTES, BadRow, Row, rows
from harness.capture.statistic_table import table
from harness.capture.tree_records import row_record
from harness.capture.tree_rows import executions_of_rows, grouped, row_records
from harness.errors import HarnessError, TreeError
from harness.reading import read_bytes
from harness.records import Record, SlotKey

#: What a file alone is called, whose name says nothing.
ALONE = "tensor"
_JSON = ".json"
_INSTEAD = {
    ".pkl": "dumps of ptdbg_ascend are not read, no pickle is; dump again with msprobe, and give its dump.json",
    ".pb": "a graph or an asynchronous dump file holds no slots of its own; give the directory of the dump",
    ".ir": "a graph holds no tensor; give the directory of the dump",
    ".bin": "a raw file says neither shape nor dtype; give the directory of the dump",
    ".xlsx": "a table of a comparison is no dump; give the two dumps that it compared",
    ".yaml": "a configuration is no dump; give the directory of the dump",
    ".ckpt": "a checkpoint is no dump; save its tensors as .npy or .pt",
}  # fmt: skip
_READ = (
    "a dump tree, a golden store, a dump.json, statistic.csv, .npy, .npz, .pt or .safetensors file, or a log of "
    "DebugMode, torchtitan, Polygraphy, Hugging Face, SGLang or ExecuTorch"
)
_JSON_FILES = (
    "of JSON files msprobe's dump.json is read, with its object 'data', and what Polygraphy and Hugging Face's "
    "debugger write"
)


_Reader = Callable[[str, list[Problem]], Iterator[Record]]


def read_single_file(path: str, backend: str | None = None) -> Capture:
    """Reads a file alone; its slots are numbered as they stand in it.

    Args:
        path: of the file.
        backend: name of the backend; by default what the file says, else ``mindspore``.

    Raises:
        TreeError: it cannot be read, or what is in such a file is no dump; the error says what to give instead.
    """
    suffix = os.path.splitext(path)[1]
    if suffix in _INSTEAD:
        raise TreeError(f"{path}: {_INSTEAD[suffix]}")
    if (log := reader_of(path, suffix)) is not None:
        return _of_reader(path, backend or log.backend, log.mode, log.read)
    if suffix == _JSON:
        try:
            found = read_msprobe(path, backend=backend)
        except TreeError as error:
            raise TreeError(f"{error}; {_JSON_FILES}") from None
        assert found is not None  # read_msprobe raises for any other JSON file
        return found
    if suffix not in _READERS:
        raise TreeError(f"{path}: files of this kind are not read; accepted are {_READ}")
    made, mode, reader = _READERS[suffix]
    return _of_reader(path, backend or made, mode, reader)


def _of_reader(path: str, backend: str, mode: str, reader: _Reader) -> Capture:
    """The capture of a file that ``reader`` reads."""
    problems: list[Problem] = []

    def records() -> Iterator[Record]:
        problems.clear()
        try:
            yield from reader(path, problems)
        except HarnessError:
            raise
        except (npy.Incomplete, ValueError, OSError) as error:
            why = error.strerror if isinstance(error, OSError) else str(error)
            raise TreeError(f"{path}: {why}") from None

    return Capture(ALONE, backend, False, records, mode, problems=problems)


def _key(operator: str, slot: int = 0) -> SlotKey:
    return SlotKey(0, 0, 0, operator, 0, "output", slot)


def _of_numpy(path: str, problems: list[Problem]) -> Iterator[Record]:
    header, array = npy.read(path)
    yield Record(_key(ALONE), ALONE, header.dtype.name, header.shape, values=array)


def _of_torch(path: str, problems: list[Problem]) -> Iterator[Record]:
    yield from _named(torch_files.items(path), dtypes.TORCH_FORMAT)


def _of_npz(path: str, problems: list[Problem]) -> Iterator[Record]:
    yield from _named(npz_items(path), "DefaultFormat")


def _of_safetensors(path: str, problems: list[Problem]) -> Iterator[Record]:
    yield from _named(safetensors.items(path), "DefaultFormat")


def _named(items: Iterable[torch_files.Item], layout: str) -> Iterator[Record]:
    """Tensors, numbers and texts by their names."""
    for name, value in items:
        key = _key(name or ALONE)
        if isinstance(value, torch_files.StoredTensor):
            yield Record(key, ALONE, value.dtype.name, value.shape, layout, value)
            continue
        dtype, array = argument({"type": type(value).__name__, "value": value})
        yield Record(key, ALONE, dtype, array.shape, dtypes.ARGUMENT_FORMAT, array)


def _of_table(path: str, problems: list[Problem]) -> Iterator[Record]:
    data = read_bytes(path, MAX_BYTES, TreeError)
    whole = table(data)
    if whole is not None:
        counts: dict[str, int] = {}
        for execution in executions_of_rows(whole, 0, 0):
            name = execution.op_name
            counts[name] = counts.get(name, -1) + 1
            yield from row_records(SlotKey(0, 0, 0, name, counts[name], "", 0), execution, None)
        return
    found: list[Row] = []
    for row in rows(data):
        if isinstance(row, BadRow):
            problems.append(Problem(path, "damaged", f"line {row.line}: {row.why}"))
        else:
            found.append(row)
    if not found:
        raise TreeError(f"{path}: no table of statistics; accepted is MindSpore's statistic.csv")
    yield from _one_by_one(found)


def _one_by_one(found: list[Row]) -> Iterator[Record]:
    """The records of rows that are not those of today's writer."""
    counts: dict[str, int] = {}
    order = sorted(range(len(found)), key=lambda at: found[at].timestamp)
    places = [(row.io, row.slot) for row in found]
    for group in grouped(order, [row[:2] for row in found], places):
        name = found[group[0]].op_name
        counts[name] = counts.get(name, -1) + 1
        for at in group:
            row = found[at]
            yield row_record(SlotKey(0, 0, 0, name, counts[name], row.io, row.slot), row, None, None)


#: By suffix: what made the file, the mode of its capture, and its reader.
_READERS: dict[str, tuple[str, str, _Reader]] = {
    ".npy": ("mindspore", "tensor", _of_numpy),
    ".pt": ("torch", "tensor", _of_torch),
    ".pth": ("torch", "tensor", _of_torch),
    ".npz": ("mindspore", "tensor", _of_npz),
    ".safetensors": ("mindspore", "tensor", _of_safetensors),
    ".csv": ("mindspore", "statistic", _of_table),
}
