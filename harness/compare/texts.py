"""Compares texts that are results (arguments of operators, what a watch looked at), line by line."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import zip_longest
from typing import NamedTuple

MAX_SHOWN = 120


class TextDifference(NamedTuple):
    """The first line in which two texts differ.

    Attributes:
        name: of the text.
        line: its number, from 1.
        expected, found: the line of each side; None beyond the end of a text.
    """

    name: str
    line: int
    expected: str | None
    found: str | None

    def __str__(self) -> str:
        return f"{self.name}, line {self.line}: expected {_shown(self.expected)}, found {_shown(self.found)}"


def differences(expected: Mapping[str, bytes], found: Mapping[str, bytes]) -> list[TextDifference]:
    """Of each text that differs, or that one side lacks, its first difference; sorted by name."""
    names = sorted(expected.keys() | found.keys())
    return [
        _first(name, expected.get(name), found.get(name)) for name in names if expected.get(name) != found.get(name)
    ]


def _first(name: str, expected: bytes | None, found: bytes | None) -> TextDifference:
    sides = [[] if side is None else side.decode("utf-8", "replace").split("\n") for side in (expected, found)]
    for number, (left, right) in enumerate(zip_longest(*sides), 1):
        if left != right:
            return TextDifference(name, number, left, right)
    # Bytes that are no text show alike.
    return TextDifference(name, 1, repr(expected), repr(found))


def _shown(line: str | None) -> str:
    if line is None:
        return "nothing"
    text = line.strip()
    return repr(text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 3] + "...")
