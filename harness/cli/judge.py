"""``msdump judge``: judges the output of ``msdump diff --json`` under other tolerances, without running anything."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from harness.cli.diff import FORMAT, VERSION
from harness.compare import Tolerances, Verdict
from harness.compare.needed_tolerance import NeededTolerance
from harness.compare.policy import exit_code
from harness.compare.smallest_tolerance import SmallestTolerance, rounded_up, worth_naming
from harness.compare.table import needed_tolerance_of
from harness.compare.tolerances import Tolerance
from harness.dtypes import by_name
from harness.errors import HarnessError
from harness.escape import line
from harness.reading import parsing, read_json
from harness.records import SlotKey

_MAX_BYTES = 1 << 30
_LISTED = 20
WITHIN, OUTSIDE, UNSURE = "within tolerance", "differs", "cannot tell"


def judge(path: Path, tolerances: Tolerances) -> int:
    """Judges every slot of a stored comparison again and prints what does not hold.

    Args:
        path: file that ``msdump diff --json`` wrote.
        tolerances: the tolerances to apply now.

    Returns:
        0 if everything holds; 1 if something differs; 2 if nothing certainly differs, but some slots kept too little to
        tell.

    Raises:
        HarnessError: the file cannot be read, or is not such a comparison.
    """
    content = _read(path)
    with parsing(f"{path}: a comparison", HarnessError):
        verdicts = [(_verdict(slot, tolerances), _told(slot, tolerances)) for slot in content["slots"]]
        known = [content["counts"].get(each.value, 0) for each in (Verdict.IDENTICAL, Verdict.STATISTICS)]
        if any(type(count) is not int or count < 0 for count in known):
            raise ValueError(f"the counts of slots that agree are {str(known)[:80]}")
        identical = sum(known)
    counts = Counter(verdict for verdict, _ in verdicts)
    print(", ".join([f"{identical} identical", *(f"{counts[v]} {v}" for v in (WITHIN, OUTSIDE, UNSURE))]))
    failing = [line(text) for verdict, text in verdicts if verdict != WITHIN]
    print("\n".join(failing[:_LISTED] + ([f"and {len(failing) - _LISTED} more"] if len(failing) > _LISTED else [])))
    texts = content.get("texts_hold")  # no tolerance accepts another text
    if texts is False:
        print("texts that are results differ")
    differs = counts[OUTSIDE] or content.get("order_changed") or content.get("renamed") or texts is False
    empty = not verdicts and not identical and texts is None
    return exit_code(differs=bool(differs), unsure=bool(counts[UNSURE]) or empty)


def _read(path: Path) -> dict[str, Any]:
    content = read_json(path, _MAX_BYTES, HarnessError)
    kinds = {"slots": list, "counts": dict}
    if not isinstance(content, dict) or content.get("format") != FORMAT or content.get("version") != VERSION:
        raise HarnessError(f"{path}: not a comparison of version {VERSION} as msdump diff --json writes it")
    if not all(isinstance(content.get(name), kind) for name, kind in kinds.items()):
        raise HarnessError(f"{path}: a damaged comparison: {' or '.join(kinds)} is missing")
    return content


def _verdict(slot: dict[str, Any], tolerances: Tolerances) -> str:
    if slot["verdict"] in (Verdict.MISSING.value, Verdict.UNEXPECTED.value):
        return OUTSIDE
    tolerance = _tolerance(slot, tolerances)
    needed = needed_tolerance_of(slot)
    if slot["verdict"] == Verdict.UNSURE.value and not tolerance.exact:
        return UNSURE
    if needed is None or tolerance.exact:
        return OUTSIDE
    if slot["smallest_rtol"] is not None and tolerance.rtol >= float(slot["smallest_rtol"]):
        return WITHIN  # known exactly, while the needed tolerance only has bounds
    return _ANSWERS[needed.admits(tolerance)]


def _tolerance(slot: dict[str, Any], tolerances: Tolerances) -> Tolerance:
    io, _, number = slot["slot"].partition(".")
    where = (slot["rank"], slot["graph"], slot["iteration"], slot["operator"], slot["execution"], io, int(number))
    return tolerances.of(SlotKey(*where), slot["type"], by_name(slot["dtype"]).name)


_ANSWERS = {True: WITHIN, False: OUTSIDE, None: UNSURE}


def _told(slot: dict[str, Any], tolerances: Tolerances) -> str:
    """A slot that does not hold, and the tolerance that would accept it, if that is at most ten times the requested
    one."""
    needed, tolerance = needed_tolerance_of(slot), _tolerance(slot, tolerances)
    least: list[str] = []
    if needed is not None:
        kept = near_enough(slot["smallest_rtol"], slot["smallest_atol"], needed, tolerance)
        least = [f"{name}={rounded_up(each)}" for name, each in (("rtol", kept.rtol), ("atol", kept.atol)) if each]
        least += [f"max_ulp={kept.max_ulp}"] if kept.max_ulp else []
    passes = f"; it would pass with {' or '.join(least)}" if least else ""
    return f"  iteration {slot['iteration']}, {slot['operator']} {slot['slot']}: {slot['reason']}{passes}"


def near_enough(rtol: Any, atol: Any, needed: NeededTolerance, tolerance: Tolerance) -> SmallestTolerance:
    """The tolerances that would accept a slot, as far as ``smallest_tolerance.near`` keeps them."""
    known = [None if each in (None, "inf", "nan") else float(each) for each in (rtol, atol)]
    return worth_naming(SmallestTolerance(known[0], known[1], needed.max_ulp), tolerance, needed.scale, needed.bulk)
