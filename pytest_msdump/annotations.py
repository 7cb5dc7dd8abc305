"""What CI services show beside the code: GitHub's workflow commands, GitLab's code quality report."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pytest_msdump.report import Result
from pytest_msdump.scratch import scratch
from pytest_msdump.sharing import FAILED, Group, head, many, others

#: GitHub shows ten annotations of a step; more would hide the others.
MAX = 10
GITLAB_REPORT = "gl-code-quality.json"
#: GitLab shows no summary of a job; kept as an artefact, it is one click away
GITLAB_SUMMARY = "summary.md"
#: so many groups of failures are listed above the table
_HEADS = 20
#: GitHub drops a summary of more than 1 MiB.
MAX_SUMMARY = 1_000_000


class Annotation(NamedTuple):
    """One comparison that fails, and the source line to show it at.

    Attributes:
        file, line: of the operator that left the golden first, relative to the root directory; if it is unknown or
            outside the repository, the test's own file and line.
        title: network, backend and mode.
        message: what differs.
    """

    file: str
    line: int
    title: str
    message: str


def collect(results: Mapping[str, Sequence[Result]], root: Path, groups: Sequence[Group] = ()) -> Iterator[Annotation]:
    """The annotations of a session, by test id.

    Args:
        results: by test id.
        root: pytest's rootdir.
        groups: failures by what they share; of a large group the first one is shown, with what all share.
    """
    from harness.escape import line as shown

    told = {group.tests[0]: head(group) for group in many(groups)}
    alike = others(groups)
    for nodeid, given in results.items():
        for result in given:
            if result["verdict"] not in FAILED or nodeid in alike:
                continue
            own, _, at = (result["place"] or f"{nodeid.partition('::')[0]}:1").rpartition(":")
            file, _, line = result["source"].rpartition(":")
            known = bool(file) and line.isdecimal() and not os.path.isabs(file) and not file.startswith("..")
            known = known and _is_file(root / file)  # for a line inside a library, the file's name is enough
            title = f"msdump: {result['network']} [{result['backend']}-{result['mode']}]"
            message = result["where"] or f"verdict: {result['verdict']}"
            message += f"; cause, {result['cause']}" if result["cause"] else ""
            message += f"; it would pass with {result['passes']}" if result["passes"] else ""
            message = f"{told.pop(nodeid)}; first, {message}" if nodeid in told else message
            title, message = shown(title), shown(message)
            yield Annotation(file if known else own, int(line if known else at), title, message)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a golden's name for a file may be none that a file system takes
        return False


def github(found: Sequence[Annotation]) -> Iterator[str]:
    """The workflow commands for GitHub's log; the last line counts the annotations left out."""
    for each in found[:MAX]:
        place = f"file={_property(each.file)},line={each.line},title={_property(each.title)}"
        yield f"::error {place}::{_data(each.message)}"
    if len(found) > MAX:
        yield f"::notice::{_data(f'msdump: and {len(found) - MAX} more; the summary lists all')}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def gitlab(found: Sequence[Annotation]) -> str:
    """The text of a code quality report (a JSON list)."""
    issues: list[dict[str, Any]] = [
        {
            "description": f"{each.title}: {each.message}",
            "check_name": "msdump",
            "fingerprint": hashlib.sha256("\0".join(map(str, each)).encode()).hexdigest(),
            "severity": "major",
            "location": {"path": each.file, "lines": {"begin": each.line}},
        }
        for each in found
    ]
    return json.dumps(issues, indent=1) + "\n"


def markdown(results: Mapping[str, Sequence[Result]], size: int = MAX_SUMMARY, groups: Sequence[Group] = ()) -> str:
    """A summary of the session for people, of at most ``size`` bytes: what moved first for each failing test."""
    from harness.escape import line as shown
    from harness.words import counted, failing

    every = [each for given in results.values() for each in given]
    failed = [each for each in every if each["verdict"] in FAILED]
    slots = sum(each["slots"] for each in every)
    lines = [
        "## Golden networks",
        "",
        f"{counted(len(every), 'run')}, {counted(slots, 'slot')}; **{failing(len(failed))}**",
        "",
    ]
    if shared := [f"* {_cell(shown(head(group)))}" for group in many(groups)][:_HEADS]:
        lines += [*shared, ""]
    if failed:
        lines += ["| test | run | verdict | what moved first | cause | where |", "|---|---|---|---|---|---|"]
    used = sum(len(each.encode()) + 1 for each in lines)
    for at, each in enumerate(failed):
        run = f"{each['backend']}-{each['mode']}"
        run += f" against {each['against']}" if each["against"] != each["backend"] else ""
        what = each["where"] or "-", each["cause"] or "-"
        cells = each["network"], run, each["verdict"], *what, each["source"] or each["place"]
        row = "| " + " | ".join(_cell(shown(cell)) for cell in cells) + " |"
        used += len(row.encode()) + 1
        if used > size - 100:
            lines.append(f"\n{len(failed) - at} more are left out.")
            break
        lines.append(row)
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    """A text that Markdown and HTML show as it is."""
    plain = text[:400].replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    for letter in "\\`*_[]|~":
        plain = plain.replace(letter, f"&#{ord(letter)};")
    return plain


def publish(
    results: Mapping[str, Sequence[Result]], root: Path, environ: Mapping[str, str] = os.environ,
    groups: Sequence[Group] = (),
) -> list[str]:  # fmt: skip
    """Gives the lines to log, and writes a report into ``root/.msdump``, in the form the current CI service reads.

    Args:
        results: by test id.
        root: pytest's rootdir.
        environ: the service's environment variables.
        groups: failures by what they share.

    Raises:
        OSError: the report cannot be written.
    """
    found = list(collect(results, root, groups))
    lines: list[str] = []
    if environ.get("GITHUB_ACTIONS") == "true":
        lines += github(found)
        summary = environ.get("GITHUB_STEP_SUMMARY")
        if summary and results:
            with open(summary, "a", encoding="utf-8") as file:
                file.write(markdown(results, groups=groups))
    if found and environ.get("GITLAB_CI") == "true":
        path = scratch(root, GITLAB_REPORT)
        path.write_text(gitlab(found), encoding="utf-8")
        lines.append(f"code quality report: {path}")
        summary = str(scratch(root, GITLAB_SUMMARY))
        Path(summary).write_text(markdown(results, groups=groups), encoding="utf-8")
        lines.append(f"summary: {summary}")
    return lines
