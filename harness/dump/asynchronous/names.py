"""Names of asynchronous dump files: ``{op type}.{op name}.{task}.{stream}.{timestamp}``, without a suffix.

The operator's name changed over the releases: up to 1.4 the scopes were joined by ``--``; up to 2.2 only the last
component of the scope was used (``Conv2D.Conv2D-op12...``); later the whole name with ``_`` for ``/``. Sources:
MindSpore's documents and public source; msaccucmp, which refuses names of 255 bytes.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Literal, NamedTuple

from harness.dump.names import MAX_MAPPED_NUMBER, mangle, row_text
from harness.dump.rules import GENERATIONS
from harness.dump.writer import MAPPING, Buffer, Directory

MAX_NAME_BYTES = 254
Style = Literal["joined", "short", "whole"]
EARLIER: tuple[Style, ...] = ("joined", "short")
"""Styles of releases up to 2.2, which the newest lacks."""


def style_of(generation: str) -> Style:
    """The style of operators' names in files, for a configuration's generation."""
    at = GENERATIONS.index(generation)
    return "joined" if at < 2 else "short" if at < 4 else "whole"


def op_name(full_name: str, style: Style) -> str:
    """The operator's name in a file name: without ``/``, ``.`` and blanks."""
    if style == "joined":
        return mangle(full_name.replace("/", "--"))
    return mangle(full_name.rpartition("/")[2] if style == "short" else full_name)


def base_name(op_type: str, name: str, task: int, stream: int, timestamp: int) -> str:
    """The name of a raw file; ``name`` is what ``op_name`` gives."""
    return f"{mangle(op_type)}.{name}.{task}.{stream}.{timestamp}"


class RawName(NamedTuple):
    """The fields of a raw file's name.

    Attributes:
        op_type: primitive name, or ``Opdebug``.
        op_name: mangled.
        task, stream: ids; 65535 where unknown (a name may lack the stream).
        timestamp: microseconds since 1970.
    """

    op_type: str
    op_name: str
    task: int
    stream: int
    timestamp: int


UNKNOWN = 65535
_TAIL = 4
"""Fields after the timestamp for kernels that run in slices: task type, context, thread, device."""


def parse(file_name: str) -> RawName | None:
    """Parses a raw file's name; None for any other name.

    Fields are counted from the left, as neither type nor name holds a dot: task, perhaps stream, timestamp, perhaps
    four numbers of a slice.
    """
    parts = file_name.split(".")
    numbers = parts[2:]
    if len(parts) < 4 or not parts[0] or not parts[1] or not all(p.isascii() and p.isdecimal() for p in numbers):
        return None
    if len(numbers) > _TAIL:
        del numbers[-_TAIL:]
    if len(numbers) not in (2, 3) or any(len(part) > 20 for part in numbers):
        return None
    task, stream, timestamp = numbers[0], numbers[1] if len(numbers) == 3 else str(UNKNOWN), numbers[-1]
    return RawName(parts[0], parts[1], int(task), int(stream), int(timestamp))


def write_named(directory: Directory, name: str, buffers: Sequence[Buffer], suffix: str = "") -> bool:
    """Writes a file under ``name``, or under a number if the name is too long or ambiguous.

    The row ``number,name`` follows the file into ``mapping.csv``, so that each row's file exists.

    Args:
        name: name without ``suffix``; if it is not a valid file name, it goes to the mapping.
        suffix: suffix, which the number also gets (``.npy``).
    """
    whole = name + suffix
    if len(whole.encode()) <= MAX_NAME_BYTES and mangle(whole.replace(".", "")) == whole.replace(".", ""):
        return directory.write(whole, buffers)
    number = f"{secrets.randbelow(MAX_MAPPED_NUMBER) + 1}{suffix}"
    while directory.exists(number):
        number = f"{secrets.randbelow(MAX_MAPPED_NUMBER) + 1}{suffix}"
    return directory.write(number, buffers) and directory.append(MAPPING, f"{number},{row_text(whole)}")
