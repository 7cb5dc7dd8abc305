"""Whether another setting of an optimizer gives the run's update: its operators, computed again with the run's numbers.

The record of settings (``Default/optimizer-AdamW/settings-op0``) computes nothing itself. The proof is an operator of
the same step that took other numbers and the same tensors: computed with the run's numbers, it gives the run's result;
or one that the setting adds or takes away, if what both runs computed shows that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from harness.compare.divergence import Execution
from harness.compare.first_divergence import first_divergence
from harness.compare.origin import Kind, Origin
from harness.compare.verdict import Comparison
from harness.dtypes import ARGUMENT_FORMAT
from harness.explain.case import Case
from harness.explain.claim import Check
from harness.explain.explanation import Cause, Certainty
from harness.explain.structure import Structure
from harness.explain.trained import GRADIENT, UPDATES, is_unchanged

SETTING = "Settings"
#: operators whose numbers are looked at, and that are computed again
_LOOKED, _MOST = 400, 3
#: names of parameters in one text
_SHOWN = 3


def updates(case: Case) -> Iterator[Case]:
    """The operators of an optimizer's step that took other numbers than the golden's and equal tensors, where the
    origin is the record of its settings."""
    if case.expected.op_type(case.where) == SETTING:
        yield from islice(_updates(case), _MOST)


def _updates(case: Case) -> Iterator[Case]:
    scope = _scope(case.where)
    after = islice(_after(case.expected.order, case.where, scope), _LOOKED)
    for where in after:
        there = where._replace(operator=_scope(case.there) + where.operator[len(scope) :])
        made = Case(case.expected, case.found, where, there, {})
        inputs, outputs = made.apart("input"), made.apart("output")
        if outputs and inputs and all(e.format == f.format == ARGUMENT_FORMAT for e, f in inputs.values()):
            yield replace(made, outputs=outputs, inputs=inputs)


def shown_by_operators(cause: Cause, comparison: Comparison, case: Case) -> Cause:
    """The cause, proven where the first operators that differ in the optimizer's step were added, replaced or taken
    away, and that is proven (``amsgrad``, ``maximize``, no ``weight_decay``)."""
    scope = _scope(case.where)
    left = replace(comparison, slots=[each for each in comparison.slots if each.op_type != SETTING])
    origin = first_divergence(left)
    if origin is None or not origin.kind.structural or not origin.where.operator.startswith(scope):
        return cause
    shown = Structure(origin, case).cause()
    if not shown.certainty.proven:
        return cause
    return replace(
        cause, certainty=shown.certainty, text="; ".join(dict.fromkeys((cause.text, shown.text))), check=shown.check
    )


def left_out(origin: Origin, case: Case) -> Cause | None:
    """The cause if an optimizer takes no step, or if the other side gives it other parameters."""
    if UPDATES not in case.where.operator:
        return None
    if case.expected.op_type(case.where) != SETTING:
        return _other_parameters(case)
    return _no_step(case) if origin.kind is Kind.REMOVED else None


def _no_step(case: Case) -> Cause | None:
    """Proven if no weight that the optimizer has in the golden changes."""
    where, scope = case.where, _scope(case.where)
    if any(each[:3] == where[:3] and each.operator.startswith(scope) for each in case.found.order):
        return None
    now, before = ({each.key.operator: case.found.content(each) for each in case.found.parameters
                    if (each.key.rank, each.key.iteration) == (where.rank, step)}
                   for step in (where.iteration, where.iteration - 1))  # fmt: skip
    same = bool(now) and now == before
    text = f"removed: {scope.rpartition('/')[0].rpartition('/')[2]} takes no step in iteration {where.iteration}"
    check = Check("fact", {"unchanged": sorted(now), "in": "run", "iteration": where.iteration}) if same else None
    return Cause(Certainty.BITS if same else Certainty.LIKELY, "removed", text, check=check)


def _other_parameters(case: Case) -> Cause | None:
    """Both sides have gradients of some parameters, and the optimizer of one side alone takes them: proven, as these
    parameters never change on the other side."""
    where, scope = case.where, _scope(case.where)
    sides = case.expected, case.found
    with_gradient = [{each.key.operator.removesuffix(".grad") for each in side.by_key.values()
                      if each.op_type == GRADIENT and each.key.rank == where.rank} for side in sides]  # fmt: skip
    taken = [[a.parameter for each in side.graphs.operators(where.graph) if each.name.startswith(scope)
              for a in each.arguments if a.parameter] for side in sides]  # fmt: skip
    both = with_gradient[0] & with_gradient[1]
    lost, gained = (
        [name for name in dict.fromkeys(one) if name in both and name not in other]
        for one, other in (taken, taken[::-1])
    )
    names, without = lost or gained, case.found if lost else case.expected
    if bool(lost) == bool(gained) or not all(is_unchanged(without, name, where.rank) for name in names):
        return None
    optimizer = scope[:-1].rpartition("/")[2]
    some = ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
    verb = "does not update" if lost else "updates"
    text = f"{optimizer} {verb} {some}, {'of which there are gradients' if lost else 'unlike in the golden'}"
    kind = "removed" if lost else "inserted"
    check = Check("fact", {"unchanged": names, "in": "run" if lost else "golden"})
    return Cause(Certainty.BITS, kind, f"{kind}: {text}", check=check)


def _scope(where: Execution) -> str:
    return where.operator.rpartition("/")[0] + "/"


def _after(order: list[Execution], where: Execution, scope: str) -> Iterator[Execution]:
    begun = False
    for each in order:
        begun = begun or each == where
        same = each[:3] == where[:3]
        if begun and same and each != where and each.operator.startswith(scope):
            yield each
