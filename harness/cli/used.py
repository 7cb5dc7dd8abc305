"""``msdump audit GOLDEN --beside RUN``: how much of each tolerance a run uses up, and by which operators."""

from __future__ import annotations

from typing import Any

from harness.cli import amount
from harness.cli.diff import compare_sides, evidence_of
from harness.cli.operands import open_side
from harness.cli.text import table
from harness.escape import line
from harness.explain.budget import Budget, Share, budget
from harness.words import counted

_LISTED = 10
_HEADINGS = ("used", "by itself", "iteration", "operator", "slot", "tolerance")


def used_up(golden: str, run: str, tolerances: Any, every: bool, keep: dict[str, Any]) -> int:
    """Compares a run with a golden and prints which operators use up the tolerance of what they give.

    Args:
        golden, run: both sides, see ``open_side``.
        tolerances: requested tolerances; None for the default.
        every: a line for each slot.
        keep: receives what ``--json`` writes.

    Returns:
        The exit code of the comparison.
    """
    with open_side(golden) as one, open_side(run) as other:
        found = compare_sides(one, other, tolerances)
        parts = budget(found.comparison, evidence_of(one))
        name = f"{one.network} [{one.backend}/{one.mode}] beside {other.name}"
        keep.update(beside=other.name, budget=None if parts is None else parts.to_json())
        if parts is None:
            print(line(f"{name}: no operator's error is known: nothing differs, or no graph was recorded"))
            return found.judged.code
        rules = {slot.key: slot.tolerance for slot in found.comparison.apart()}
        print(line(f"{name}: {_counts(parts)}"))
        rows = sorted(parts.shares, key=lambda share: (-(share.used_alone or 0), -(share.used or 0)))
        shown = rows if every else rows[: amount.limit(_LISTED)]
        print("\n".join(f"  {each}" for each in table(_HEADINGS, [_row(each, rules[each.key]) for each in shown])))
        if len(shown) < len(rows):
            print(f"  and {len(rows) - len(shown)} more (--all lists every slot)")
        if parts.line():
            print(line(parts.line()))
        return found.judged.code


def _counts(parts: Budget) -> str:
    alone = sum((share.used_alone or 0) > 0.5 for share in parts.shares)
    most = f"{alone} use more than half of their tolerance by themselves"
    unknown = f"; {parts.unknown} more could not be computed again" if parts.unknown else ""
    return f"{counted(len(parts.shares), 'output')} of its first step that differs; {most}{unknown}"


def _row(share: Share, tolerance: Any) -> tuple[object, ...]:
    parts = ("-" if each is None else f"{100 * each:.3g} %" for each in (share.used, share.used_alone))
    return (*parts, share.key.iteration, share.key.operator, share.key.slot_name, tolerance)
