"""Writes a benchmark's table into the documents, between two marks with its name."""

from __future__ import annotations

import re
import sys
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"


def put(page: str, name: str, text: str) -> bool:
    """Prints ``text``, and writes it between ``<!-- NAME -->`` and ``<!-- end of NAME -->`` of ``docs/PAGE``.

    Returns:
        Whether the page has these marks.
    """
    print(text)
    path = DOCS / page
    place = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end of {name} -->\n)", re.DOTALL)
    changed, count = place.subn(lambda found: found[1] + text + found[2], path.read_text(encoding="utf-8"))
    if not count:
        print(f"{path} has no place for the table {name!r}", file=sys.stderr)
        return False
    path.write_text(changed, encoding="utf-8")
    return True
