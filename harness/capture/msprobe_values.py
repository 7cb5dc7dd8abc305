"""The values of a tensor of msprobe's dump: a file of numpy's or of PyTorch's beside ``dump.json``."""

from __future__ import annotations

import os
from typing import Any

from harness import dtypes
from harness.capture import npy, torch_files
from harness.capture.msprobe_steps import StepDirectory
from harness.capture.narrowing import as_dtype
from harness.capture.values import EAGER_BYTES, FileValues
from harness.dtypes import DType
from harness.dump.msprobe.step_files import TENSORS
from harness.errors import TreeError
from harness.reading import refuse_outside
from harness.records import Record


class Left(Exception):
    """Values that cannot be used: the file's name, the kind of the problem, why, and whether there is no such file."""

    def __init__(self, name: str, kind: str, why: str, absent: bool = False) -> None:
        super().__init__(why)
        self.name, self.kind, self.why, self.absent = name, kind, why, absent


def give_values(record: Record, dtype: DType, name: Any, where: StepDirectory, root: str) -> None:
    """Gives a record the values of the file called ``name``.

    Raises:
        Left: there is no such file, or not of this dtype and shape.
        TreeError: a link leaves the dump.
    """
    plain = isinstance(name, str) and os.path.basename(name) == name and name.endswith((".npy", ".pt"))
    if not plain or not _is_name(name):
        raise Left(str(name)[:255], "skipped", "no name of an .npy or a .pt file")
    path = os.path.join(where.path, TENSORS, name)
    refuse_outside(path, root, TreeError)
    try:
        (_of_torch if name.endswith(".pt") else _of_numpy)(record, dtype, path, where.file, root)
    except (npy.Incomplete, ValueError, OSError) as error:
        kind = "incomplete" if isinstance(error, npy.Incomplete) else "damaged"
        why = error.strerror or "" if isinstance(error, OSError) else str(error)
        raise Left(name, kind, why or str(error), isinstance(error, FileNotFoundError)) from None


def _is_name(name: str) -> bool:
    """Whether the system can have a file of this name."""
    try:
        return b"\0" not in os.fsencode(name)
    except UnicodeEncodeError:
        return False


def _of_numpy(record: Record, dtype: DType, path: str, file_of_step: str, root: str) -> None:
    file = npy.NpyFile(path, root)
    try:
        header, array = file.begin(limit=EAGER_BYTES)
        held = npy.dtype_named(header, dtype.name)
        _require_shape(header.shape, record, file_of_step)
        hot = as_dtype(array, held) if array is not None else None
    except BaseException:
        file.close()
        raise
    record.values = values = FileValues(path, dtype.name, record.shape, None, hot, root)
    if hot is None:
        values.opened = file
    else:
        file.close()


def _of_torch(record: Record, dtype: DType, path: str, file_of_step: str, root: str) -> None:
    held = torch_files.items(path, root)
    if len(held) != 1 or held[0].name or not isinstance(held[0].value, torch_files.StoredTensor):
        raise ValueError("it holds no single tensor")
    stored = held[0].value
    _require_shape(stored.shape, record, file_of_step)
    if stored.dtype is not dtype:
        raise ValueError(f"its dtype is {stored.dtype.name}, {file_of_step} says {dtypes.by_name(record.dtype).name}")
    record.values = stored() if stored.size <= EAGER_BYTES else stored


def _require_shape(shape: tuple[int, ...], record: Record, file_of_step: str) -> None:
    if shape != record.shape:
        raise ValueError(f"its shape is {shape}, {file_of_step} says {record.shape}")
