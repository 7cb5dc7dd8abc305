"""Plain text tables."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence

from harness.escape import clipped, line

#: A cell shows at most so many characters, and one of fewer is padded to the longest of its column, up to this width:
#: the size of a table grows with its rows, not with one name times its rows.
_LONGEST, _WIDEST = 1024, 256


def table(headings: Sequence[str], rows: Sequence[Sequence[object]], right: Sequence[int] = ()) -> Iterator[str]:
    """Lines of an aligned table.

    Args:
        headings: one heading per column.
        rows: cells; ``str`` of each is printed, escaped: no cell breaks its line. Of a very long one the middle is
            left out.
        right: columns aligned to the right.
    """
    texts = [tuple(clipped(line(str(cell)), _LONGEST) for cell in row) for row in (headings, *rows)]
    widths = [min(max(map(len, column)), _WIDEST) for column in zip(*texts, strict=True)]
    for cells in texts:
        pairs = enumerate(zip(cells, widths, strict=True))
        yield "  ".join(cell.rjust(width) if at in right else cell.ljust(width) for at, (cell, width) in pairs).rstrip()


def shortened(name: str) -> str:
    """``name`` without its middle if a terminal would break the lines of a table; otherwise unchanged.

    An operator's scope is long, and its end is the most telling part.
    """
    if not sys.stdout.isatty():
        return name
    room = max(24, shutil.get_terminal_size().columns * 2 // 5)
    if len(name) <= room:
        return name
    head = room // 4
    return f"{name[:head]}...{name[len(name) - (room - head - 3) :]}"
