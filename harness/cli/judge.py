"""``msdump judge``: judges the output of ``msdump diff --json`` under other tolerances, without running anything."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.cli.amount import limit
from harness.compare import Tolerances
from harness.compare.rejudge import OUTSIDE, UNSURE, WITHIN, rejudged
from harness.errors import HarnessError
from harness.escape import clipped, line
from harness.reading import parsing, read_json
from harness.report.results import FORMAT, VERSION, gaps_of
from harness.words import counted

_MAX_BYTES = 1 << 30
_LISTED = 20
#: its format in 0.2.0 and before
_BEFORE = "msdump-diff"


def judge(path: Path, tolerances: Tolerances, keep: dict[str, Any] | None = None) -> int:
    """Judges every slot of a stored comparison again and prints what does not hold.

    Args:
        path: file that ``msdump diff --json`` wrote.
        tolerances: the tolerances to apply now.
        keep: receives what ``--json`` writes.

    Returns:
        0 if everything holds; 1 if something differs; 2 if nothing certainly differs, but some slots kept too little to
        tell.

    Raises:
        HarnessError: the file cannot be read, or is not such a comparison.
    """
    content = _read(path)
    with parsing(f"{path}: a comparison", HarnessError):
        judged = rejudged(content, tolerances)
    if keep is not None:
        keep["counts"] = {
            "identical": judged.identical,
            **{each: judged.counts[each] for each in (WITHIN, OUTSIDE, UNSURE)},
        }
        keep |= {"failing": list(judged.failing), "gaps": gaps_of(judged.lost)}
    counts = (f"{judged.counts[each]} {each}" for each in (WITHIN, OUTSIDE, UNSURE))
    print(", ".join([f"{judged.identical} identical", *counts]))
    shown = limit(_LISTED)
    failing = [clipped(line(text)) for text in judged.failing[:shown]]
    print("\n".join(failing + ([f"and {len(judged.failing) - shown} more"] if len(judged.failing) > shown else [])))
    if judged.lost:
        print(f"not compared: {counted(judged.lost, 'file')} that could not be used")
    if content.get("texts_hold") is False:
        print("texts that are results differ")
    return judged.code


def _read(path: Path) -> dict[str, Any]:
    content = read_json(path, _MAX_BYTES, HarnessError)
    kinds = {"slots": list, "counts": dict}
    if (
        not isinstance(content, dict)
        or content.get("format") not in (FORMAT, _BEFORE)
        or content.get("version") != VERSION
        or content.get("command", "diff") != "diff"
    ):
        raise HarnessError(f"{path}: not a comparison of version {VERSION} as msdump diff --json writes it")
    if not all(isinstance(content.get(name), kind) for name, kind in kinds.items()):
        raise HarnessError(f"{path}: a damaged comparison: {' or '.join(kinds)} is missing")
    return content
