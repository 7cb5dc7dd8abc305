"""The rule of ``tolerance="noise"``: each operator of the run, applied to the run's own inputs, must give the run's
outputs.

Every differing operator is computed again on the run's own inputs. A result within the default tolerance, or within the
noise floor of its sums, is not a fault of this operator: it is rounding, or a consequence of earlier rounding (for
example a gradient that is only rounding, divided by its own size). An input counts only if its operator or parameter is
explained as well, so that no other difference passes. Operators that the harness cannot compute keep their verdict.
Operators missing in the run are computed from its values, with the possible errors of their inputs: in this way whole
groups of operators correspond between frameworks (``regions``).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from harness.compare.policy import Party
from harness.compare.verdict import Comparison
from harness.explain.evidence import Evidence, are_apart, is_of_records
from harness.explain.sides import operators_of, rules_of
from harness.replaying import engine_of


def settle(comparison: Comparison, expected: Party, found: Party) -> Comparison:
    """Returns the comparison; slots that rounding explains are within tolerance.

    Args:
        comparison: comparison under the table by dtype.
        expected: the side whose graphs describe the operators; without graphs nothing changes.
        found: the other side; if it has no graphs, because it comes from another framework, groups of operators without
            counterparts hold if their results do.
    """
    from harness.explain.regions import leave_out_regions  # what applies operators is imported if it has to
    from harness.explain.rerun import Rerun

    sides = _evidence(expected), _evidence(found)
    if all(is_of_records(each) for each in sides):
        return _without_graphs(comparison, *sides)
    apart = bool(comparison.counterparts) and (not sides[1].graphs or are_apart(*sides))
    rerun = Rerun(comparison, sides[0], apart, found.backend if found.emulated else "")
    if not rerun.run.graphs:
        return comparison
    rerun.walk()
    if apart:
        leave_out_regions(comparison, rerun, found)
    comparison.slots = [rerun.settled.get(slot.key, slot) for slot in comparison.slots]
    comparison.forget_counts()
    return comparison


def _without_graphs(comparison: Comparison, expected: Evidence, found: Evidence) -> Comparison:
    from harness.explain.settling import Settling

    settling = Settling(comparison, expected, found)
    settling.walk()
    comparison.slots = [settling.settled.get(slot.key, slot) for slot in comparison.slots]
    comparison.forget_counts()
    return comparison


def _evidence(party: Party) -> Evidence:
    texts: Any = getattr(party.content, "artefacts", {})
    given = texts if isinstance(texts, Mapping) else texts()
    engine = engine_of(rules_of(party.content), party.backend)
    return Evidence(
        party.records, lambda: given, party.backend, party.emulated,
        operators=partial(operators_of, party.content), engine=engine,
    )  # fmt: skip
