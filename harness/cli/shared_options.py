"""Options of the commands that can share their work (``docs/scale.md``), and trees given by URL."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

Workers = Annotated[int, typer.Option(metavar="N", help="share the work among N processes on this machine")]
Scheduler = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="share the work among the workers of a Dask scheduler")
]
Resume = Annotated[bool, typer.Option("--resume", help="continue where an interrupted run of the same command stopped")]

AsJson = Annotated[
    Path | None, typer.Option("--json", metavar="FILE", help="write the result as JSON; - for stdout, and no text")
]

Shards = Annotated[
    list[str] | None,
    typer.Option(
        "--shard",
        metavar="SLOT=PLACEMENT",
        help="slots that ranks hold in parts: an axis, Shard(0), @FILE",
    ),
]

Mappings = Annotated[
    list[Path] | None, typer.Option(metavar="YAML", help="msprobe's layer, api, cell or data mapping; repeatable")
]


Exports = Annotated[
    list[Path] | None,
    typer.Option(
        "--export", metavar="FILE", help="write it as X.sarif, X.ctrf.json, X.trace.json (Perfetto); repeatable"
    ),
]


def with_json(path: Path | None, command: str, run: Callable[[dict[str, Any]], int]) -> int:
    """Runs a command; what it puts into the given table becomes the JSON file, if one is asked for."""
    if path is None:
        return run({})
    from harness.report.results import kept

    return kept(path, command, run)


def tree_of(given: str) -> Path | str:
    """A path; a URL stays as it is."""
    return given if "://" in given else Path(given)
