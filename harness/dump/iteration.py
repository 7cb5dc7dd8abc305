"""The ``iteration`` field: which step labels are dumped.

Measured on 2.10.0: parts are split on ``|``; ``n`` is one label, ``a-b`` a range with both ends; a part of any other
shape (an open range, a reversed one, two dashes, an empty one) selects nothing and is no error.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

ALL = "all"
UINT64_MAX = 2**64 - 1

_ALLOWED = re.compile(r"[0-9|-]+")
_PART = re.compile(r"([0-9]+)(?:-([0-9]+))?")
_MAX_DIGITS = 4000


@dataclass(frozen=True, slots=True)
class IterationSet:
    """A set of step labels.

    Attributes:
        text: as the configuration gives it.
        everything: every label is in it.
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
    """Value of ``digits``; of absurdly long ones only that they are over 64 bits."""
    digits = digits.lstrip("0")
    return int(digits or "0") if len(digits) < _MAX_DIGITS else UINT64_MAX + 1
