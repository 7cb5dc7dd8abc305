"""The ``iteration`` field: the labels of the steps to dump.

Measured on 2.10.0: parts are split on ``|``; ``n`` is one label, ``a-b`` a range with both ends; a part of any other
shape (an open range, a reversed one, two dashes, an empty one) selects nothing and is not an error.

Earlier releases read the same text differently (``GRAMMARS``): public source of 1.1 to 2.2.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType

ALL = "all"
UINT64_MAX = 2**64 - 1

_ALLOWED = re.compile(r"[0-9|-]+")
_PART = re.compile(r"([0-9]+)(?:-([0-9]+))?")
_SPACED = re.compile(r" *([|-]) *")
_LEADING = re.compile(r"[ \t\n\v\f\r]*([+-]?)([0-9]+)")
_MAX_DIGITS = 4000


@dataclass(frozen=True, slots=True)
class IterationSet:
    """A set of step labels.

    Attributes:
        text: the text in the configuration.
        everything: whether every label is in it.
        ranges: pairs of first and last label, each at most 64 bits wide.
        oversized: parts that hold a number over 64 bits; they select nothing.
    """

    text: str
    everything: bool = False
    ranges: tuple[tuple[int, int], ...] = ()
    oversized: tuple[str, ...] = ()

    def __contains__(self, label: object) -> bool:
        if not isinstance(label, int):
            return False
        return self.everything or any(first <= label <= last for first, last in self.ranges)


EVERYTHING = IterationSet(ALL, everything=True)


def is_wellformed(text: str) -> bool:
    """Whether the field takes ``text``: exactly ``all``, or digits, ``-`` and ``|`` only (and at least one)."""
    return text == ALL or _ALLOWED.fullmatch(text) is not None


def parse(text: str) -> IterationSet:
    """Reads a well-formed ``iteration`` (``ValueError`` for any other)."""
    if not is_wellformed(text):
        raise ValueError(f"iteration takes digits, '-' and '|', or exactly 'all', not {text!r}")
    if text == ALL:
        return EVERYTHING
    ranges: list[tuple[int, int]] = []
    oversized: list[str] = []
    for part in text.split("|"):
        match = _PART.fullmatch(part)
        if match is None:
            continue
        first, last = _number(match[1]), _number(match[2] or match[1])
        if first > UINT64_MAX or last > UINT64_MAX:
            oversized.append(part)
        elif first <= last:
            ranges.append((first, last))
    return IterationSet(text, ranges=tuple(ranges), oversized=tuple(oversized))


def _number(digits: str) -> int:
    """Value of ``digits``; for absurdly long ones only that they exceed 64 bits."""
    digits = digits.lstrip("0")
    return int(digits or "0") if len(digits) < _MAX_DIGITS else UINT64_MAX + 1


def parse_spaced(text: str) -> IterationSet:
    """As ``parse``; blanks around ``|`` and ``-`` do not count.

    The documents write them (``0 | 5-8 | 100-120``); 2.10.0 itself refuses them (measured).
    """
    found = parse(_SPACED.sub(r"\1", text))
    return IterationSet(text, found.everything, found.ranges, found.oversized)


def parse_converted(text: str) -> IterationSet:
    """Reads the field as releases 1.3 and 1.4 did: the text between the separators goes through C's ``strtoul``.

    It skips blanks, accepts a sign, and stops at the first non-digit (so ``1-2-3`` is 1 to 2); ends of a range are
    cut to 32 bits.

    Raises:
        ValueError: a part holds no number, or one over 64 bits (the original fails when it tests the first step).
    """
    if text == ALL:
        return EVERYTHING
    ranges: list[tuple[int, int]] = []
    for part in text.split("|"):
        first, dash, last = part.partition("-")
        if dash:
            low, high = _converted(first) % 2**32, _converted(last) % 2**32
            if low <= high:
                ranges.append((low, high))
        else:
            ranges.append((_converted(part),) * 2)
    return IterationSet(text, ranges=tuple(ranges))


def parse_strict(text: str) -> IterationSet:
    """Reads the field as releases 1.5 to 1.7 did: only digits, ``-``, ``|`` (and blanks around them), converted as
    ``parse_converted`` does, with its errors."""
    plain = _SPACED.sub(r"\1", text)
    if not is_wellformed(plain):
        raise ValueError(f"iteration takes digits, '-' and '|', or exactly 'all', not {text!r}")
    found = parse_converted(plain)
    return IterationSet(text, found.everything, found.ranges)


def single(number: int, *, zero_is_all: bool) -> IterationSet:
    """The integer of releases 1.0 to 1.2: one step; 0 is every step in the synchronous dump."""
    if number == 0 and zero_is_all:
        return IterationSet("0", everything=True)
    return IterationSet(str(number), ranges=((number, number),))


def _converted(text: str) -> int:
    match = _LEADING.match(text)
    if match is None:
        raise ValueError(f"no number in {text[:80]!r}")
    number = _number(match[2])
    if number > UINT64_MAX:
        raise ValueError(f"{match[2][:80]} is over 64 bits")
    return -number % 2**64 if match[1] == "-" else number


GRAMMARS: MappingProxyType[str, tuple[Callable[[str], IterationSet], str]] = MappingProxyType(
    {
        "spaced": (parse_spaced, "digits, '-' and '|', such as '0 | 5-8', or exactly 'all'"),
        "strict": (parse_strict, "numbers and ranges of numbers, such as '0 | 5-8', or exactly 'all'"),
        "converted": (parse_converted, "numbers and ranges of numbers, such as '0 | 5-8', or exactly 'all'"),
    }
)
"""The releases' ways to read the text: the reader (``ValueError`` if it refuses), and what it accepts, in words."""
