"""Under ``tolerance="noise"``: whether each operator of the run, given the run's own inputs, gives the run's outputs.

Every operator that differs is computed again on what the run gave it. What comes out within the default tolerance, or
within the noise floor of its sums, is no fault of that operator: it is rounding, or what an earlier rounding became (a
gradient of nothing but rounding, divided by its own size). An input counts only if the operator, or the parameter, that
it comes from accounts for it; so no difference passes that no rounding began. What the harness cannot compute again
keeps its verdict. Operators that the run lacks are computed from its values, too, and what they give may be off by
what their own inputs may be: between frameworks whole groups of operators stand for one another so (``regions``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.compare.policy import Party
from harness.compare.verdict import Comparison
from harness.explain.evidence import Evidence
from harness.explain.regions import leave_out_regions
from harness.explain.rerun import Rerun


def settle(comparison: Comparison, expected: Party, found: Party) -> Comparison:
    """The comparison, with slots within tolerance that rounding accounts for.

    Args:
        comparison: under the table by dtype.
        expected: the side whose graphs tell what each operator is; without graphs nothing changes.
        found: where that has no graphs, being of another framework, groups of operators without counterparts hold if
            what they give does.
    """
    apart = bool(comparison.counterparts) and not _evidence(found).graphs
    rerun = Rerun(comparison, _evidence(expected), apart, found.backend if found.emulated else "")
    if not rerun.run.graphs:
        return comparison
    rerun.walk()
    if apart:
        leave_out_regions(comparison, rerun, found)
    comparison.slots = [rerun.settled.get(slot.key, slot) for slot in comparison.slots]
    comparison.forget_counts()
    return comparison


def _evidence(party: Party) -> Evidence:
    texts: Any = getattr(party.content, "artefacts", {})
    given = texts if isinstance(texts, Mapping) else texts()
    return Evidence(party.records, lambda: given, party.backend, party.emulated)
