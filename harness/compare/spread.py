"""Follows a difference through a run: where it begins, where it is passed on, where it ends, how large it is.

Data flow is read from the bits: an input was made by the latest earlier output that has the same digests on both
sides. It needs no graph, so that it works on a dump tree without one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from harness.compare.dataflow import Content, Stated, content_of, producers
from harness.compare.divergence import (
    PARAMETER,
    Execution,
    by_execution,
    causes,
    execution_of,
    further_inputs,
    inputs_of,
)
from harness.compare.measurement import Measurement
from harness.compare.verdict import Comparison, SlotVerdict, Verdict
from harness.records import SlotKey


class Role(Enum):
    """The role of an operator execution in the difference of two runs."""

    AGREES = "agrees"
    NEW = "new"
    GIVEN = "given"
    CARRIED = "carried"
    CANCELLED = "cancelled"
    UNKNOWN = "unknown"
    ABSENT = "absent"


#: The meaning of each role, in words.
MEANING: Mapping[Role, str] = {
    Role.AGREES: "inputs and outputs agree",
    Role.NEW: "its inputs agree, its outputs do not: the difference begins here",
    Role.GIVEN: "a weight, data or a constant differs, or another operator's output is taken here first: "
    "no one operator of both sides made it",
    Role.CARRIED: "its inputs differ, and so do its outputs",
    Role.CANCELLED: "its inputs differ, its outputs agree: the difference ends here",
    Role.UNKNOWN: "its outputs differ; not all of its inputs were compared",
    Role.ABSENT: "only one side has it",
}


@dataclass(frozen=True, slots=True)
class SpreadRow:
    """One operator execution of both runs.

    Attributes:
        where: the operator execution.
        op_type: primitive name, or ``Parameter``.
        source: source line, if known.
        role: see ``Role``.
        noise_in, noise_out: the largest ``noise`` of its inputs and outputs; None if nothing was measured.
        fed_by: executions that made its differing inputs.
        feeds: executions that take its differing outputs.
    """

    where: Execution
    op_type: str
    source: str | None
    role: Role
    noise_in: float | None
    noise_out: float | None
    fed_by: tuple[Execution, ...]
    feeds: tuple[Execution, ...]

    @property
    def growth(self) -> float | None:
        """How many times larger its outputs' noise is than its inputs'; None if one of them is unknown or 0."""
        if not self.noise_in or not self.noise_out or math.isinf(self.noise_in):
            return None
        return self.noise_out / self.noise_in


@dataclass(frozen=True)
class Spread:
    """The steps of two runs in execution order."""

    steps: tuple[SpreadRow, ...]

    def of(self, *roles: Role) -> tuple[SpreadRow, ...]:
        """The steps with one of ``roles``, in order."""
        return tuple(step for step in self.steps if step.role in roles)


def noise(measurement: Measurement | None) -> float | None:
    """The error's root mean square over that of the expected values; infinite if there is a NaN, if the expected values
    are zeros, and if both are too large for float64.

    0 for equal values; None if it was not measured. It is ``10**(-snr / 20)``; multiplying both sides by a constant
    does not change it, so that it can be followed from operator to operator.
    """
    if measurement is None:
        return None
    if measurement.nonfinite:
        return math.inf
    sums = measurement.sums
    if not sums.error_squared:
        return 0.0
    size = math.sqrt(sums.error_squared / sums.expected_squared) if sums.expected_squared else math.inf
    return math.inf if math.isnan(size) else size


def spread(comparison: Comparison) -> Spread:
    """Follows the difference over a comparison of measured slots (``check(..., measured=True)``)."""
    executions = by_execution(comparison)
    further = further_inputs(comparison)
    new = set(causes(executions, further, comparison.uncompared))
    made_by = producers(comparison, executions, Stated(comparison))
    takers = _takers(comparison, executions, made_by)
    feeds: dict[Execution, dict[Execution, None]] = {}
    fed_by: dict[Execution, dict[Execution, None]] = {}
    for slot in comparison.slots:
        maker = made_by.get(slot.key)
        if maker is not None and slot.verdict is Verdict.DIFFERS:
            made, used = execution_of(maker), execution_of(slot.key)
            feeds.setdefault(made, {})[used] = None
            fed_by.setdefault(used, {})[made] = None
    steps = []
    for where, slots in executions.items():
        role = Role.NEW if where in new else _role(slots, inputs_of(slots, further.get(where, ())), made_by)
        if role is Role.CARRIED and where in takers:
            role = Role.GIVEN
        ins = [slot for slot in slots if slot.key.io == "input" and not slot.overwritten]
        outs = [slot for slot in slots if slot.key.io == "output"]
        source = next((slot.source for slot in slots if slot.source), None)
        takes, gives = tuple(fed_by.get(where, ())), tuple(feeds.get(where, ()))
        steps.append(SpreadRow(where, slots[0].op_type, source, role, _noise(ins), _noise(outs), takes, gives))
    return Spread(tuple(steps))


def _role(slots: Sequence[SlotVerdict], inputs: Sequence[SlotVerdict], made_by: Mapping[SlotKey, SlotKey]) -> Role:
    if all(slot.verdict in (Verdict.MISSING, Verdict.UNEXPECTED) for slot in slots):
        return Role.ABSENT
    bad_in = any(not slot.verdict.holds for slot in inputs)
    bad_out = any(not slot.verdict.holds for slot in slots if slot.key.io == "output")
    if slots[0].op_type == PARAMETER and bad_out:
        return Role.CARRIED if any(slot.key in made_by for slot in slots) else Role.GIVEN
    if bad_out:
        return Role.CARRIED if bad_in else Role.UNKNOWN
    if bad_in and any(slot.key.io == "output" for slot in slots):
        return Role.CANCELLED
    return Role.CARRIED if bad_in else Role.AGREES


def _noise(slots: Sequence[SlotVerdict]) -> float | None:
    """The largest noise; 0 for identical slots."""
    sizes = [0.0 if slot.verdict is Verdict.IDENTICAL else noise(slot.measurement) for slot in slots]
    return max((size for size in sizes if size is not None), default=None)


def _takers(
    comparison: Comparison,
    executions: Mapping[Execution, Sequence[SlotVerdict]],
    made_by: Mapping[SlotKey, SlotKey],
) -> set[Execution]:
    """The first takers of differing contents that no one operator of both sides made: weights, data, constants, and
    outputs of different operators."""
    seen: set[Content] = set()
    takers = set()
    for where, slots in executions.items():
        differing = [
            slot for slot in slots if not slot.verdict.holds and slot.key.io == "input" and not slot.overwritten
        ]
        lone = [content for slot in differing if (content := content_of(comparison, slot)) and slot.key not in made_by]
        if lone and len(lone) == len(differing) and any(content not in seen for content in lone):
            takers.add(where)
        seen.update(lone)
    return takers
