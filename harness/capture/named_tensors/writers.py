"""Writes the values of a capture or a golden into files of named tensors: ``.npz``, ``.safetensors``, ONNX's test data
and Polygraphy's JSON.

A tensor is called after its operator where every operator has one output alone (as in such files themselves); else
``OPERATOR.output.0``. What tells several apart stands before it, where there are several: ``rank_N/``, ``step_N/``,
``graph_N/``; ``@N`` behind the operator is its N-th further execution.
"""

from __future__ import annotations

import base64
import io
import json
import os
import shutil
import zipfile
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TextIO

import numpy as np

from harness import dtypes
from harness.capture import npy
from harness.capture.named_tensors.onnx import TYPES
from harness.capture.named_tensors.safetensors import NAMES
from harness.errors import HarnessError, TreeError
from harness.records import Array, Record, SlotKey

#: A time that says nothing: equal values give equal files.
_NO_TIME = (1980, 1, 1, 0, 0, 0)
_ALIGNED = 8
#: What Polygraphy calls a numpy array.
_ARRAY = "ndarray"
_PART = ".part"
Records = Callable[[], Iterable[Record]]


class Written(NamedTuple):
    """How many tensors were written, and how many slots have no values."""

    tensors: int
    without: int


class Naming:
    """Names of slots, as the module says.

    Args:
        keys: all of them.
    """

    def __init__(self, keys: Iterable[SlotKey]) -> None:
        every = list(keys)
        self._alone = all(key.io == "output" and key.slot == 0 for key in every)
        self._ranks, self._graphs, self._steps = (len({key[at] for key in every}) > 1 for at in range(3))

    def name(self, key: SlotKey, step: bool = True) -> str:
        """The name of a slot.

        Args:
            step: whether the step is part of it, where there are several.
        """
        before = f"rank_{key.rank}/" if self._ranks else ""
        before += f"step_{key.iteration}/" if self._steps and step else ""
        before += f"graph_{key.graph}/" if self._graphs else ""
        return before + self.within(key)

    def within(self, key: SlotKey) -> str:
        """The name of a slot within its rank, step and graph."""
        operator = key.operator if not key.execution else f"{key.operator}@{key.execution}"
        return operator if self._alone else f"{operator}.{key.io}.{key.slot}"


def _with_values(records: Records) -> Iterator[Record]:
    return (record for record in records() if record.values is not None)


def _loaded(record: Record) -> Array:
    """The values of a record, C-contiguous and little-endian."""
    array = record.load()
    assert array is not None  # it was asked before
    return np.ascontiguousarray(array, array.dtype.newbyteorder("<")).reshape(array.shape)


def _write_npy(file: Any, record: Record, what: str) -> None:
    """Writes an array as ``numpy.save`` does; ``what`` would hold it."""
    dtype = dtypes.by_name(record.dtype)
    if not npy.is_written(dtype):
        raise TreeError(f"{record.key.operator}: {what} has no dtype {dtype.name}")
    np.lib.format.write_array(file, _loaded(record), allow_pickle=False)


def _npz(records: Records, naming: Naming, path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED, allowZip64=True) as file:
        for record in _with_values(records):
            info = zipfile.ZipInfo(f"{naming.name(record.key)}.npy", _NO_TIME)
            with file.open(info, "w", force_zip64=True) as member:
                _write_npy(member, record, ".npz")


def _safetensors(records: Records, naming: Naming, path: Path) -> None:
    short = {name: kind for kind, name in NAMES.items()}
    header: dict[str, Any] = {}
    at = 0
    for record in _with_values(records):
        dtype = dtypes.by_name(record.dtype)
        if dtype.lower not in short:
            raise TreeError(f"{record.key.operator}: safetensors has no dtype {dtype.name}")
        size = int(np.prod(record.shape, dtype=object)) * dtype.itemsize
        place = [at, at + size]
        header[naming.name(record.key)] = {
            "dtype": short[dtype.lower], "shape": list(record.shape), "data_offsets": place,
        }  # fmt: skip
        at += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % _ALIGNED)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for record in _with_values(records):
            file.write(_loaded(record).tobytes())


