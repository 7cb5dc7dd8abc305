"""Writes the files of one execution of an operator, in the queue's thread."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from harness import dtypes
from harness.devices.formats import Layout
from harness.dtypes import DType
from harness.dump import npy, statistic
from harness.dump.asynchronous.dump_data import HOLE, Entry, Header, Payload, encode, entry_of
from harness.dump.asynchronous.memory import Array
from harness.dump.asynchronous.names import write_named
from harness.dump.config import DumpConfig
from harness.dump.writer import FILE_MODE, Directory
from harness.stats.printed import host_texts


@dataclass(frozen=True, slots=True)
class Tensor:
    """One slot, ready to be written.

    Attributes:
        io: ``input`` or ``output``.
        slot: position.
        array: the tensor in host layout.
        dtype: dtype of its elements.
        layout: its layout on the device.
    """

    io: str
    slot: int
    array: Array
    dtype: DType
    layout: Layout

    @property
    def host_format(self) -> str:
        """The format of host layout in names and headers: NCHW for rank 4, else ND."""
        return "NCHW" if self.array.ndim == 4 else "ND"


@dataclass(frozen=True, slots=True)
class DumpedExecution:
    """One execution of an operator.

    Attributes:
        base: file name of the operator, ``{type}.{name}.{task}.{stream}.{timestamp}``.
        op_type: primitive name.
        op_name: full name with scope.
        ids: task and stream.
        timestamp: microseconds since 1970.
        tensors: by io (inputs first) and slot.
    """

    base: str
    op_type: str
    op_name: str
    ids: tuple[int, int]
    timestamp: int
    tensors: tuple[Tensor, ...]


def writing_cost(array: Array, dtype: DType, layout: Layout, *, raw: bool) -> int:
    """The additional bytes that writing ``array`` takes: its device form, or its widened values."""
    if not raw:
        return 2 * array.nbytes if dtype is dtypes.bfloat16 else 0
    if layout.is_default:
        return 0
    # It is padded, then reordered.
    return 2 * prod(layout.device_shape(array.shape, dtype)) * dtype.itemsize


def raw_file(execution: DumpedExecution) -> list[Payload]:
    """The buffers of a file in the ``DumpData`` framing, with tensors in device layout."""
    entries: dict[str, list[Entry]] = {"input": [], "output": []}
    payloads: dict[str, list[Payload]] = {"input": [], "output": []}
    for tensor in execution.tensors:
        array, groups = tensor.array, tensor.layout.groups
        name = tensor.host_format
        if not tensor.layout.is_default and array.size:
            array, name = tensor.layout.to_device(array), tensor.layout.format
        entry, payload = entry_of(array, tensor.dtype, name, tensor.array.shape, groups if groups > 1 else 0)
        entries[tensor.io] += [HOLE] * (tensor.slot - len(entries[tensor.io]))
        entries[tensor.io].append(entry)
        payloads[tensor.io].append(payload)
    header = Header(execution.op_name, execution.timestamp, tuple(entries["input"]), tuple(entries["output"]))
    return [encode(header), *payloads["input"], *payloads["output"]]


def write_raw(directory: Directory, execution: DumpedExecution) -> None:
    """One file for the operator; ``DumpWriteError`` if the disk fails."""
    write_named(directory, execution.base, raw_file(execution))


def npy_name(base: str, tensor: Tensor, *, with_dtype: bool) -> str:
    """``{base}.{io}.{slot}.{format}.{dtype}``.

    Releases up to 2.2 omitted the dtype; here bfloat16, which is written as float32, is named anyway.
    """
    name = f"{base}.{tensor.io}.{tensor.slot}.{tensor.host_format}"
    return f"{name}.{tensor.dtype.lower}" if with_dtype or tensor.dtype is dtypes.bfloat16 else name


def write_saved(config: DumpConfig, with_dtype: bool, directory: Directory, execution: DumpedExecution) -> None:
    """In the host's order, as ``saved_data`` says: a ``.npy`` for each tensor with elements, a row of statistics, or
    both."""
    tensors = [tensor for tensor in execution.tensors if tensor.array.size]
    if config.keeps_tensors:
        for tensor in tensors:
            name = npy_name(execution.base, tensor, with_dtype=with_dtype)
            write_named(directory, name, npy.encode(tensor.array, tensor.dtype), ".npy")
    if config.keeps_statistics:
        items = config.statistic_category
        rows = [_row(execution, tensor, items) for tensor in tensors if tensor.dtype.kind != "c"]
        if rows:
            directory.append_table(statistic.FILE, statistic.header(items), rows, FILE_MODE, statistic.APPENDED_MODE)


def _row(execution: DumpedExecution, tensor: Tensor, items: tuple[str, ...]) -> str:
    (task, stream), array = execution.ids, tensor.array
    texts = host_texts(array, tensor.dtype, items)
    return statistic.row(
        execution.op_type, execution.op_name, stream, execution.timestamp, tensor.io, tensor.slot, array, tensor.dtype,
        texts, task,
    )  # fmt: skip


def write_record(directory: Directory, base: str, timestamp: int, op_name: str, content: bytes) -> None:
    """An overflow record in the framing: one output of bytes."""
    entry, payload = entry_of(np.frombuffer(content, np.uint8), dtypes.uint8, "ND", (len(content),))
    write_named(directory, base, [encode(Header(op_name, timestamp, outputs=(entry,))), payload])
