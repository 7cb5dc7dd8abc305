"""Results as JSON: one schema for ``--json`` of all commands and ``pytest --msdump-json`` (docs/reference/json.md).

Within a version keys are added, and never change their meaning; whoever reads a file ignores what it does not know.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from importlib.metadata import PackageNotFoundError, version
from io import StringIO
from pathlib import Path
from typing import Any

from harness.atomic import write_held
from harness.capture.capture import Problem
from harness.compare.policy import Judgement
from harness.compare.table import as_json as as_json
from harness.compare.verdict import Verdict
from harness.exit_status import CANNOT_TELL, HOLDS
from harness.explain import Commands, Explanation

FORMAT = "msdump-results"
VERSION = 1
#: stands for standard output, instead of the text
STANDARD = Path("-")
#: so many gaps are listed; their number is always there
_GAPS = 100


def document(command: str, code: int, comparisons: Sequence[Mapping[str, Any]] = (), **more: Any) -> dict[str, Any]:
    """What a command found.

    Args:
        command: ``check``, ``diff``, ``verify``, ``audit``, ``ranks``, ``review`` or ``pytest``.
        code: its exit code.
        comparisons: see ``comparison``.
        more: what this command alone has.
    """
    verdict = "holds" if code == HOLDS else "cannot tell" if code == CANNOT_TELL else "differs"
    return {
        "format": FORMAT, "version": VERSION, "tool": {"name": "pytest-msdump", "version": _own_version()},
        "command": command, "exit_code": code, "verdict": verdict, "comparisons": list(comparisons), **more,
    }  # fmt: skip


def _own_version() -> str:
    """The project's version; empty where it is run without being installed."""
    try:
        return version("pytest-msdump")
    except PackageNotFoundError:
        return ""


def comparison(
    judged: Judgement, explanation: Explanation | None, *, network: str, backend: str, mode: str, golden: str,
    found: str, suggestions: Sequence[Mapping[str, str]] = (), gaps: Sequence[Problem] = (),
) -> dict[str, Any]:  # fmt: skip
    """One comparison of a run with its golden.

    Args:
        judged: the judgement.
        explanation: why it does not hold; None if it does, or if nothing was compared.
        network, backend, mode: of the run.
        golden, found: names of both sides.
        suggestions: see ``suggested``.
        gaps: files that could not be used.
    """
    counts = {verdict.value: count for verdict, count in judged.comparison.counts.items()}
    return {
        "network": network, "backend": backend, "mode": mode, "golden": golden, "found": found,
        "verdict": judged.verdict, "holds": judged.holds, "slots": judged.comparison.total, "counts": counts,
        "renamed": judged.renamed, "order_changed": judged.comparison.order is not None,
        "altered": [each._asdict() for each in judged.comparison.altered],
        "texts_hold": judged.texts_hold, "gaps": gaps_of(judged.lost, gaps), "rule": judged.rule,
        "suggestions": list(suggestions), **explained(explanation),
    }  # fmt: skip


def gaps_of(number: int, problems: Sequence[Problem] = ()) -> dict[str, Any]:
    """What could not be read, and so was not compared: its number, and where it is known which and why."""
    return {
        "count": number,
        "listed": [dict(zip(("path", "kind", "why"), each, strict=False)) for each in problems[:_GAPS]],
    }


def explained(explanation: Explanation | None) -> dict[str, Any]:
    """First divergence, cause with its check, environment and what the failure is filed as; None where there is
    none."""
    if explanation is None:
        return {
            "first_divergence": None, "cause": None, "environment": [], "filed": None, "tolerance": "", "others": [],
        }  # fmt: skip
    told = explanation.to_json()
    origin = told["origin"]
    if origin is not None:
        names = ("rank", "graph", "iteration", "operator", "execution", "io", "number")
        origin = {**origin, **dict(zip(names, origin["slot"], strict=True))}
        origin["slot"] = f"{origin['io']}.{origin['number']}"
    kept = {name: told[name] for name in ("cause", "environment", "filed", "tolerance", "others")}
    plain: dict[str, Any] = as_json({"first_divergence": origin, **kept})
    return plain


def suggested(commands: Commands) -> list[dict[str, str]]:
    """Commands to run next, each with what it is for: ``see``, ``picture``, ``accept``."""
    named = {"see": commands.see, "picture": commands.picture, "accept": commands.meant}
    return [{"for": name, "command": text} for name, text in named.items() if text]


def counts_of(result: Mapping[str, Any]) -> dict[str, int]:
    """The numbers of slots by verdict of one of the plugin's results."""
    names = {
        Verdict.IDENTICAL: "identical", Verdict.WITHIN: "within", Verdict.UNSURE: "unsure",
        Verdict.DIFFERS: "differing", Verdict.MISSING: "missing", Verdict.UNEXPECTED: "unexpected",
        Verdict.NOT_COMPARED: "gaps", Verdict.ACCEPTED: "accepted_gaps",
    }  # fmt: skip
    return {verdict.value: int(result[name]) for verdict, name in names.items()}


def rendered(found: Mapping[str, Any]) -> str:
    """A document as text."""
    return json.dumps(found, indent=1, allow_nan=False) + "\n"


def write(path: Path | None, found: Mapping[str, Any]) -> None:
    """Writes a document whole or not at all; ``-`` is standard output, None nothing.

    Raises:
        OSError: it cannot be written.
    """
    if path == STANDARD:
        sys.stdout.write(rendered(found))
    elif path is not None:
        write_held(path, rendered(found).encode(errors="surrogateescape"))


@contextmanager
def instead_of_text(path: Path | None) -> Iterator[None]:
    """Keeps a command's text back while a document goes to standard output."""
    if path != STANDARD:
        yield
        return
    with redirect_stdout(StringIO()):
        yield


def kept(path: Path, command: str, run: Callable[[dict[str, Any]], int]) -> int:
    """Runs a command, writes what it kept as a document, and gives its exit code.

    Args:
        path: file to write; ``-`` for standard output, instead of the text.
        command: its name.
        run: the command; it puts what the document shall have into the given table.

    Raises:
        OSError: the file cannot be written.
    """
    found: dict[str, Any] = {}
    with instead_of_text(path):
        code = run(found)
    write(path, document(command, code, found.pop("comparisons", ()), **as_json(found)))
    return code
