"""Plain text tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def table(headings: Sequence[str], rows: Sequence[Sequence[object]], right: Sequence[int] = ()) -> Iterator[str]:
    """Lines of an aligned table.

    Args:
        headings: one per column.
        rows: cells; ``str`` of each is printed.
        right: columns aligned to the right.
    """
    texts = [tuple(map(str, row)) for row in (headings, *rows)]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    for cells in texts:
        pairs = enumerate(zip(cells, widths, strict=True))
        yield "  ".join(cell.rjust(width) if at in right else cell.ljust(width) for at, (cell, width) in pairs).rstrip()
