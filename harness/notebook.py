"""Tables as HTML, as notebooks show the last value of a cell."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from harness import escape

MOST = 12
"""Rows that are shown at most; a line counts the others."""


def table(title: str, heads: Sequence[str], rows: Iterable[Sequence[object]], total: int) -> str:
    """A title and a table.

    Args:
        title: one line of text.
        heads: names of the columns.
        rows: cells, as many as there are columns; ``MOST`` of them are shown.
        total: how many rows there are.

    Returns:
        HTML. Texts from elsewhere are escaped: as HTML, and control characters as the terminal shows them.
    """
    body: list[str] = []
    for row in rows:
        if len(body) == MOST:
            break
        body.append("<tr>" + "".join(f"<td>{_shown(each)}</td>" for each in row) + "</tr>")
    more = f"<p>and {total - len(body)} more</p>" if total > len(body) else ""
    head = "".join(f"<th>{_shown(each)}</th>" for each in heads)
    shown = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>" if body else ""
    return f"<div><p>{_shown(title)}</p>{shown}{more}</div>"


def lines(given: str) -> str:
    """Several lines of text as HTML."""
    return f"<pre>{html.escape(escape.text(given))}</pre>"


def _shown(given: object) -> str:
    return html.escape(escape.line(str(given)))
