"""Arguments of the sub-commands that read runs. The module of the same name does the work; it is imported when
chosen."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import typer

import harness.cli.conversion
import harness.cli.goldens
import harness.cli.inspection  # noqa: F401
from harness.cli import amount
from harness.cli.parser import (
    CANNOT_TELL,
    PASS_ON,
    RUN,
    Action,
    ClickException,
    Level,
    Match,
    app,
    passing_on,
    root,
)  # fmt: skip
from harness.cli.parser import DIFFERS as DIFFERS
from harness.cli.parser import HOLDS as HOLDS
from harness.cli.shared_options import AsJson, Exports, Mappings, Resume, Scheduler, Shards, Workers, tree_of, with_json
from harness.errors import RegistrationError
from harness.scale import Scale

_TOLERANCES = "exact: equal bits; default: the table by dtype; noise: rounding, too; or a rule of another package"


def dispatch(argv: Sequence[str]) -> int:
    """Parses ``argv``, then runs the command outside the parser, which would swallow signals and exits."""
    try:
        words = amount.taken_from(argv, passing_on())
        chosen = parser().main(args=words, prog_name="msdump", standalone_mode=False)
    except typer.Exit as end:
        return int(end.exit_code)
    except typer.Abort:  # what the parser makes of an interrupt
        raise KeyboardInterrupt from None
    except ClickException as error:
        error.show()
        return CANNOT_TELL
    except RegistrationError as error:  # two packages have a command of one name
        print(f"msdump: {error}", file=sys.stderr)
        return CANNOT_TELL
    return _guarded(chosen) if callable(chosen) else int(chosen or 0)


@cache
def parser() -> Any:
    """The parser of the command line."""
    return typer.main.get_command(root)


def _guarded(action: Action) -> int:
    from harness.escape import escaped_output

    with amount.applied(), escaped_output():
        code = _ended(action)
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _forget_reader()
        return CANNOT_TELL
    return code


def _forget_reader() -> None:
    """The reader is gone (`msdump show x | head`): nothing more can be printed, not even at interpreter exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _ended(action: Action) -> int:
    """Runs ``action`` and returns its exit code; an error becomes one line."""
    from harness.errors import HarnessError, told
    from harness.escape import clipped, line, painted, show

    try:
        return action()
    except HarnessError as error:
        show(f"{painted('msdump:', '31', sys.stderr)} {clipped(line(str(error)))}", sys.stderr)
    except BrokenPipeError:
        _forget_reader()
    except OSError as error:
        print(clipped(line(f"msdump: {told(error)}")), file=sys.stderr)
    except (MemoryError, RecursionError) as error:
        what = "memory" if isinstance(error, MemoryError) else "nesting: the network or the file is nested too deep"
        print(f"msdump: out of {what}", file=sys.stderr)
    except Exception:
        # A bug of ours. The interpreter would exit with 1, which means that something differs.
        traceback.print_exc()
    return CANNOT_TELL


@app.command()
def check(
    tree: Annotated[str, typer.Argument(help="dump tree or recorder directory, of this project or of MindSpore")],
    golden: Annotated[Path, typer.Argument(help="golden store (.h5)")],
    run: Annotated[str, typer.Option(metavar=RUN, help="run of the store, if it has several")] = "",
    rank: Annotated[int | None, typer.Option(help="only this rank of the tree")] = None,
    network: Annotated[str | None, typer.Option(metavar="NAME", help="network of the tree, if it has several")] = None,
    rtol: Annotated[float | None, typer.Option(help="relative tolerance for floating values")] = None,
    atol: Annotated[float | None, typer.Option(help="absolute tolerance for floating values")] = None,
    exact: Annotated[bool, typer.Option("--exact", help="accept equal bits only")] = False,
    tolerance: Annotated[str | None, typer.Option(metavar="NAME", help=_TOLERANCES)] = None,
    match: Annotated[Match, typer.Option(help="what pairs operators: names, scope/type/flow, or both")] = "auto",
    by_statistics: Annotated[
        bool, typer.Option("--by-statistics", help="accept statistics within the tolerance if values were not kept")
    ] = False,
    shard: Shards = None,
    as_json: AsJson = None,
    workers: Workers = 0,
    scheduler: Scheduler = None,
    resume: Resume = False,
) -> Action:
    """Check a dump tree against a golden run, by default under the golden's own tolerance, else the table by dtype."""

    def action() -> int:
        from harness.cli.check import check_tree

        scale = Scale(workers, scheduler, resume)
        options = rtol, atol, exact, match, by_statistics, scale, tolerance or "", shard or ()
        return with_json(
            as_json, "check", lambda keep: check_tree(tree_of(tree), golden, run, rank, network, *options, keep)
        )

    return action


