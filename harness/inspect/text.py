"""A report as text."""

from __future__ import annotations

from harness.explain.numbers import printable
from harness.inspect.finding import Finding, Report
from harness.words import counted

_WIDTH = 200


def lines(report: Report, every: bool = False, limit: int = 20) -> list[str]:
    """The lines of a report.

    Args:
        report: see ``Report``.
        every: show every note, else only how many there are of a rule.
        limit: errors that are shown in full.
    """
    steps, ranks = len(report.iterations), len(report.ranks)
    size = f"{counted(report.slots, 'slot')}, {counted(steps, 'step')}" + (f", {ranks} ranks" if ranks > 1 else "")
    errors, notes = report.errors, report.notes
    title = f"{report.network or 'run'}: {counted(len(errors), 'error')}, {counted(len(notes), 'note')} ({size})"
    shown = [title]
    for finding in errors[:limit]:
        shown += told(finding)
    if len(errors) > limit:
        shown.append(f"and {counted(len(errors) - limit, 'more error')}")
    if every:
        for finding in notes:
            shown += told(finding)
    elif notes:
        kinds: dict[str, int] = {}
        for finding in notes:
            kinds[finding.kind] = kinds.get(finding.kind, 0) + 1
        shown.append("Notes: " + ", ".join(f"{kind} ({n})" if n > 1 else kind for kind, n in kinds.items()))
    shown += [f"Not told: {each}" for each in report.untold]
    if report.unread:
        shown.append(
            f"Not read: {counted(report.unread, 'slot or file', '').replace('slot or files', 'slots or files')}"
        )
    return shown


def told(finding: Finding) -> list[str]:
    """A finding in at most five lines."""
    rank = f"rank {finding.rank}, " if finding.rank else ""
    source = f" ({finding.source})" if finding.source else ""
    lead = "Error" if finding.is_error else "Note"
    found = [f"{lead}, {finding.kind} [{finding.rule}]: {printable(finding.text, _WIDTH)}"]
    found.append(f"  {rank}iteration {finding.iteration}, {printable(finding.operator, 160)}{printable(source, 100)}")
    if finding.reason:
        found.append(f"  {finding.certainty.value}: {printable(finding.reason, _WIDTH)}")
    if finding.elements:
        found.append(f"  {printable(', '.join(finding.elements), _WIDTH)}")
    if finding.folded:
        found.append(f"  then {printable(finding.folded, _WIDTH)}")
    return found
