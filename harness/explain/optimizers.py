"""Whether another setting of an optimizer gives the run's update: its operators, computed again with the run's numbers.

The record of settings (``Default/optimizer-AdamW/settings-op0``) computes nothing itself. The proof is an operator of
the same step that took other numbers and the same tensors: computed with the run's numbers, it gives the run's result.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from harness.compare.divergence import Execution
from harness.dtypes import ARGUMENT_FORMAT
from harness.explain.case import Case

SETTING = "Settings"
#: operators whose numbers are looked at, and that are computed again
_LOOKED, _MOST = 400, 3


def updates(case: Case) -> Iterator[Case]:
    """The operators of an optimizer's step that took other numbers than the golden's and equal tensors, where the
    origin is the record of its settings."""
    if case.expected.op_type(case.where) == SETTING:
        yield from islice(_updates(case), _MOST)


def _updates(case: Case) -> Iterator[Case]:
    scope = case.where.operator.rpartition("/")[0] + "/"
    after = islice(_after(case.expected.order, case.where, scope), _LOOKED)
    for where in after:
        there = where._replace(operator=case.there.operator.rpartition("/")[0] + "/" + where.operator[len(scope) :])
        made = Case(case.expected, case.found, where, there, {})
        inputs, outputs = made.apart("input"), made.apart("output")
        if outputs and inputs and all(e.format == f.format == ARGUMENT_FORMAT for e, f in inputs.values()):
            yield replace(made, outputs=outputs, inputs=inputs)


def _after(order: list[Execution], where: Execution, scope: str) -> Iterator[Execution]:
    begun = False
    for each in order:
        begun = begun or each == where
        same = each[:3] == where[:3]
        if begun and same and each != where and each.operator.startswith(scope):
            yield each
