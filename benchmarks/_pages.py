"""A benchmark's tables, and their way into the documents: between two marks with its name."""

from __future__ import annotations

import contextlib
import io
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"


@dataclass(frozen=True)
class Table:
    """A part of a page: a title, the cells of its head, and its rows."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def put(page: str, name: str, text: str) -> bool:
    """Prints ``text``, and writes it between ``<!-- NAME -->`` and ``<!-- end of NAME -->`` of ``docs/PAGE``.

    Returns:
        Whether the page has these marks.
    """
    print(text)
    return _written(page, name, text)


def printed(page: str, name: str, run: Callable[[], None]) -> int:
    """Runs a benchmark and writes what it prints to ``docs/PAGE``, as a block of text.

    Returns:
        An exit code: 1 if the page lacks the marks.
    """
    seen = io.StringIO()

    class Both(io.TextIOBase):
        """Prints, and keeps what is printed."""

        def write(self, text: str) -> int:
            sys.__stdout__.write(text)
            return seen.write(text)

        def flush(self) -> None:
            sys.__stdout__.flush()

    with contextlib.redirect_stdout(Both()):
        run()
    return 0 if _written(page, name, f"```text\n{seen.getvalue().strip()}\n```\n") else 1


def _written(page: str, name: str, text: str) -> bool:
    path = DOCS / page
    place = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end of {name} -->\n)", re.DOTALL)
    changed, count = place.subn(lambda found: found[1] + text + found[2], path.read_text(encoding="utf-8"))
    if not count:
        print(f"{path} has no place for the table {name!r}", file=sys.stderr)
        return False
    path.write_text(changed, encoding="utf-8")
    return True
