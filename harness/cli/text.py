"""Plain text tables, none wider than the terminal."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence

from harness.cli.amount import verbose
from harness.escape import clipped as bounded
from harness.escape import line

#: A column that has to give way keeps so many characters.
_LEAST = 8
#: A cell shows at most so many characters, and one of fewer is padded to the longest of its column, up to this width:
#: the size of a table grows with its rows, not with one name times its rows.
_LONGEST, _WIDEST = 1024, 256


def table(headings: Sequence[str], rows: Sequence[Sequence[object]], right: Sequence[int] = ()) -> Iterator[str]:
    """Lines of an aligned table. On a terminal, cells of the widest columns lose their middle until the lines fit; not
    with ``-v``.

    Args:
        headings: one heading per column.
        rows: cells; ``str`` of each is printed, escaped: no cell breaks its line. Of a very long one the middle is
            left out.
        right: columns aligned to the right; numbers stay whole.
    """
    texts = [tuple(bounded(line(str(cell)), _LONGEST) for cell in row) for row in (headings, *rows)]
    longest = [max(map(len, column)) for column in zip(*texts, strict=True)]
    widths = [min(length, _WIDEST) for length in longest]
    room = _room()
    if room:
        longest = widths = fitted(widths, room, set(right))
    for cells in texts:
        pairs = enumerate(zip(cells, widths, strict=True))
        shown = ((at, clipped(cell, longest[at]), width) for at, (cell, width) in pairs)
        told = "  ".join(cell.rjust(width) if at in right else cell.ljust(width) for at, cell, width in shown).rstrip()
        yield told if not room or len(told) <= room else told[: room - 3] + "..."


def _room() -> int:
    """The terminal's width; 0 where nothing has to fit."""
    return 0 if verbose() or not sys.stdout.isatty() else shutil.get_terminal_size().columns


def fitted(widths: Sequence[int], room: int, fixed: set[int]) -> list[int]:
    """Widths of columns that together, two blanks between them, take at most ``room``: the widest give way first, none
    of ``fixed``, and none below 8 characters, so that more than ``room`` may be left."""
    found = list(widths)
    over = sum(found) + 2 * (len(found) - 1) - room
    may = [at for at, width in enumerate(found) if at not in fixed and width > _LEAST]
    while over > 0 and may:
        widest = max(may, key=lambda at: found[at])
        found[widest] -= 1
        over -= 1
        may = [at for at in may if found[at] > _LEAST]
    return found


def clipped(text: str, width: int) -> str:
    """``text`` without its middle if it is longer than ``width``: the end of a name tells most."""
    if len(text) <= width:
        return text
    if width <= 3:
        return text[:width]
    head = width // 4
    return f"{text[:head]}...{text[len(text) - (width - head - 3) :]}"


def shortened(name: str) -> str:
    """``name`` without its middle if it would take more than two fifths of the terminal; otherwise unchanged.

    An operator's scope is long, and its end is the most telling part.
    """
    room = _room()
    return clipped(name, max(24, room * 2 // 5)) if room else name