@app.command()
def diff(
    expected: Annotated[str, typer.Argument(help="dump tree, or golden store (STORE.h5, STORE.h5::BACKEND/MODE)")],
    found: Annotated[str, typer.Argument(help="the run to compare with it, in the same form")],
    rank: Annotated[int | None, typer.Option(help="rank of trees that have several")] = None,
    tolerances: Annotated[Path | None, typer.Option(metavar="TOML", help="file with a table [tolerance]")] = None,
    rtol: Annotated[float | None, typer.Option(help="relative tolerance for floating values")] = None,
    atol: Annotated[float | None, typer.Option(help="absolute tolerance for floating values")] = None,
    exact: Annotated[bool, typer.Option("--exact", help="admit nothing but equal bits")] = False,
    as_json: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="write every measure as JSON; - for stdout")
    ] = None,
    as_csv: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="write a row per slot as CSV; - for stdout")
    ] = None,
    report: Annotated[Path | None, typer.Option(metavar="HTML", help="write a page, in one HTML file")] = None,
    tolerance: Annotated[str | None, typer.Option(metavar="NAME", help=_TOLERANCES)] = None,
    match: Annotated[Match, typer.Option(help="what pairs operators: names, scope/type/flow, or both")] = "auto",
    by_statistics: Annotated[
        bool, typer.Option("--by-statistics", help="take statistics within the tolerance for values, if none were kept")
    ] = False,
    exports: Exports = None,
    mapping: Mappings = None,
    shard: Shards = None,
    workers: Workers = 0,
    scheduler: Scheduler = None,
    resume: Resume = False,
) -> Action:
    """Compare two runs: where they part, why, and how far the difference goes."""

    def action() -> int:
        from harness.cli.diff import Outputs
        from harness.cli.diff import diff as compare
        from harness.compare.tolerance_file import chosen_tolerances

        stated, scale = chosen_tolerances(tolerances, rtol, atol, exact, tolerance), Scale(workers, scheduler, resume)
        outputs, more = Outputs(as_json, as_csv, report, exports or ()), (shard or (), mapping or ())
        return compare(expected, found, rank, stated, outputs, match, by_statistics, scale, *more)

    return action


@app.command()
def extract(
    expected: Annotated[str, typer.Argument(help="golden store or dump tree; STORE::RUN for one run")],
    found: Annotated[str, typer.Argument(help="the run: a store of a bundle of candidates, or a dump tree")],
    to: Annotated[Path, typer.Option("--to", "-o", metavar="PY", help="the test to write")] = Path("test_extracted.py"),
    rank: Annotated[int | None, typer.Option(help="rank, if a tree has several")] = None,
    as_json: AsJson = None,
) -> Action:
    """Write the operator where two runs part as a test that needs PyTorch and numpy alone."""

    def action() -> int:
        from harness.cli.extract import extract as write

        return with_json(as_json, "extract", lambda keep: write(expected, found, to, rank, keep))

    return action


@app.command()
def ranks(
    tree: Annotated[str, typer.Argument(help="run of several ranks: a dump tree, a golden")],
    golden: Annotated[str | None, typer.Argument(help="run that is right: of the same ranks, or of one")] = None,
    equal: Annotated[
        list[str] | None, typer.Option(metavar="PATTERN", help="OPERATOR:SLOT that should be equal on all ranks")
    ] = None,
    shard: Shards = None,
    network: Annotated[str | None, typer.Option(metavar="NAME", help="network of the tree, if it has several")] = None,
    as_json: AsJson = None,
    workers: Workers = 0,
    scheduler: Scheduler = None,
    resume: Resume = False,
) -> Action:
    """Say which rank left first, where and why; with --equal, compare what should be equal on all ranks."""

    def action() -> int:
        from harness.cli.ranks import check_ranks, explain_ranks

        if equal and golden is not None:
            from harness.errors import SettingError

            raise SettingError("msdump ranks: give either a golden or --equal")
        if not equal:
            return with_json(as_json, "ranks", lambda keep: explain_ranks(tree, golden, (), keep, shard or ()))
        scale = Scale(workers, scheduler, resume)
        return with_json(as_json, "ranks", lambda keep: check_ranks(tree_of(tree), equal, network, scale, keep))

    return action