def _onnx(records: Records, naming: Naming, path: Path) -> None:
    numbers = {dtype.name: number for number, dtype in TYPES.items()}
    path.mkdir()
    sets: dict[int, dict[str, int]] = {}
    for record in _with_values(records):
        dtype = dtypes.by_name(record.dtype)
        if dtype.name not in numbers:
            raise TreeError(f"{record.key.operator}: ONNX's test data has no dtype {dtype.name}")
        known = sets.setdefault(record.key.iteration, {"input": 0, "output": 0})
        folder = path / f"test_data_set_{list(sets).index(record.key.iteration)}"
        folder.mkdir(exist_ok=True)
        with open(folder / f"{record.key.io}_{known[record.key.io]}.pb", "wb") as file:
            _message(file, record, numbers[dtype.name], naming.name(record.key, step=False))
        known[record.key.io] += 1


def _message(file: BinaryIO, record: Record, number: int, name: str) -> None:
    """A ``TensorProto``: dims, data_type, name, raw_data."""
    for size in record.shape:
        file.write(b"\x08" + _varint(size))
    file.write(b"\x10" + _varint(number))
    for mark, data in ((b"\x42", name.encode("utf-8", "replace")), (b"\x4a", _loaded(record).tobytes())):
        file.write(mark + _varint(len(data)) + data)


def _varint(number: int) -> bytes:
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*found, number])


def _polygraphy(records: Records, naming: Naming, path: Path) -> None:
    """A runner for each graph of each rank; an array stands in memory once."""
    runners = list(dict.fromkeys((record.key.rank, record.key.graph) for record in _with_values(records)))
    with open(path, "w", encoding="utf-8") as file:
        file.write('{"lst": [')
        for at, (rank, graph) in enumerate(runners):
            own = (each for each in _with_values(records) if (each.key.rank, each.key.graph) == (rank, graph))
            runner = json.dumps("msdump" if len(runners) == 1 else f"rank_{rank} graph_{graph}")
            file.write(f"{', ' if at else ''}[{runner}, [")
            _iterations(file, own, naming, runner)
            file.write("]]")
        file.write('], "polygraphy_class": "RunResults"}\n')


def _iterations(file: TextIO, records: Iterator[Record], naming: Naming, runner: str) -> None:
    end = f'}}, "runtime": 0.0, "runner_name": {runner}, "polygraphy_class": "IterationResult"}}'
    for at, (_, own) in enumerate(groupby(records, lambda record: record.key.iteration)):
        file.write(', {"outputs": {' if at else '{"outputs": {')
        for number, record in enumerate(own):
            data = io.BytesIO()
            _write_npy(data, record, "Polygraphy's JSON")
            held = {"array": base64.b64encode(data.getvalue()).decode(), "polygraphy_class": _ARRAY}
            name, value = json.dumps(naming.within(record.key)), {"values": held, "polygraphy_class": "LazyArray"}
            file.write(f"{', ' if number else ''}{name}: {json.dumps(value)}")
        file.write(end)


#: By name: the suffix of the file (empty for a directory), and what writes it.
WRITERS: dict[str, tuple[str, Callable[[Records, Naming, Path], None]]] = {
    "npz": (".npz", _npz),
    "safetensors": (".safetensors", _safetensors),
    "onnx": ("", _onnx),
    "polygraphy": (".json", _polygraphy),
}


def write_tensors(records: Records, path: Path, kind: str | None = None) -> Written:
    """Writes all values there are; the file is put in place when it is whole.

    Args:
        records: gives the records, from the first one, at each call.
        path: of the file, or of a directory that is not there yet (ONNX).
        kind: a key of ``WRITERS``; None for what the path's suffix says.

    Raises:
        TreeError: the kind is unknown, no slot has values, two have one name, or a dtype has no place there.
        OSError: it cannot be written.
    """
    kind = kind or next((name for name, (suffix, _) in WRITERS.items() if suffix == path.suffix), "?")
    if kind not in WRITERS:
        raise TreeError(f"{path}: its suffix is none of .npz, .safetensors, .json; --to takes {', '.join(WRITERS)}")
    if kind == "onnx" and path.exists():
        raise TreeError(f"{path}: it is there already; ONNX's test data goes into a new directory")
    keys = [(record.key, record.values is not None) for record in records()]
    wanted = [key for key, has in keys if has]
    if not wanted:
        raise TreeError(f"{path}: nothing to write: no slot has values")
    naming = Naming(wanted)
    if len({naming.name(key) for key in wanted}) < len(wanted):
        raise TreeError(f"{path}: two slots would have one name")
    part = path.with_name(path.name + _PART)
    try:
        WRITERS[kind][1](records, naming, part)
        os.replace(part, path)
    except (HarnessError, OSError):
        shutil.rmtree(part, ignore_errors=True) if part.is_dir() else part.unlink(missing_ok=True)
        raise
    return Written(len(wanted), len(keys) - len(wanted))
