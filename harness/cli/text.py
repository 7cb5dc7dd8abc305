"""Plain text tables."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence

from harness.escape import line


def table(headings: Sequence[str], rows: Sequence[Sequence[object]], right: Sequence[int] = ()) -> Iterator[str]:
    """Lines of an aligned table.

    Args:
        headings: one heading per column.
        rows: cells; ``str`` of each is printed, escaped: no cell breaks its line.
        right: columns aligned to the right.
    """
    texts = [tuple(line(str(cell)) for cell in row) for row in (headings, *rows)]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
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
