"""Arguments of the sub-commands that write or maintain goldens."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from harness.cli.parser import PASS_ON, Action, app
from harness.cli.shared_options import AsJson, Resume, Scheduler, Workers, with_json
from harness.scale import Scale


@app.command(context_settings=PASS_ON)
def regen(
    pytest_args: Annotated[
        list[str] | None, typer.Argument(metavar="[PYTEST ARGS]", help="tests and options, as pytest takes them")
    ] = None,
    as_json: AsJson = None,
) -> Action:
    """Rewrite the goldens of the selected tests (pytest --msdump-regen ARGS)."""

    def action() -> int:
        from harness.cli.regen import regenerate

        return regenerate(pytest_args or [], as_json)

    return action


@app.command()
def graft(
    test: Annotated[str, typer.Argument(metavar="NODEID", help="a test, as pytest takes it: tests/test_net.py::test")],
    slot: Annotated[
        str,
        typer.Argument(metavar="[SLOT]", help="OPERATOR or OPERATOR:output.0; by default where the run first leaves"),
    ] = "",
    as_json: AsJson = None,
) -> Action:
    """Run a failing test again with the golden's tensor in the suspect's place: if all that follows holds, the
    difference begins there.

    Exit codes: 0 the test holds, 1 it differs (the text says what the graft proved), 2 it cannot be run.
    """

    def action() -> int:
        from harness.cli.graft import run_with_graft

        return run_with_graft(test, slot, as_json)

    return action


@app.command(context_settings=PASS_ON)
def blame(
    pytest_args: Annotated[
        list[str], typer.Argument(metavar="[PYTEST ARGS] NODEID", help="options and a test, as pytest takes them")
    ],
    as_json: AsJson = None,
) -> Action:
    """Find which changed lines make a test leave its golden: run it in a copy of the project, with each of them as it
    was in the golden's commit.

    Exit codes: 0 the test holds as it is, 1 the lines are found, 2 they cannot be told (the text says why).
    """

    def action() -> int:
        from harness.cli.blame import blame as find

        return with_json(as_json, "blame", lambda keep: find(pytest_args, keep))

    return action


@app.command()
def accept(
    bundles: Annotated[
        list[Path] | None,
        typer.Argument(help="directories (or zip archives of them) that a gate left; the last one's if left out"),
    ] = None,
    golden: Annotated[
        Path | None, typer.Option(help="directory of the golden stores; the project's if left out")
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(metavar="PATTERN", help="accept only tests (or stores) whose names match")
    ] = None,
    as_json: AsJson = None,
) -> Action:
    """Make candidate bundles the new goldens; without one, the last that a gate left here, once it was shown.

    Exit codes: 0 taken over, 1 the answer was no, 2 there is no bundle, or a pattern fits nothing.
    """

    def action() -> int:
        from harness.cli.accept import accept_bundles

        return with_json(as_json, "accept", lambda keep: accept_bundles(bundles or [], golden, only or [], keep))

    return action


@app.command()
def review(
    bundle: Annotated[Path | None, typer.Argument(help="candidate bundle; the last run's if left out")] = None,
    golden: Annotated[Path | None, typer.Option(help="directory of the golden stores")] = None,
    listed: Annotated[bool, typer.Option("--list", help="list the differences and ask nothing")] = False,
    as_json: AsJson = None,
    picture: Annotated[Path | None, typer.Option(help="file for p's page; .msdump/review.html if left out")] = None,
    page: Annotated[
        Path | None, typer.Option(metavar="HTML", help="write one page of all candidates, and ask nothing")
    ] = None,
) -> Action:
    """Look at each change, one candidate after the other, and accept it or not.

    Answers are y (accept), n (drop the candidate), s (skip), a (accept this and all that follow), p (make a page with
    pictures), q (quit); from a pipe, one per line. With --json nothing is asked. Exit codes: 0 no candidate is left, 1
    candidates are left.
    """

    def action() -> int:
        from harness.cli.review import review_bundle

        asks = not listed and as_json is None and page is None
        about: Any = {"ask": asks, "picture": picture, "page": page}
        return with_json(as_json, "review", lambda keep: review_bundle(bundle, golden, **about, keep=keep))

    return action


@app.command(context_settings=PASS_ON)
def prune(
    pytest_args: Annotated[
        list[str] | None, typer.Argument(metavar="[PYTEST OPTIONS]", help="options for pytest's collection")
    ] = None,
    dry: Annotated[bool, typer.Option("--dry-run", help="only list them")] = False,
    as_json: AsJson = None,
) -> Action:
    """Collect all tests, then remove goldens and runs without an owning test."""

    def action() -> int:
        from harness.cli.prune import prune_goldens

        return with_json(as_json, "prune", lambda keep: prune_goldens(pytest_args or [], dry, keep))

    return action


@app.command()
def init(
    folder: Annotated[Path, typer.Argument(help="the project's directory")] = Path("."),
    as_json: AsJson = None,
) -> Action:
    """Write a configuration, golden/, .gitattributes and a first test; overwrite nothing."""

    def action() -> int:
        from harness.cli.init import initialise

        return with_json(as_json, "init", lambda keep: initialise(folder, keep))

    return action


@app.command()
def doctor(
    folder: Annotated[Path, typer.Argument(help="the project, or a directory in it")] = Path("."),
    as_json: AsJson = None,
) -> Action:
    """Say what protects the goldens of a project here, and what is left to do; change nothing.

    Exit codes: 0 nothing is left to do, 1 something is.
    """

    def action() -> int:
        from harness.cli.doctor import examine

        return with_json(as_json, "doctor", lambda keep: examine(folder, keep))

    return action


@app.command(hidden=True)
def textconv(golden: Annotated[Path, typer.Argument(help="golden store")]) -> Action:
    """Print a golden as text whose lines are those that moved (git runs it, see `msdump init`)."""

    def action() -> int:
        from harness.cli.git_drivers import textconv as as_text

        return as_text(golden)

    return action


@app.command(hidden=True)
def merge(
    base: Annotated[Path, typer.Argument(help="the golden before")],
    ours: Annotated[Path, typer.Argument(help="the golden here; the result is written to it")],
    theirs: Annotated[Path, typer.Argument(help="the golden there")],
    path: Annotated[str, typer.Option(help="its path in the repository")] = "the golden",
) -> Action:
    """Merge two changes of a golden (git runs it, see `msdump init`)."""

    def action() -> int:
        from harness.cli.git_drivers import merge as merge_goldens

        return merge_goldens(base, ours, theirs, path)

    return action


@app.command()
def verify(
    golden: Annotated[
        Path | None, typer.Argument(help="directory of the golden stores; the project's if left out")
    ] = None,
    fix: Annotated[bool, typer.Option("--fix", help="rewrite missing, broken and stale manifests")] = False,
    as_json: AsJson = None,
    workers: Workers = 0,
    scheduler: Scheduler = None,
    resume: Resume = False,
) -> Action:
    """Read every golden in full and check it against its digests and its manifest."""

    def action() -> int:
        from harness.cli.nearest import goldens
        from harness.cli.verify import verify_goldens

        folder, scale = golden or goldens(), Scale(workers, scheduler, resume)
        return with_json(as_json, "verify", lambda keep: verify_goldens(folder, fix=fix, scale=scale, keep=keep))

    return action


@app.command()
def report(
    pages: Annotated[list[Path], typer.Argument(metavar="PAGE...", help="pages of CI jobs (--msdump-report)")],
    join: Annotated[Path, typer.Option("--join", metavar="HTML", help="the page to write")],
    as_json: AsJson = None,
) -> Action:
    """Join the pages of several CI jobs into one.

    Exit codes: 0 every run holds, 1 a run does not, 2 there is no run or a page cannot be read.
    """

    def action() -> int:
        from harness.cli.report import join as join_pages

        return with_json(as_json, "report", lambda keep: join_pages(pages, join, keep))

    return action
