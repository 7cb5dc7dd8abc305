"""Parses the names of dump files of every generation.

Source: MindSpore 2.10.0 CPU trees (measured); older and Ascend forms from its documents and tests.
"""

from __future__ import annotations

import re
from sys import intern
from typing import NamedTuple

_IO = ("input", "output")
LARGEST = 2**31 - 1
"""The largest slot and graph."""
_LARGEST_LABEL = 2**32 - 1
_DIGITS = 20
#: Times from here on are not those of known kinds.
_LATEST = 10**18
#: What stands behind the time in a name of today.
_END = re.compile(r"(input|output)\.(\d{1,10})\.([^.]*)\.([^.]*)\.npy", re.ASCII)
#: Above every slot: outputs come after inputs.
_OUTPUT = 2**32


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


#: Type, name, task and stream of a name, and what stands behind its time.
_Texts = tuple[str, str, str, str, str]


class NameKinds:
    """What names of files have in common but for their times: taken apart once, because a million files may be a
    thousand tensors at a thousand times.

    Attributes:
        names: one of each kind, at the time 0.
        texts: its parts but for the time, as they are written.
        owners: a number of each, for its first two fields.
        places: a number of each that grows from slot to slot, outputs after inputs.
    """

    #: Kinds that are remembered: of more, each name is taken apart by itself.
    MOST = 65_536

    def __init__(self) -> None:
        self.names: list[FileName] = []
        self.texts: list[_Texts] = []
        self.owners: list[int] = []
        self.places: list[int] = []
        self._known: dict[tuple[str, str], int] = {}
        self._numbers: dict[_Texts, int] = {}
        self._ends: dict[str, tuple[str, int, str, str] | None] = {}
        self._tasks: dict[tuple[str, str], tuple[int, int]] = {}

    def find(self, file_name: str) -> tuple[int, int] | None:
        """The kind of a name and its time; None for what is not remembered, or not written in today's way."""
        parts = file_name.split(".", 5)
        if len(parts) != 6:
            return None
        op_type, op_name, task, stream, time, end = parts
        # int() of a time must be written in the same way, so that the name can be put together again.
        try:
            number_of_time = int(time)
        except ValueError:
            return None
        if not 0 <= number_of_time < _LATEST or str(number_of_time) != time:
            return None
        key = op_type, op_name, task, stream, end
        number = self._numbers.get(key)
        if number is None and (number := self._add(key)) is None:
            return None
        return number, number_of_time

    def _add(self, key: _Texts) -> int | None:
        op_type, op_name, task, stream, text = key
        end, numbers = self._end(text), self._tasks.get((task, stream))
        if numbers is None and _are_numbers(task, stream):
            numbers = self._tasks[task, stream] = int(task), int(stream)
        if end is None or numbers is None or len(self.names) >= self.MOST:
            return None
        number = self._numbers[key] = len(self.names)
        # Texts are shared: there may be a million files of a thousand operators.
        name = _new(FileName, (intern(op_type), intern(op_name), *numbers, 0, *end))
        self.names.append(name)
        self.texts.append(key)
        self.owners.append(self.owner(name))
        self.places.append(place_of(name))
        return number

    def _end(self, text: str) -> tuple[str, int, str, str] | None:
        """What stands behind the time: few texts, each read once."""
        try:
            return self._ends[text]
        except KeyError:
            match = _END.fullmatch(text)
            found = None
            if match is not None and int(match[2]) <= LARGEST:
                found = intern(match[1]), int(match[2]), intern(match[3]), intern(match[4])
            if len(self._ends) >= self.MOST:
                self._ends.clear()
            self._ends[text] = found
            return found

    def owner(self, name: FileName) -> int:
        """The number of a name's first two fields; names that are not remembered have one, too."""
        return self._known.setdefault(name[:2], len(self._known))

    def name(self, kind: int, time: int) -> tuple[FileName, str]:
        """The name of a kind at a time, and how it is written."""
        op_type, op_name, task, stream, _, io, slot, layout, dtype = self.names[kind]
        whole = op_type, op_name, task, stream, time, io, slot, layout, dtype
        _, _, first, second, end = self.texts[kind]
        return _new(FileName, whole), f"{op_type}.{op_name}.{first}.{second}.{time}.{end}"


#: Makes a name in half the time of ``FileName``.
_new = tuple.__new__


def place_of(name: FileName) -> int:
    """A number that grows from slot to slot, outputs after inputs."""
    return name.slot + (name.io == "output") * _OUTPUT


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
