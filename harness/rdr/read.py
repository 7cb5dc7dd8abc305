"""Reads the texts of the recorder: MindSpore's and ours, by the same rules.

Memory plans are read by ``harness.memory.parse``, graphs by ``harness.graph``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from harness.errors import ArtefactError
from harness.memory.addresses import Address, Addresses
from harness.rdr.recorders.execution_order import HEADING, OrderEntry

MAX_CHARACTERS = 1 << 28
"""Largest length of a text; longer ones are refused."""
_SIZE = re.compile(r"execution_order size: ([0-9]{1,9})")
_NUMBER = re.compile(r"\t([0-9]{1,10})")
_GROUP = re.compile(r"kernel_(inputs|workspaces|outputs) ([0-9]{1,9})")
_ADDRESS = re.compile(r"&(0|0x[0-9a-f]{1,16}) #([0-9]{1,19})")
_GROUPS = ("inputs", "workspaces", "outputs")


def execution_orders(text: str, where: str = "the text") -> list[tuple[OrderEntry, ...]]:
    """The blocks of a ``graph_exec_order`` file, one for each export.

    The text of a kernel may go over several lines (values of tensors).

    Args:
        text: the whole file.
        where: what errors call it.

    Raises:
        ArtefactError: a line is wrong; the message names it.
    """
    lines = _Lines(text, where)
    blocks = []
    while not lines.ended:
        lines.expect(HEADING)
        size = int(lines.match(_SIZE, "the number of kernels")[1])
        blocks.append(tuple(_kernel(lines, at) for at in range(size)))
        lines.expect(HEADING)
    return blocks


def _kernel(lines: _Lines, at: int) -> OrderEntry:
    lines.expect(f"{at}:")
    parts = [lines.next()]
    if not parts[0].startswith("\t"):
        raise lines.error("a kernel's text, behind a tab")
    # The text ends where two numbers stand behind tabs and nothing of the kernel follows.
    following = (f"{at + 1}:", HEADING)
    while not (
        _NUMBER.fullmatch(lines.peek()) and _NUMBER.fullmatch(lines.peek(1)) and lines.peek(2) in following
    ):  # fmt: skip
        parts.append(lines.next())
    label, graph = (int(lines.match(_NUMBER, "a number behind a tab")[1]) for _ in range(2))
    return OrderEntry("\n".join(parts)[1:], label, graph)


@dataclass(frozen=True, slots=True)
class KernelMemory:
    """One kernel of a ``mem_address_list``.

    Attributes:
        name: full name.
        addresses: entries that have a line.
        counts: numbers of inputs, workspaces and results, including those without an address.
    """

    name: str
    addresses: Addresses
    counts: tuple[int, int, int]


def memory_addresses(text: str, where: str = "the text") -> list[KernelMemory]:
    """The kernels of a ``mem_address_list`` file; arguments and errors as ``execution_orders``."""
    lines = _Lines(text, where)
    kernels = []
    while not lines.ended:
        name = lines.next()
        if not name:
            raise lines.error("the name of a kernel")
        groups = [_group(lines, title) for title in _GROUPS]
        lines.expect("")
        counts = (groups[0][0], groups[1][0], groups[2][0])
        kernels.append(KernelMemory(name, Addresses(groups[0][1], groups[1][1], groups[2][1]), counts))
    return kernels


def _group(lines: _Lines, title: str) -> tuple[int, tuple[Address, ...]]:
    found = lines.match(_GROUP, f"kernel_{title} and a number")
    if found[1] != title:
        raise lines.error(f"kernel_{title}")
    count, entries = int(found[2]), []
    while not lines.ended and (entry := _ADDRESS.fullmatch(lines.peek())):
        lines.next()
        entries.append(Address(int(entry[1], 16), int(entry[2])))
        if len(entries) > count:
            raise lines.error(f"at most {count} addresses")
    return count, tuple(entries)


class _Lines:
    """The lines of a text that ends with a newline, one after the other."""

    def __init__(self, text: str, where: str) -> None:
        if len(text) > MAX_CHARACTERS:
            raise ArtefactError(f"{where}: {len(text)} characters; at most {MAX_CHARACTERS} are read")
        self._where = where
        self._at = 0
        self._lines = text.split("\n")
        if self._lines.pop():
            self._at = len(self._lines) + 1
            raise self.error("a newline at the end")

    @property
    def ended(self) -> bool:
        """No line is left."""
        return self._at >= len(self._lines)

    def peek(self, ahead: int = 0) -> str:
        """A line that comes, without taking it."""
        if self._at + ahead >= len(self._lines):
            self._at = len(self._lines) + 1
            raise self.error("another line")
        return self._lines[self._at + ahead]

    def next(self) -> str:
        """Takes a line."""
        line = self.peek()
        self._at += 1
        return line

    def expect(self, line: str) -> None:
        """Takes a line that must be ``line``."""
        if self.next() != line:
            raise self.error(repr(line))

    def match(self, pattern: re.Pattern[str], what: str) -> re.Match[str]:
        """Takes a line that must match ``pattern``."""
        found = pattern.fullmatch(self.next())
        if found is None:
            raise self.error(what)
        return found

    def error(self, accepted: str) -> ArtefactError:
        """What is wrong with the line taken last."""
        given = self._lines[self._at - 1][:80] if 0 < self._at <= len(self._lines) else "the end"
        return ArtefactError(f"{self._where}, line {self._at}: {given!r}; accepted: {accepted}")
