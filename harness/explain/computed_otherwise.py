"""Checks an origin of kind "computed otherwise": all its inputs must have been compared, and it must be able to make
its outputs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from harness.compare.origin import Input, Kind, Origin, State
from harness.explain.case import Case
from harness.explain.evidence import is_of_records, loaded
from harness.explain.statements import Argument
from harness.records import SlotKey

#: operators that only give values they take: other values come from elsewhere
_CUTS_OUT = frozenset(
    {
        "StridedSlice", "Slice", "SliceExt", "slice", "select", "narrow", "index", "as_strided", "Split", "SplitD",
        "split", "chunk", "unbind", "Gather", "GatherV2", "GatherD",
    }
)  # fmt: skip
_WHY = "it was not captured"
_WIDEST = 8
Array = np.ndarray[Any, np.dtype[Any]]


def whole(divergence: Origin, case: Case) -> Origin:
    """The origin with all inputs in its graph, and with the kind that they allow.

    If an input was not captured, the operator is only the first to differ. If a slice of agreeing inputs holds values
    that they lack, it was not computed otherwise: something unrecorded wrote to it.
    """
    if divergence.kind is not Kind.COMPUTED:
        return divergence
    missing = _missing(divergence, case)
    if missing:
        return replace(divergence, kind=Kind.UNSURE, inputs=(*divergence.inputs, *missing))
    if case.op in _CUTS_OUT and _is_from_elsewhere(case):
        return replace(divergence, kind=Kind.UNRECORDED)
    return divergence


def _missing(divergence: Origin, case: Case) -> tuple[Input, ...]:
    """Inputs of which neither side kept anything, and whose makers were not kept either."""
    statement = case.statements[0]
    known = {each.key.slot for each in divergence.inputs}
    if statement is None or is_of_records(case.expected):
        return ()
    return tuple(
        Input(SlotKey(*case.where, "input", at), State.NOT_COMPARED, _WHY)
        for at, argument in enumerate(statement.arguments)
        if at not in known and not (argument.is_monad or argument.is_constant) and not _agrees(argument, case)
    )


def _agrees(argument: Argument, case: Case) -> bool:
    """Whether an argument's maker was compared and agrees."""
    if argument.producer is None:
        return False
    name, output = argument.producer
    sides = (
        side.slots(where._replace(operator=name), "output").get(output)
        for side, where in ((case.expected, case.where), (case.found, case.there))
    )
    one, other = sides
    if one is None or other is None:
        return False
    content = case.expected.content(one)
    return content is not None and content == case.found.content(other)


def _is_from_elsewhere(case: Case) -> bool:
    """Whether a result of the run has values that no agreeing input has, if the values are known."""
    taken = [
        values for record in case.found.slots(case.there, "input").values() if (values := loaded(record)) is not None
    ]
    for _, found in case.outputs.values():
        made = loaded(found)
        alike = [each for each in taken if made is not None and each.dtype == made.dtype and each.size]
        if made is not None and alike:
            known = np.unique(np.concatenate([_bits(each) for each in alike]))
            if not np.isin(_bits(made), known).all():
                return True
    return False


def _bits(values: Array) -> Array:
    """The elements' bits as whole numbers, which can always be sorted."""
    flat = np.ascontiguousarray(values).reshape(-1)
    return flat.view(f"u{values.itemsize}") if values.itemsize <= _WIDEST else flat.view("u8").reshape(-1)
