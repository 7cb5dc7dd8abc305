"""Finds the differences between two texts line by line, in time proportional to the texts and with bounded output.

A line that occurs once in each text anchors the comparison (Cohen's "patience" order: the longest run of such
lines that both texts have in one order); between anchors, short stretches are compared by ``difflib``, and long ones
without any anchor count as replaced.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise, takewhile
from typing import Literal, NamedTuple

Tag = Literal[" ", "-", "+"]
#: Numbers of equal lines around a difference, of all shown lines, and of characters per line.
CONTEXT, LINES, WIDTH = 3, 400, 300
#: Largest product of two stretches' lengths for difflib, whose time grows at least with that product.
_PRODUCT = 40_000
#: Limit of passes times lines, after which the rest counts as replaced.
_LOOKS = 30
_BEFORE = 60


class Opcode(NamedTuple):
    """Lines ``old`` to ``old_end`` of the expected text beside ``new`` to ``new_end`` of the found one; counted from
    0."""

    equal: bool
    old: int
    old_end: int
    new: int
    new_end: int


@dataclass(frozen=True, slots=True)
class Hunk:
    """Differences close to one another, with the lines around them.

    Attributes:
        expected, found: number of its first line in either text, from 1.
        lines: each with its tag: in both, expected only, found only.
    """

    expected: int
    found: int
    lines: tuple[tuple[Tag, str], ...]


@dataclass(frozen=True, slots=True)
class LineDiff:
    """How two texts differ.

    Attributes:
        removed, added: numbers of lines that only one side has.
        hunks: the shown parts.
        left_out: number of removed and added lines outside ``hunks``.
    """

    removed: int
    added: int
    hunks: tuple[Hunk, ...]
    left_out: int


def line_diff(expected: Sequence[str], found: Sequence[str], context: int = CONTEXT, limit: int = LINES) -> LineDiff:
    """Compares two texts.

    Args:
        expected, found: their lines.
        context: number of equal lines to show around a difference.
        limit: number of lines to show in all; of each line at most ``WIDTH`` characters, around the difference.
    """
    parts = blocks(expected, found)
    removed = sum(each.old_end - each.old for each in parts if not each.equal)
    added = sum(each.new_end - each.new for each in parts if not each.equal)
    hunks: list[Hunk] = []
    left = limit
    for group in _groups(parts, context):
        if left <= 0:
            break
        lines = tuple(_lines(expected, found, group))[:left]
        hunks.append(Hunk(group[0].old + 1, group[0].new + 1, lines))
        left -= len(lines)
    shown = sum(tag != " " for hunk in hunks for tag, _ in hunk.lines)
    return LineDiff(removed, added, tuple(hunks), removed + added - shown)


def blocks(expected: Sequence[str], found: Sequence[str]) -> list[Opcode]:
    """Both texts as blocks in order, alternately equal and different; together they hold all lines."""
    result: list[Opcode] = []
    old = new = 0
    for at, other, length in [*_merged(_matches(expected, found)), (len(expected), len(found), 0)]:
        if at > old or other > new:
            result.append(Opcode(False, old, at, new, other))
        if length:
            result.append(Opcode(True, at, at + length, other, other + length))
        old, new = at + length, other + length
    return result


def _merged(matches: Sequence[tuple[int, int, int]]) -> Iterator[tuple[int, int, int]]:
    """Matching stretches in order, those that touch as one."""
    current: tuple[int, int, int] | None = None
    for at, other, length in sorted(matches):
        if current and current[0] + current[2] == at and current[1] + current[2] == other:
            current = current[0], current[1], current[2] + length
            continue
        if current:
            yield current
        current = at, other, length
    if current:
        yield current


def _matches(a: Sequence[str], b: Sequence[str]) -> list[tuple[int, int, int]]:
    """Stretches of equal lines, none crossing another: place in ``a``, in ``b``, length."""
    found: list[tuple[int, int, int]] = []
    waiting = [(0, len(a), 0, len(b))]
    left = _LOOKS * (len(a) + len(b))
    while waiting and left > 0:
        low, high, start, end = waiting.pop()
        left -= high - low + end - start
        head = common(a[low:high], b[start:end])
        tail = common(a[low + head : high][::-1], b[start + head : end][::-1])
        found += [(low, start, head)] if head else []
        found += [(high - tail, end - tail, tail)] if tail else []
        low, start, high, end = low + head, start + head, high - tail, end - tail
        if low == high or start == end:
            continue
        if (high - low) * (end - start) <= _PRODUCT:
            matcher = SequenceMatcher(None, a[low:high], b[start:end], autojunk=False)
            found += [(low + i, start + j, n) for i, j, n in matcher.get_matching_blocks() if n]
            continue
        anchors = _anchors(a[low:high], b[start:end])
        found += [(low + i, start + j, 1) for i, j in anchors]
        if anchors:
            edges = [(-1, -1), *anchors, (high - low, end - start)]
            pairs = pairwise(edges)
            waiting += [(low + i + 1, low + k, start + j + 1, start + m) for (i, j), (k, m) in pairs]
    return found


def _anchors(a: Sequence[str], b: Sequence[str]) -> list[tuple[int, int]]:
    """Lines that occur once in each text and have the same order in both: their places in ``a`` and ``b``."""
    once, again = Counter(a), Counter(b)
    places = {line: at for at, line in enumerate(b) if again[line] == 1}
    pairs = [(at, places[line]) for at, line in enumerate(a) if once[line] == 1 and line in places]
    # The longest increasing run of places in b: ends of runs by length, and what each came after.
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for at, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        before.append(last[length - 1] if length else -1)
        ends[length : length + 1], last[length : length + 1] = [place], [at]
    run = []
    at = last[-1] if last else -1
    while at >= 0:
        run.append(pairs[at])
        at = before[at]
    return run[::-1]


def _groups(parts: Sequence[Opcode], context: int) -> Iterator[list[Opcode]]:
    """Different blocks with ``context`` equal lines around; those that touch are one group."""
    group: list[Opcode] = []
    for at, block in enumerate(parts):
        if not block.equal:
            group.append(block)
            continue
        length = block.old_end - block.old
        first, final = not group, at == len(parts) - 1
        if not first and not final and length <= 2 * context:
            group.append(block)
            continue
        if not first:
            keep = min(context, length)
            yield [*group, block._replace(old_end=block.old + keep, new_end=block.new + keep)]
        keep = min(context, length)
        group = [] if final else [block._replace(old=block.old_end - keep, new=block.new_end - keep)]
    if any(not block.equal for block in group):
        yield group


def _lines(expected: Sequence[str], found: Sequence[str], group: Sequence[Opcode]) -> Iterator[tuple[Tag, str]]:
    for block in group:
        old, new = expected[block.old : block.old_end], found[block.new : block.new_end]
        if block.equal:
            yield from ((" ", clipped(line, WIDTH)) for line in old)
            continue
        starts = [max(common(x, y) - _BEFORE, 0) for x, y in zip(old, new, strict=False)]
        starts += [0] * abs(len(old) - len(new))
        yield from (("-", _excerpt(line, start)) for line, start in zip(old, starts, strict=False))
        yield from (("+", _excerpt(line, start)) for line, start in zip(new, starts, strict=False))


def _excerpt(line: str, start: int) -> str:
    return clipped(line, WIDTH, start if len(line) > WIDTH else 0)


def common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many items both begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def clipped(text: str, width: int, start: int = 0) -> str:
    """``width`` characters of ``text`` from ``start`` on, with dots for omitted parts."""
    shown = text[start : start + width]
    return ("..." if start and shown else "") + shown + ("..." if len(text) > start + width else "")
