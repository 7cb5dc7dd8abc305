"""Which lines of the closing section are coloured on a terminal. pytest drops the colours if ``NO_COLOR`` is set or the
output is not a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pytest_msdump.report import Summary

_FAILED = frozenset({"differs", "missing", "not compared", "cannot tell"})
_BAD = {"red": True}
_WORSE = {"red": True, "bold": True}
_LOOK = {"yellow": True}
_GOOD = {"green": True}
_ACT = ("candidate bundle left", "to see what changed", "nothing was ")
_WRONG = ("unused goldens, ", "the manifests do not describe")


def painted(lines: Iterable[str], summary: Summary) -> Iterator[tuple[str, dict[str, bool]]]:
    """The lines, each with pytest's markup for it.

    Args:
        lines: of the closing section.
        summary: what they tell.
    """
    rows = summary.rows()
    failing = {row.names for row in rows if not _FAILED.isdisjoint(row.verdicts)}
    well = bool(rows) and not (failing or summary.stale or summary.undescribed or summary.problems)
    problems, named = set(summary.problems), False
    for line in lines:
        named = line.startswith(_WRONG) or (named and line.startswith("  "))
        if line in problems or line.startswith(_WRONG):
            yield line, _WORSE
        elif line.startswith("compared "):
            yield line, _GOOD if well else _WORSE
        elif named or _names(line) in failing:
            yield line, _BAD
        else:
            yield line, _LOOK if line.startswith(_ACT) else {}


def _names(line: str) -> tuple[str, ...]:
    """Network, backend and mode in a line of the table; two blanks separate its columns."""
    return tuple(part.strip() for part in line.split("  ") if part.strip())[:3]
