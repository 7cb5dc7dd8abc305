"""What became here of the tests that pass under the real MindSpore."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.interop.table import Table

Row = dict[str, Any]

#: how a test that passes there went here
PASSED, REFUSED, CHECKED, ABSENT, VALUE, ACCEPTED, INTERNAL, OTHER, LIMIT = (
    "passed", "refused by name", "refused by a check", "cannot be imported", "another value",
    "not refused", "internal error", "another error", "out of time or killed",
)  # fmt: skip


@dataclass(frozen=True)
class Sample:
    """Files that were drawn, and where their results lie.

    Attributes:
        out: the directory with ``real/FILE.jsonl`` and ``here/FILE.jsonl``.
        files: their paths in MindSpore's repository.
        seed: what they were drawn with.
    """

    out: Path
    files: list[str]
    seed: int


def _rows(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def _outcomes(rows: list[Row]) -> dict[str, Row]:
    """The worst row of each test."""
    found: dict[str, Row] = {}
    for row in rows:
        if row["when"] in ("setup", "call", "teardown"):
            before = found.get(row["test"])
            if before is None or before["outcome"] == "passed":
                found[row["test"]] = row
    return found


def _ours(kind: str) -> bool:
    return kind.startswith("harness.errors.Unsupported") or kind == "harness.errors.UnknownNameError"


def kind_of(row: Row) -> str:
    """What a test did here, by what it failed with."""
    kind, file, line = row.get("kind", ""), row.get("file", ""), row.get("line", "")
    if row["outcome"] == "passed":
        return REFUSED if any(_ours(each) for each in row["raised"]) else PASSED
    if row["outcome"] == "skipped":
        return OTHER
    if _ours(kind):
        return REFUSED
    if kind.endswith("Failed") and "DID NOT RAISE" in row.get("text", ""):
        return ACCEPTED
    if kind == "builtins.AssertionError":
        return VALUE if "/harness/" not in file else INTERNAL
    if "/harness/" in file or kind.startswith("harness."):
        return CHECKED if line.startswith("raise") or kind.startswith("harness.") else INTERNAL
    return OTHER


def judged(sample: Sample) -> list[tuple[str, str, str, Row]]:
    """``(file, test, kind, row)`` of each test that passes under the real MindSpore."""
    found = []
    for file in sample.files:
        there = _outcomes(_rows(sample.out / "real" / f"{file}.jsonl"))
        rows = _rows(sample.out / "here" / f"{file}.jsonl")
        here = _outcomes(rows)
        broken = next((row for row in rows if row["when"] == "collect"), None)
        for test, row in there.items():
            if row["outcome"] != "passed":
                continue
            if test in here:
                found.append((file, test, kind_of(here[test]), here[test]))
            elif broken is not None:
                found.append((file, test, ABSENT, broken))
            else:
                found.append((file, test, LIMIT, {"text": "no result"}))
    return found


INTRO = """
Files drawn from MindSpore's own tests (`st` and `ut/python`), of a public copy of 2025-07 (`mindspore_test`), each run
under MindSpore 2.10.0 on a CPU, and under `msdump run`, both with numpy 1.26.4: of the tests that pass there, what
became of them here (`python -m tests.interop.own_tests`; a file has 30 seconds). "Refused by name": what is not
supported says so; a test that passes because that was raised counts as refused. "Refused by a check": another error
that is raised on purpose; "another error" is one of the test's own.
"""


def tabulate(table: Table, samples: Sequence[Sample]) -> None:
    """Adds a row for each sample, and one for each area of all."""
    kinds = (PASSED, REFUSED, CHECKED, ABSENT, VALUE, ACCEPTED, INTERNAL, OTHER, LIMIT)
    section = table.section("MindSpore's own tests", ("files", "tests", *kinds), INTRO, "sample")
    areas: dict[str, Counter[str]] = defaultdict(Counter)
    for sample in samples:
        found = judged(sample)
        count = Counter(kind for _, _, kind, _ in found)
        rates = {kind: f"{count[kind]} ({100 * count[kind] / max(len(found), 1):.1f} %)" for kind in kinds}
        section.rows[f"seed {sample.seed}"] = {"files": len(sample.files), "tests": len(found), **rates}
        for file, _, kind, _ in found:
            areas[area_of(file)][kind] += 1
    for area, count in sorted(areas.items()):
        section.rows[area] = {"tests": count.total(), **{kind: count[kind] for kind in kinds}}


def area_of(file: str) -> str:
    """The part of MindSpore's tests that a file is of: ``st/ops``, ``ut/python/nn``."""
    return "/".join(file.split("/")[1 : 4 if "ut/" in file else 3])


def report(sample: Sample) -> str:
    """Rates by kind, by area, and the most frequent reasons, as text."""
    all_of = judged(sample)
    kinds = Counter(kind for _, _, kind, _ in all_of)
    ran = len({file for file, *_ in all_of})
    lines = [f"seed {sample.seed}: {len(sample.files)} files, {ran} with tests that pass there: {len(all_of)} tests"]
    lines += [f"  {kind}: {count} ({100 * count / len(all_of):.1f} %)" for kind, count in kinds.most_common()]
    areas: dict[str, Counter[bool]] = defaultdict(Counter)
    for file, _, kind, _ in all_of:
        areas[area_of(file)][kind == PASSED] += 1
    lines += ["by area:"]
    lines += [f"  {area}: {count[True]} of {count.total()}" for area, count in sorted(areas.items())]
    reasons: Counter[tuple[str, str]] = Counter()
    for _, _, kind, row in all_of:
        if kind != PASSED:
            text = (row.get("text") or "").strip().split("\n")[0][:150]
            reasons[kind, f"{row.get('kind', '').rpartition('.')[2]}: {text}"] += 1
    lines += ["reasons:"] + [f"  {count} {kind} | {text}" for (kind, text), count in reasons.most_common(60)]
    return "\n".join(lines)
