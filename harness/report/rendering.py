"""Puts runs on a page: one file that fetches nothing and runs only its own scripts."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from importlib.resources import files
from typing import Any

from harness.escape import json_text, line

#: The page's styles and scripts, in the order in which they are joined.
STYLES = ("frame.css", "views.css", "network.css")
SCRIPTS = (
    "base.js", "summary.js", "errors.js", "slots.js", "slot.js", "cells.js", "network.js", "graph.js", "drift.js",
    "artefacts.js", "frame.js",
)  # fmt: skip
#: Lays out graphs: @dagrejs/dagre of the npm registry, unchanged except for the line that names a source map.
LIBRARY, LIBRARY_VERSION = "dagre", "3.1.3"


def render(runs: Sequence[dict[str, Any]], title: str) -> str:
    """Gives the page as text.

    Args:
        runs: results of ``harness.report.content``, one per run.
        title: title of the page.

    The data stand in a ``script`` element of type ``application/json``; ``<`` is escaped in them, so that no name or
    text of a run can end the element. A Content-Security-Policy admits the page's own styles and scripts, by their
    digests, and nothing else.
    """
    data = json.dumps({"title": title, "runs": list(runs)}, allow_nan=False, separators=(",", ":"))
    css, js = (_together(names) for names in (STYLES, SCRIPTS))
    library = _library()
    filled = {
        "title": _escaped(line(title)),
        "policy": policy(css, library, js),
        "css": css,
        "library": library,
        "js": js,
        "data": json_text(data).replace("<", "\\u003c"),
    }
    # In one pass: filled-in text is not scanned again.
    return _MARK.sub(lambda mark: filled[mark[1]], static("page.html"))


def policy(css: str, *scripts: str) -> str:
    """A Content-Security-Policy that admits these styles and scripts, pictures within the page, and nothing else."""
    own = " ".join(f"'{_digest(script)}'" for script in scripts)
    return (
        f"default-src 'none'; script-src {own}; style-src '{_digest(css)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


_MARK = re.compile(r"\{\{(\w+)\}\}")


def static(name: str) -> str:
    """A text of the directory ``static``."""
    return (files("harness.report") / "static" / name).read_text(encoding="utf-8")


def _together(names: Sequence[str]) -> str:
    return "\n".join(map(static, names))


def _library() -> str:
    """The library's text with its licence, which must accompany it."""
    licence, script = static(f"vendor/{LIBRARY}.LICENSE.txt"), static(f"vendor/{LIBRARY}.min.js")
    own = [each for each in script.splitlines() if not each.startswith("//# sourceMappingURL")]
    return "\n".join([f"/*! {LIBRARY} {LIBRARY_VERSION}", licence.strip(), "*/", *own])


def _digest(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
