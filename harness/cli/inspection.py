"""Arguments of ``msdump inspect``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.cli.parser import CANNOT_TELL, RUN, Action, app

_GIVEN = "dump tree, file of a dump, or STORE.h5[::BACKEND/MODE]"
_ASKED = "rules to ask: names, globs, groups (mindinsight); +NAME adds one"
_OFF = "rules to leave out; RULE:GLOB only where that matches"
Names = Annotated[list[str] | None, typer.Option(metavar="NAMES", help=_ASKED)]
Off = Annotated[list[str] | None, typer.Option(metavar="NAMES", help=_OFF)]
Numbers = Annotated[
    list[str] | None, typer.Option("--set", metavar="RULE.PARAMETER=NUMBER", help="a parameter of a rule")
]
Json = Annotated[Path | None, typer.Option("--json", metavar="FILE", help="write the findings as JSON; - for stdout")]
Page = Annotated[Path | None, typer.Option("--report", metavar="HTML", help="write a page with pictures")]
Annotate = Annotated[bool, typer.Option("--annotations", help="also print errors as GitHub's annotations of lines")]


@app.command()
def inspect(
    run: Annotated[str, typer.Argument(help=_GIVEN)] = "",
    stored: Annotated[str, typer.Option("--run", metavar=RUN, help="run of a store, if it has several")] = "",
    rank: Annotated[int | None, typer.Option(help="only this rank of a tree")] = None,
    rules: Names = None,
    off: Off = None,
    settings: Numbers = None,
    notes: Annotated[bool, typer.Option("--notes", help="show every note")] = False,
    listed: Annotated[bool, typer.Option("--list", help="list the rules with their parameters")] = False,
    as_json: Json = None,
    annotations: Annotate = False,
    page: Page = None,
) -> Action:
    """Inspect one run alone: overflow, explosion, vanishing, dead units, and where each began."""

    def action() -> int:
        from harness.cli import inspecting

        if listed:
            return inspecting.list_rules()
        if not run:
            print("msdump: inspect: say which run; --list lists the rules")
            return CANNOT_TELL
        asked = inspecting.Asked(rules or (), off or (), settings or ())
        shown = inspecting.Shown(notes, as_json, annotations, page)
        return inspecting.inspect_path(run, stored, rank, asked, shown)

    return action
