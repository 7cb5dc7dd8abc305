"""``--msdump-report``: one page about the whole session. Each comparison saves its part, whichever worker it ran on;
the controller joins the parts. Imports ``harness``; imported when needed.
"""

from __future__ import annotations

import json
import shutil
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.atomic import reason, write_held
from harness.compare import Comparison
from harness.compare.spread import Spread, spread
from harness.errors import StoreWriteError
from harness.explain import Explanation
from harness.explain.graphs import Graphs
from harness.records import Record
from harness.report import Run, content, limited, only_counts, render
from harness.store import RunId
from harness.words import counted, failing
from pytest_msdump.options import Settings
from pytest_msdump.report import Result
from pytest_msdump.scratch import scratch
from pytest_msdump.sharing import Group, head, many


def folder(settings: Settings, bundle: str) -> Path:
    """The directory of a session's parts until it ends."""
    return scratch(settings.root, "reports") / bundle


def keep(
    settings: Settings,
    bundle: str,
    name: str,
    sides: tuple[str, str],
    comparison: Comparison,
    failure: str | None,
    artefacts: tuple[Mapping[str, bytes], Mapping[str, bytes]],
    explanation: Explanation | None,
    golden: Callable[[], Iterable[Record]],
    verdict: str,
    graphs: tuple[Graphs, Graphs] | None = None,
) -> None:
    """Saves the part of one comparison; ``StoreWriteError`` if it cannot.

    Args:
        bundle: the session's name, the same on every worker.
        name: of the run, as the page lists it.
        sides: the expected and the found side, and what each of them is.
        failure: its text; None where everything holds.
        artefacts: text artefacts of both sides.
        explanation: the explanation of the difference; None if nothing differs.
        golden: gives the records of the expected side.
        verdict: of the comparison.
        graphs: the graphs of both sides, for a picture; None: those in ``artefacts``.
    """
    course, pictured = spread(comparison), failure is not None
    part = content(
        Run(
            name,
            *sides,
            comparison,
            course,
            explanation,
            failure or "",
            artefacts,
            records=golden,
            pictured=pictured,
            graphs=graphs,
            verdict=verdict,
        )
    )
    if part["holds"]:
        part = only_counts(part)
    _write(settings, bundle, part)


def note(settings: Settings, bundle: str, result: Result, failure: str) -> None:
    """Saves the part of a test that compared nothing: its golden is missing, or it ended too early."""
    name = f"{result['network']} [{result['backend']}-{result['mode']}]"
    expected = f"{result['golden'] or 'its golden'}, run {RunId(*result['against_key'])}"
    found = f"{result['backend']}/{result['mode']}: {result['verdict']}"
    _write(
        settings,
        bundle,
        content(Run(name, expected, found, Comparison([]), Spread(()), text=failure, verdict=result["verdict"])),
    )


def _write(settings: Settings, bundle: str, part: dict[str, Any]) -> None:
    target = folder(settings, bundle)
    try:
        target.mkdir(parents=True, exist_ok=True)
        (target / f"{uuid.uuid4().hex}.json").write_text(json.dumps(part, allow_nan=False), encoding="utf-8")
    except OSError as error:
        raise StoreWriteError(f"{target}: cannot be written ({reason(error)})") from error


def _names(group: Group) -> set[str]:
    """The runs of a group, as the page lists them."""
    return {name_of(each["network"], each["backend"], each["mode"], each["against"]) for _, each in group.members}


def name_of(network: str, backend: str, mode: str, against: str = "") -> str:
    """How the page calls a comparison."""
    own = f"{network} [{backend}-{mode}]"
    return own if against in ("", backend) else f"{own} against {against}"


def publish(settings: Settings, bundle: str, groups: Sequence[Group] = ()) -> str:
    """Writes the page from the parts; returns the line that says so.

    Args:
        settings, bundle: the session's.
        groups: failures by what they share; each run says what it shares with others, the title what most share.

    Raises:
        OSError: the page cannot be written; what was there stays.
    """
    assert settings.report is not None  # otherwise no part would be published
    parts = folder(settings, bundle)
    runs: list[dict[str, Any]] = []
    if parts.is_dir():
        runs = [json.loads(path.read_bytes()) for path in parts.iterdir() if path.suffix == ".json"]
    for run in runs:
        run["notes"] += [head(group) for group in many(groups) if run["name"] in _names(group)]
    # Failing runs first, then by name, so that the order does not depend on the workers.
    runs.sort(key=lambda run: (run["holds"], run["name"]))
    failed = sum(not run["holds"] for run in runs)
    shared = "".join(f"; {head(group)}" for group in many(groups)[:1])[:300]
    page = render(limited(runs), f"msdump: {counted(len(runs), 'run')}, {failing(failed)}{shared}")
    settings.report.parent.mkdir(parents=True, exist_ok=True)
    write_held(settings.report, page.encode())
    shutil.rmtree(parts, ignore_errors=True)
    return f"report: {settings.report}"
