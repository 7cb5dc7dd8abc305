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


class NameKinds:
    """What names of files have in common but for their times: taken apart once, because a million files may be a
    thousand tensors at a thousand times.

    Attributes:
        names: one of each kind, at the time 0.
        texts: what stands before and behind the time.
        owners: the first two fields of each.
        known: a number for each owner, of kinds and of other names.
    """

    #: Kinds that are remembered: of more, each name is taken apart by itself.
    MOST = 65_536

    def __init__(self) -> None:
        self.names: list[FileName] = []
        self.texts: list[tuple[str, str]] = []
        self.owners: list[tuple[str, str]] = []
        self.known: dict[tuple[str, str], int] = {}
        self._numbers: dict[tuple[str, ...], int] = {}

    def find(self, file_name: str) -> tuple[int, int] | None:
        """The kind of a name and its time; None for what is not remembered, or not written in today's way."""
        parts = file_name.split(".")
        if len(parts) != 10:
            return None
        time, parts[4] = parts[4], ""
        number = self._numbers.get(tuple(parts))
        if number is None and (number := self._new(parts)) is None:
            return None
        # int() of a time must be written in the same way, so that the name can be put together again.
        plain = time.isdecimal() and time.isascii() and len(time) <= 18 and (time[0] != "0" or time == "0")
        return (number, int(time)) if plain else None

    def _new(self, parts: list[str]) -> int | None:
        texts = ".".join(parts[:4]) + ".", "." + ".".join(parts[5:])
        name = parse("0".join(texts))
        if name is None or len(self.names) >= self.MOST or parts[9] != "npy" or parts[5] not in _IO:
            return None
        number = self._numbers[tuple(map(intern, parts))] = len(self.names)
        self.names.append(name)
        self.texts.append(texts)
        self.owners.append((name.op_type, name.op_name))
        return number

    def name(self, kind: int, time: int) -> tuple[FileName, str]:
        """The name of a kind at a time, and how it is written."""
        found, (before, behind) = self.names[kind], self.texts[kind]
        return FileName(*found[:4], time, *found[5:]), f"{before}{time}{behind}"


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
