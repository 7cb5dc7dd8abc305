"""Names of dump files, of every generation, taken apart.

Source: MindSpore 2.10.0 CPU trees (measured); older and Ascend forms from its documents and tests.
"""

from __future__ import annotations

from typing import NamedTuple

_IO = ("input", "output")


class FileName(NamedTuple):
    """The fields of a tensor file's name.

    Attributes:
        op_type: primitive name, or ``Parameter``.
        op_name: the operator's full name (a parameter's name) after mangling; unmangled in rows of ``mapping.csv`` that
            our writer adds where two names mangle alike.
        timestamp: microseconds since 1970.
        io: ``input`` or ``output``.
        slot: position in the flattened argument or output list.
        format: ``DefaultFormat`` or a device format.
        dtype: as spelled in the name (``Float32``, ``float32``); None where the name has none (older releases).
    """

    op_type: str
    op_name: str
    task: int
    stream: int
    timestamp: int
    io: str
    slot: int
    format: str
    dtype: str | None


def parse(file_name: str) -> FileName | None:
    """Takes a file name apart; None if it is not the name of a tensor file.

    Fields are counted from the right, because only type and name are free text. The dtype may be missing or in any
    case, and names may hold dots (rows of ``mapping.csv``).
    """
    parts = file_name.split(".")
    if parts.pop() != "npy" or len(parts) < 8:
        return None
    # ... task, stream, timestamp, io, slot, format[, dtype]
    dtype = None
    if parts[-3] in _IO and parts[-2].isdecimal():
        at = len(parts) - 3
    elif parts[-4] in _IO and parts[-3].isdecimal():
        at = len(parts) - 4
        dtype = parts[-1]
    else:
        return None
    if at < 5:
        return None
    task, stream, timestamp = parts[at - 3 : at]
    if not (task.isdecimal() and stream.isdecimal() and timestamp.isdecimal()):
        return None
    name = parts[1] if at == 5 else ".".join(parts[1 : at - 3])
    return FileName(
        parts[0], name, int(task), int(stream), int(timestamp), parts[at], int(parts[at + 1]), parts[at + 2], dtype
    )
