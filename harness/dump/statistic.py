"""``statistic.csv``: one row per tensor, in the directory of its file.

Source: dump_output.md section 8; the rows, the header and the file's modes are those of MindSpore 2.10.0's own writer.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.dtypes import DType, int4
from harness.dump.config import DumpConfig
from harness.dump.names import row_text
from harness.dump.writer import FILE_MODE, Directory
from harness.stats.printed import COLUMNS, Array, device_texts, host_texts

FILE = "statistic.csv"
BASE = (
    "Op Type", "Op Name", "Task ID", "Stream ID", "Timestamp", "IO", "Slot", "Data Size", "Data Type", "Shape",
)  # fmt: skip
APPENDED_MODE = 0o600
"""Mode of the file once a second row was appended (measured; the first row leaves 0400)."""


def header(items: Sequence[str]) -> str:
    """The first line without its line end; it has no comma after the last column (the rows have one)."""
    return ",".join((*BASE, *(COLUMNS[item] for item in items)))


def row(
    op_type: str,
    name: str,
    stream: int,
    timestamp: int,
    io: str,
    slot: int,
    array: Array,
    dtype: DType,
    texts: Sequence[str],
    task: int = 0,
) -> str:
    """One row, without its line end.

    Args:
        op_type: primitive name, or ``Parameter``.
        name: full name with scope, unmangled.
        stream, timestamp, io, slot, task: as in the tensor's file name.
        array: the dumped tensor; its size in bytes and its shape are columns (for Int4: 0 and none, measured).
        dtype: dtype of its elements.
        texts: texts of the items (``host_texts``, ``device_texts``).
    """
    size, sizes = (0, ()) if dtype is int4 else (array.nbytes, array.shape)
    shape = ",".join(map(str, sizes))
    first = (
        _cell(op_type),
        _cell(row_text(name)),
        task,
        stream,
        timestamp,
        io,
        slot,
        size,
        dtype.lower,
        f'"[{shape}]"',
    )
    return ",".join((*map(str, first), *texts, ""))


def _cell(text: str) -> str:
    """``text`` as a cell; quoted if it holds a comma or a quote."""
    return '"' + text.replace('"', '""') + '"' if "," in text or '"' in text else text


class StatisticRows:
    """Collects rows and appends them, one kernel at a time.

    Args:
        config: configuration; its ``statistic_category`` gives the columns.
    """

    def __init__(self, config: DumpConfig) -> None:
        self._items = config.statistic_category
        self._on_device = config.stat_calc_mode == "device"
        self._high = config.device_stat_precision_mode == "high"
        self._header = header(self._items)
        self._rows: list[str] = []

    def add(
        self, op_type: str, name: str, stream: int, timestamp: int, io: str, slot: int, array: Array, dtype: DType
    ) -> bool:
        """Calculates and keeps one tensor's row; see ``row``. Complex tensors have none (documented)."""
        if dtype.kind == "c":
            return False
        if self._on_device:
            texts = device_texts(array, dtype, self._items, high=self._high)
        else:
            texts = host_texts(array, dtype, self._items)
        self._rows.append(row(op_type, name, stream, timestamp, io, slot, array, dtype, texts))
        return True

    def write(self, directory: Directory) -> bool:
        """Appends the rows kept to the directory's file; see ``Directory.append_table``."""
        rows, self._rows = self._rows, []
        return bool(rows) and directory.append_table(FILE, self._header, rows, FILE_MODE, APPENDED_MODE)
