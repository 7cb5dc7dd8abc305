"""The differences in what an operator was given that is no tensor, by the names of its schema; and in what a view's
results tell of its arguments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.compare.arguments import SETTINGS, shown
from harness.explain.case import Case
from harness.explain.evidence import loaded
from harness.explain.explanation import Change
from harness.explain.recorded import named_records, named_values
from harness.explain.replay import Setting
from harness.records import Record

#: what stands for an argument that is listed on the other side alone
NOT_GIVEN = "not given"
#: numbers may be computed from tensors, whose last bits depend on the machine
_NEAR = 1e-6
_LONGEST = 60


@dataclass(frozen=True, eq=False)
class Given:
    """One difference in the operator's inputs.

    Attributes:
        kind: ``attribute``, ``constant``, ``parameter``, ``data`` or ``input`` (made by another operator).
        change: the change, in words.
        slot: slot of an input; -1 for an attribute.
        value: the run's value.
        detail: the kind of a tensor's difference, in words.
        exact: whether this gives exactly the found bits.
    """

    kind: str
    change: Change
    slot: int = -1
    value: Any = None
    detail: str = ""
    exact: bool = False


def by_name(case: Case) -> bool:
    """Whether both sides name all arguments of the operator that are no tensors, with their values."""
    return None not in _sides(case)


def changed_arguments(case: Case) -> list[Given]:
    """The arguments with other values: those that differ by more than the last bits, else all that differ."""
    one, other = _sides(case)
    if one is None or other is None or case.expected.op_type(case.where) != case.found.op_type(case.there):
        return []
    found: list[Given] = []
    near: list[Given] = []
    for name in dict.fromkeys((*one, *other)):
        before, after = one.get(name, (..., NOT_GIVEN)), other.get(name, (..., NOT_GIVEN))
        if _same(before[0], after[0]):
            continue
        given = Given("attribute", Change(_told(case, name), _cut(before[1]), _cut(after[1])), value={name: after[0]})
        (near if _nearly(before[0], after[0]) else found).append(given)
    return found or near


#: names that say nothing without the operator's
_PLAIN = frozenset({"self", "other", "value", "exponent", "alpha", "beta", "scalar", "scalars"})


def _told(case: Case, name: str) -> str:
    return f"{case.op}'s {name}" if name in _PLAIN else name


_Named = Mapping[str, tuple[Any, str]]


def _sides(case: Case) -> tuple[_Named | None, _Named | None]:
    one, other = case.expected.slots(case.where, "input"), case.found.slots(case.there, "input")
    return _named(one, other), _named(other, one)


def _named(records: Mapping[int, Record], beside: Mapping[int, Record]) -> _Named | None:
    """Value and text of each argument; None if one has no name or no known value."""
    found: dict[str, tuple[Any, str]] = {}
    for named, each in named_records(records, beside):
        values = named_values(each, named)
        if not named or values is None:
            return None
        for name, value in values.items():
            text = shown(each) if named != SETTINGS else None
            found[name] = value, text if text is not None else str(value)
    return found


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and (one == other or (one != one and other != other))


def _nearly(one: Any, other: Any) -> bool:
    if not all(isinstance(each, (float, list)) for each in (one, other)):
        return False
    try:
        a, b = (np.asarray(each, np.float64) for each in (one, other))
    except (TypeError, ValueError):
        return False
    return a.shape == b.shape and bool(np.all(np.abs(a - b) <= _NEAR * np.maximum(np.abs(a), np.abs(b))))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def changed_view(case: Case, given: Setting | None) -> Iterator[tuple[Setting, list[Given]]]:
    """The golden's view with the arguments that its results tell, and what is another one in the run."""
    if given is None or given.replayer is None or case.inputs or case.states:
        return
    results = [
        [loaded(each) for _, each in sorted(side.slots(where, "output").items())]
        for side, where in ((case.expected, case.where), (case.found, case.there))
    ]
    if any(each is None for side in results for each in side):
        return
    one, other = (given.replayer.solve(given.call(), [each for each in side if each is not None]) for side in results)
    if one is None or other is None:
        return
    changed = [name for name in dict.fromkeys((*one, *other)) if one.get(name, ...) != other.get(name, ...)]
    if changed:
        leaves = [
            Given("attribute", Change(name, *(_cut(str(side.get(name, NOT_GIVEN))) for side in (one, other))),
                  value={name: other.get(name, ...)})
            for name in changed
        ]  # fmt: skip
        yield given.changed(attrs=one), leaves