@app.command()
def judge(
    comparison: Annotated[Path, typer.Argument(help="file that msdump diff --json wrote")],
    tolerances: Annotated[Path | None, typer.Option(metavar="TOML", help="file with a table [tolerance]")] = None,
    rtol: Annotated[float | None, typer.Option(help="relative tolerance for floating values")] = None,
    atol: Annotated[float | None, typer.Option(help="absolute tolerance for floating values")] = None,
    as_json: AsJson = None,
) -> Action:
    """Judge a stored comparison under other tolerances; nothing is run or read again."""

    def action() -> int:
        from harness.cli.judge import judge as judge_again
        from harness.compare import Tolerances
        from harness.compare.tolerance_file import chosen_tolerances

        stated = chosen_tolerances(tolerances, rtol, atol, exact=False)
        about = comparison, stated or Tolerances.parse("default")
        return with_json(as_json, "judge", lambda keep: judge_again(*about, keep))

    return action


@app.command()
def audit(
    golden: Annotated[Path, typer.Argument(help="golden store, or directory of stores")] = Path("golden"),
    run: Annotated[str, typer.Option(metavar=RUN, help="only this run of a store")] = "",
    tolerances: Annotated[Path | None, typer.Option(metavar="TOML", help="file with a table [tolerance]")] = None,
    limit: Annotated[float | None, typer.Option(help="largest change that may pass, relative to the values")] = None,
    beside: Annotated[str, typer.Option(metavar="SIDE", help="a run: how much of the tolerances does it use up?")] = "",
    every: Annotated[bool, typer.Option("--all", help="list every slot")] = False,
    as_json: AsJson = None,
    workers: Workers = 0,
    scheduler: Scheduler = None,
    resume: Resume = False,
) -> Action:
    """Change each golden tensor and see what would pass: how loose is this gate?"""

    def action() -> int:
        from harness.cli.audit import audit_goldens
        from harness.compare.tolerance_file import read_tolerances

        stated = read_tolerances(tolerances) if tolerances is not None else None
        if beside:
            from harness.cli.used import used_up

            side = f"{golden}::{run}" if run else str(golden)
            full = every or amount.verbose()
            return with_json(as_json, "audit", lambda keep: used_up(side, beside, stated, full, keep))
        about = golden, run, stated, limit, every or amount.verbose(), Scale(workers, scheduler, resume)
        return with_json(as_json, "audit", lambda keep: audit_goldens(*about, keep))

    return action


@app.command()
def learn(
    golden: Annotated[Path, typer.Argument(help="golden store (.h5)")],
    trees: Annotated[list[str] | None, typer.Argument(help="dump trees, or STORE.h5::BACKEND/MODE")] = None,
    run: Annotated[str, typer.Option(metavar=RUN, help="run of the store, if it has several")] = "",
    command: Annotated[str, typer.Option(help="program to run instead; it dumps everything")] = "",
    times: Annotated[int, typer.Option(help="how many times to run it")] = 3,
    margin: Annotated[float, typer.Option(help="the tolerance is this many times the scatter seen")] = 2.0,
    dry: Annotated[bool, typer.Option("--dry-run", help="only print")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="also learn from one run, or from a spread beyond rounding")
    ] = False,
    as_json: AsJson = None,
    workers: Workers = 0,
    scheduler: Scheduler = None,
    resume: Resume = False,
) -> Action:
    """Learn a golden's tolerances from how far unchanged runs scatter; the golden keeps them."""

    def action() -> int:
        from harness.cli.learn import learn as learn_from

        scale = Scale(workers, scheduler, resume)
        about = golden, run, trees or [], command, times, margin, dry, force, scale
        return with_json(as_json, "learn", lambda keep: learn_from(*about, keep))

    return action


@app.command("import")
def import_(
    tree: Annotated[str, typer.Argument(help="dump tree, of this project, MindSpore or msprobe")],
    golden: Annotated[Path, typer.Argument(help="golden store (.h5)")],
    run: Annotated[str | None, typer.Option(metavar=RUN, help="name of the run; by default what the tree says")] = None,
    rank: Annotated[int | None, typer.Option(help="only this rank of the tree")] = None,
    network: Annotated[str | None, typer.Option(metavar="NAME", help="network of the tree, if it has several")] = None,
    level: Annotated[
        Level | None, typer.Option(help="what the run keeps; by default values, where the tree has them")
    ] = None,
    packed: Annotated[bool, typer.Option("--compress", help="compress a new store")] = False,
    as_json: AsJson = None,
    workers: Workers = 0,
    scheduler: Scheduler = None,
    resume: Resume = False,
) -> Action:
    """Store a dump tree as a run of a golden store.

    A run of the same name is replaced, all others stay. A name alone (--run before) is the run's backend; its mode is
    the tree's. If anything goes wrong, the store is what it was before.
    """

    def action() -> int:
        from harness.cli.import_tree import import_tree

        scale = Scale(workers, scheduler, resume)
        about = tree_of(tree), golden, run, rank, network, level, packed, scale
        return with_json(as_json, "import", lambda keep: import_tree(*about, keep))

    return action


