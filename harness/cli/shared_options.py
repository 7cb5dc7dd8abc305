"""Options of the commands that share their work (``docs/scale.md``), and trees that may lie at a URL."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Workers = Annotated[int, typer.Option(metavar="N", help="share the work with N processes of this machine")]
Scheduler = Annotated[str, typer.Option(metavar="ADDRESS", help="share it with the workers of a Dask scheduler")]
Resume = Annotated[bool, typer.Option("--resume", help="go on where an interrupted run of the same command stopped")]

Shards = Annotated[
    list[str] | None,
    typer.Option(
        "--shard", metavar="OPERATOR:SLOT=AXIS", help="slots of which each rank has a part; joined along the axis"
    ),
]


def tree_of(given: str) -> Path | str:
    """A path; a URL stays as it is given."""
    return given if "://" in given else Path(given)
