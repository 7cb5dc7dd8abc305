"""The texts of two runs for a page: a list of them, and their differences, of bounded size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.capture.kinds import kind_of
from harness.capture.recorder import readable
from harness.compare.line_diff import LINES, LineDiff, line_diff

IDENTICAL, DIFFERS, MISSING, NEW = "identical", "differs", "missing", "new"
#: Characters of differences that all artefacts of a run may show together; lines shown of an artefact on one side only.
CHARACTERS = 400_000
HEAD = 60
#: Largest size for a comparison line by line.
MAX_BYTES = 32 << 20


def artefacts(expected: Mapping[str, bytes], found: Mapping[str, bytes]) -> list[dict[str, Any]]:
    """All texts of both sides as JSON values, by name.

    Returns:
        Of each ``name``, ``kind``, ``recorder``, ``counts`` and ``normalised`` (see ``harness.capture.kinds``),
        ``state`` (``identical``, ``differs``, ``missing``: only expected, ``new``: only found), ``bytes`` and, unless
        identical, ``lines`` (of both sides, None where it has none), ``removed`` and ``added`` (how many lines),
        ``hunks`` (first line in either text, then tag and text of each line), ``left_out`` (how many removed and added
        lines ``hunks`` lack) and ``same_as`` (the place of an earlier one with the same differences, instead);
        ``cut`` says in words what is not shown.
    """
    left = CHARACTERS
    rows: list[dict[str, Any]] = []
    seen: dict[Any, int] = {}
    for at, name in enumerate(sorted(expected.keys() | found.keys())):
        one, other = expected.get(name), found.get(name)
        row = _named(name, one, other)
        if row["state"] != IDENTICAL:
            shown = _difference(name, one, other, left)
            if (content := str(shown.get("hunks"))) in seen and shown.get("hunks"):
                shown["hunks"], shown["same_as"] = [], seen[content]
            else:
                seen[content] = at
                left -= sum(len(text) for hunk in shown["hunks"] for _, text in hunk[2])
            row |= shown
        rows.append(row)
    return rows


def state(expected: bytes | None, found: bytes | None) -> str:
    """``identical``, ``differs``, ``missing`` (only expected) or ``new`` (only found); for a text on at least one
    side."""
    if expected is None:
        return NEW
    return MISSING if found is None else IDENTICAL if expected == found else DIFFERS


def _named(name: str, one: bytes | None, other: bytes | None) -> dict[str, Any]:
    kind = kind_of(name)
    sizes = [None if side is None else len(side) for side in (one, other)]
    return {
        "name": name, "kind": kind.words, "recorder": kind.recorder, "counts": kind.counts,
        "normalised": kind.normalised, "state": state(one, other), "bytes": sizes,
    }  # fmt: skip


def _difference(name: str, one: bytes | None, other: bytes | None, left: int) -> dict[str, Any]:
    """Their differences, in at most ``left`` characters."""
    empty: dict[str, Any] = {"lines": [None, None], "removed": 0, "added": 0, "hunks": [], "left_out": 0}
    if max(len(side or b"") for side in (one, other)) > MAX_BYTES:
        return empty | {"cut": f"larger than {MAX_BYTES >> 20} MB: not compared line by line"}
    sides = [None if side is None else _lines(name, side) for side in (one, other)]
    limit = LINES if one is not None and other is not None else HEAD
    diff = line_diff(sides[0] or [], sides[1] or [], limit=limit)
    hunks, left_out, cut = _fitted(diff, left)
    return {
        "lines": [None if side is None else len(side) for side in sides],
        "removed": diff.removed, "added": diff.added, "hunks": hunks, "left_out": left_out, "cut": cut,
    }  # fmt: skip


def _fitted(diff: LineDiff, left: int) -> tuple[list[Any], int, str]:
    """Hunks of at most ``left`` characters; the number of lines left out; a note about them."""
    hunks: list[Any] = []
    left_out = diff.left_out
    for hunk in diff.hunks:
        left -= sum(len(text) for _, text in hunk.lines)
        if left < 0:
            left_out += sum(tag != " " for tag, _ in hunk.lines)
            continue
        hunks.append([hunk.expected, hunk.found, [list(line) for line in hunk.lines]])
    if left_out:
        return hunks, left_out, f"{left_out} more of {diff.removed + diff.added} differing lines are not shown"
    if not diff.removed + diff.added:
        return hunks, 0, "the lines are equal: the bytes differ in line ends or in what no line shows"
    return hunks, 0, ""


def _lines(name: str, raw: bytes) -> list[str]:
    lines = readable(name, raw).decode("utf-8", "backslashreplace").split("\n")
    return lines if lines[-1] else lines[:-1]  # nothing stands behind the last line end
