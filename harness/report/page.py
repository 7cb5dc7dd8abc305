"""Puts runs on a page: one file, nothing fetched, nothing run but the script in it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from harness.escape import json_text, line


def render(runs: Sequence[dict[str, Any]], title: str) -> str:
    """The page as text.

    Args:
        runs: what ``harness.report.content`` gave, one entry a run.
        title: of the page.

    The data stand in a ``script`` element of type ``application/json``; ``<`` is escaped in them, so that no name or
    text of a run can end the element.
    """
    folder = files("harness.report") / "static"
    data = json.dumps({"title": title, "runs": list(runs)}, allow_nan=False, separators=(",", ":"))
    parts = {name: (folder / name).read_text(encoding="utf-8") for name in ("page.html", "page.css", "page.js")}
    filled = {
        "title": _escaped(line(title)),
        "css": parts["page.css"],
        "js": parts["page.js"],
        "data": json_text(data).replace("<", "\\u003c"),
    }
    # In one go: what is filled in is not looked at again.
    return _MARK.sub(lambda mark: filled[mark[1]], parts["page.html"])


_MARK = re.compile(r"\{\{(\w+)\}\}")


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
