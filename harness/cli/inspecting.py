"""``msdump inspect``: looks at one run alone, and says where it went wrong and why."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.capture import Capture, read_tree
from harness.capture.directory_kinds import is_single_file
from harness.cli.recorder import is_only_recorded, recorded
from harness.cli.watched import Watched
from harness.errors import SettingError, StoreError, TreeError
from harness.escape import line, show
from harness.gate.sides import choose_run
from harness.inspect import RULES, Finding, Report, lines
from harness.inspect.inspecting import examined
from harness.inspect.recorded import recorded as recorder_report
from harness.report.health import write_page
from harness.store import GoldenStore, StoredRun, recover_around

_STANDARD = Path("-")


@dataclass(frozen=True)
class Asked:
    """Which rules are asked: texts of ``--rules``, ``--off`` and ``--set``; commas separate names."""

    rules: Sequence[str] = ()
    off: Sequence[str] = ()
    settings: Sequence[str] = ()

    @property
    def chosen(self) -> list[str] | None:
        """The names of ``--rules``."""
        return [name for text in self.rules for name in text.split(",") if name] or None

    @property
    def switched_off(self) -> list[str]:
        """The names of ``--off``."""
        return [name for text in self.off for name in text.split(",") if name]

    @property
    def numbers(self) -> dict[str, str]:
        """The parameters of ``--set``; ``SettingError`` for a text without ``=``."""
        found = {}
        for text in self.settings:
            name, equals, value = text.partition("=")
            if not equals:
                raise SettingError(f"--set {text!r}: a parameter is set as RULE.PARAMETER=NUMBER")
            found[name.strip()] = value.strip()
        return found


@dataclass(frozen=True)
class Shown:
    """What is printed and written."""

    notes: bool = False
    as_json: Path | None = None
    annotations: bool = False
    page: Path | None = None


def inspect_path(given: str, stored: str, rank: int | None, asked: Asked, shown: Shown) -> int:
    """Inspects a run and prints what was found.

    Args:
        given: dump tree, directory of the Running Data Recorder, file of a dump, or ``STORE.h5[::BACKEND/MODE]``.
        stored: run of a store, if ``given`` names none.
        rank: the only rank to read from a tree.
        asked: which rules.
        shown: what to print and write.

    Returns:
        0 if no rule found an error, 1 if one did, 2 if nothing could be read or a part is missing.

    Raises:
        HarnessError: the run cannot be read or chosen, or a rule or parameter does not exist.
    """
    alone = recorder_alone(given, rank)
    if alone is not None:
        report = recorder_report(alone)
        write(report, shown)
        if shown.page is not None:
            raise TreeError(f"{given}: a page shows values, and the recorder keeps none")
        return report.code
    with opened(given, stored, rank) as capture:
        report, run = examined(capture, asked.chosen, asked.switched_off, asked.numbers)
        if shown.page is not None:
            write_page(shown.page, report, run)
        problems = list(capture.lost) if isinstance(capture, Capture) else []
    for each in problems[:10]:
        show(line(f"{each.path}: {each.kind}: {each.why}"), sys.stderr)
    if len(problems) > 10:
        show(f"and {len(problems) - 10} more files that cannot be used", sys.stderr)
    write(report, shown)
    return report.code


def write(report: Report, shown: Shown) -> None:
    """Prints the report, and writes what was asked for."""
    if shown.as_json != _STANDARD:
        for each in lines(report, shown.notes):
            show(line(each))
    if shown.as_json == _STANDARD:
        print(report.as_json())
    elif shown.as_json is not None:
        shown.as_json.write_text(report.as_json() + "\n", encoding="utf-8")
    if shown.annotations:
        for finding in report.errors:
            print(annotation(finding))


def annotation(finding: Finding) -> str:
    """A finding as GitHub's workflow commands have it, at its line if that is known."""
    path, _, number = finding.source.rpartition(":")
    place = f" file={path},line={number}" if path and number.isdecimal() else ""
    text = f"{finding.kind}: {finding.text} ({finding.operator}, iteration {finding.iteration})"
    return f"::error{place}::{text.replace('%', '%25').replace(chr(10), '%0A')}"


def recorder_alone(given: str, rank: int | None) -> Path | None:
    """The directory that holds nothing but the recorder's files; None if ``given`` is something else."""
    path = Path(given)
    if not path.is_dir() or not recorded(path, rank) or not is_only_recorded(path):
        return None
    return path / f"rank_{rank}" if rank is not None else path


@contextmanager
def opened(given: str, stored: str, rank: int | None) -> Iterator[Capture | StoredRun]:
    """The run that is named; see ``inspect_path``."""
    path, _, run = given.partition("::")
    recover_around(path)
    if Path(path).is_dir() or "://" in path or is_single_file(path):
        if run or stored:
            raise TreeError(f"{path} is no golden store; a run is chosen of a golden store only")
        capture = read_tree(path, rank, ahead=True)
        watched = Watched(capture, capture.network, capture.listed)
        yield _of(capture, watched)
        return
    if not Path(path).exists():
        raise StoreError(f"{path}: there is neither a golden store nor a directory of that name")
    with GoldenStore.open(Path(path)) as store:
        yield choose_run(store, run or stored)


def _of(capture: Capture, watched: Watched) -> Capture:
    from dataclasses import replace

    return replace(capture, source=watched.records, problems=capture.problems)


def list_rules() -> int:
    """Prints every rule with its parameters."""
    for name in RULES:
        each = RULES.get(name)
        group = f" [{each.group}]" if each.group != "default" else ""
        print(f"{name}{group}: {each.meaning}")
        for parameter, known in each.parameters.items():
            print(f"    {name}.{parameter}={known.default:g}  {known.meaning}")
    return 0