@app.command()
def show(
    path: Annotated[
        str, typer.Argument(help="golden store, directory of stores, dump tree, recorder directory, or .npy file")
    ],
    run: Annotated[str, typer.Option(metavar=RUN, help="only this run of a store")] = "",
    every: Annotated[bool, typer.Option("--all", help="every slot, not one line per operator")] = False,
    line: Annotated[str, typer.Option(metavar="FILE:N", help="operators that a line of the script made")] = "",
    operator: Annotated[str, typer.Option(metavar="PATTERN", help="operators of this name")] = "",
    slot: Annotated[str, typer.Option(metavar="output.0", help="values of this slot")] = "",
    iteration: Annotated[int | None, typer.Option(help="only this iteration")] = None,
    part: Annotated[str, typer.Option("--slice", metavar="'0, :4'", help="only these values")] = "",
    text: Annotated[str, typer.Option(metavar="PATTERN", help="print the texts whose names match instead")] = "",
    as_json: AsJson = None,
) -> Action:
    """Print what a golden store, a dump tree, a directory of the recorder or a tensor file holds, or one
    of its operators in detail."""

    def action() -> int:
        from harness.cli.operator_details import Wanted, look_at
        from harness.cli.show import show_path

        wanted = Wanted(line, operator, slot, iteration, part)

        def shown(keep: dict[str, Any]) -> int:
            if as_json is not None:
                from harness.cli.show_json import as_json as told

                keep |= told(path, run, wanted)
            full = every or amount.verbose()
            return look_at(path, run, wanted) if wanted.anything else show_path(path, run, full, text)

        return with_json(as_json, "show", shown)

    return action


@app.command()
def env() -> Action:
    """Print the setting with which `import mindspore` finds this project in every Python of a shell: eval
    "$(msdump env)"."""

    def action() -> int:
        from harness.cli.run import print_environment

        return print_environment()

    return action


@app.command(context_settings=PASS_ON)
def run(
    script: Annotated[str, typer.Argument(help="an unchanged MindSpore script")],
    args: Annotated[list[str] | None, typer.Argument(metavar="[ARGS]", help="its arguments")] = None,
    module: Annotated[bool, typer.Option("-m", help="SCRIPT is the name of a module (-m pytest tests/)")] = False,
    backend: Annotated[str, typer.Option(help="emulated backend that stands in for MindSpore")] = "cpu",
    config: Annotated[Path | None, typer.Option(help="dump configuration (sets MINDSPORE_DUMP_CONFIG)")] = None,
    msprobe: Annotated[Path | None, typer.Option(help="config.json of msprobe (sets MSDUMP_MSPROBE_CONFIG)")] = None,
    inspected: Annotated[bool, typer.Option("--inspect", help="look at the run by itself when it is over")] = False,
    ranks: Annotated[int, typer.Option(metavar="N", help="run the script N times, as ranks that communicate")] = 1,
    logs: Annotated[Path | None, typer.Option(help="with --ranks: what rank I prints goes to DIR/worker_I.log")] = None,
    timeout: Annotated[
        float, typer.Option(help="with --ranks: seconds a rank may wait in a collective; 0 for no limit")
    ] = 900.0,
    missing: Annotated[
        bool, typer.Option("--missing", help="run nothing: list the unsupported names of scripts (or directories)")
    ] = False,
) -> Action:
    """Run a MindSpore script on an emulated backend; the exit code is the script's.

    With --missing SCRIPT|DIR..., list the MindSpore names they use that are not supported: 0 none, 1 some,
    2 a file that cannot be read.
    """

    def action() -> int:
        if missing:
            from harness.cli.missing import list_missing

            return list_missing([script, *(args or [])])
        from harness.cli.run import run_script
        from harness.cli.run_ranks import Ranks

        asked = Ranks(ranks, logs, timeout)
        return run_script(script, args or [], backend, config, msprobe, inspected, module, asked)

    return action


@app.command()
def backends(
    device: Annotated[str | None, typer.Argument(help="only this device, with all that is known about it")] = None,
    as_json: AsJson = None,
) -> Action:
    """List the backends (real or emulated, and whether they run here) and what the dump of each device has."""

    def action() -> int:
        from harness.cli.backends import list_backends

        return with_json(as_json, "backends", lambda keep: list_backends(device, keep))

    return action
