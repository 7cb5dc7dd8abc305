"""Parses the names of dump files of every generation.

Source: MindSpore 2.10.0 CPU trees (measured); older and Ascend forms from its documents and tests.
"""

from __future__ import annotations

from sys import intern
from typing import NamedTuple

_IO = ("input", "output")
LARGEST = 2**31 - 1
"""The largest slot and graph."""
_LARGEST_LABEL = 2**32 - 1
_DIGITS = 20


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
    """Parses a file name; None if it is not the name of a tensor file.

    Fields are counted from the right, because only the type and the name are free text. The dtype may be missing or in
    any case, and names may hold dots (rows of ``mapping.csv``).
    """
    parts = file_name.split(".")
    if len(parts) == 10 and parts[9] == "npy" and parts[5] in _IO:
        # Matches nearly every current file; the rest is parsed with more care.
        task, stream, time, slot = parts[2], parts[3], parts[4], parts[6]
        if not (_are_numbers(task, stream, time) and is_number(slot)):
            return None
        return _made(parts)
    return _parse_other(parts)


def parsed_again(file_name: str) -> FileName:
    """Takes a file name apart that ``parse`` took apart before: nothing is looked at twice."""
    parts = file_name.split(".")
    found = _made(parts) if len(parts) == 10 and parts[9] == "npy" and parts[5] in _IO else _parse_other(parts)
    assert found is not None
    return found


def _made(parts: list[str]) -> FileName:
    """Of the fields of a name of today. Texts are shared: there may be a million files of a thousand operators."""
    op_type, op_name, io, layout, dtype = map(intern, (parts[0], parts[1], parts[5], parts[7], parts[8]))
    return FileName(op_type, op_name, int(parts[2]), int(parts[3]), int(parts[4]), io, int(parts[6]), layout, dtype)


def is_number(text: str) -> bool:
    """Whether a text is the number of a slot or a graph: decimal digits, at most 31 bits."""
    return text.isdecimal() and text.isascii() and len(text) <= 10 and int(text) <= LARGEST


def is_label(text: str) -> bool:
    """Whether a text is an iteration's label: decimal digits, at most 32 bits (MindSpore counts in so many)."""
    return text.isdecimal() and text.isascii() and len(text) <= 10 and int(text) <= _LARGEST_LABEL


def _are_numbers(*texts: str) -> bool:
    """Whether texts are tasks, streams and times: up to 20 decimal digits."""
    whole = "".join(texts)
    return whole.isdecimal() and whole.isascii() and all(texts) and max(map(len, texts)) <= _DIGITS


def _parse_other(parts: list[str]) -> FileName | None:
    if parts.pop() != "npy" or len(parts) < 8:
        return None
    # ... task, stream, timestamp, io, slot, format[, dtype]
    at = len(parts) - 3 if parts[-3] in _IO and is_number(parts[-2]) else len(parts) - 4
    if at < 5 or parts[at] not in _IO:
        return None
    task, stream, timestamp, slot = *parts[at - 3 : at], parts[at + 1]
    if not (_are_numbers(task, stream, timestamp) and is_number(slot)):
        return None
    dtype = parts[at + 3] if at + 3 < len(parts) else None
    name = ".".join(parts[1 : at - 3])
    return FileName(parts[0], name, int(task), int(stream), int(timestamp), parts[at], int(slot), parts[at + 2], dtype)
