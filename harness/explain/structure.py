"""Explains operators that one side lacks or that stand elsewhere, and what the values prove about them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from math import prod

import numpy as np

from harness.compare.divergence import Execution
from harness.compare.origin import Kind, Origin
from harness.explain.alignment import Alignment
from harness.explain.evidence import Evidence, loaded
from harness.explain.explanation import Cause, Certainty
from harness.explain.graphs import Argument
from harness.explain.numbers import short_operator
from harness.explain.replay import computed, setting
from harness.explain.reproduced import is_rounding
from harness.records import Record, SlotKey

#: largest number of the run's operators to compute again, one after the other, from the golden's values
_DEPTH = 3


class Structure:
    """The cause of a structural origin."""

    def __init__(self, origin: Origin, expected: Evidence, found: Evidence) -> None:
        self._origin = origin
        self._expected = expected
        self._found = found

    def cause(self) -> Cause:
        """What changed, and whether that is proven."""
        kind = self._origin.kind
        proofs: dict[Kind, Callable[[], Certainty | None]] = {
            Kind.REPLACED: self._by_replay, Kind.INSERTED: self._by_replay, Kind.REMOVED: self._passed_on,
            Kind.MOVED: self._by_replay, Kind.REWIRED: self._rewired, Kind.RENAMED: lambda: Certainty.BITS,
        }  # fmt: skip
        certainty = proofs[kind]()
        text = self._text()
        return Cause(certainty or Certainty.LIKELY, text.split(":")[0] if ":" in text else "rewired", text)

    def _text(self) -> str:
        origin = self._origin
        name, other = short_operator(origin.where.operator), short_operator(origin.counterpart or "")
        after = short_operator(origin.before[0] or "")
        place = f" (after {after})" if after else ""
        if origin.counterpart is not None and (cell := changed_cell(origin.where.operator, origin.counterpart)):
            return f"replaced: {cell}"
        if origin.kind is Kind.REPLACED:
            return f"replaced: {name} by {other}{place}"
        if origin.kind is Kind.RENAMED:
            return f"renamed: {name} to {other}"
        if origin.kind is Kind.REWIRED:
            made = [each for each in origin.inputs if each.expected_from or each.found_from]
            if made:
                one, two = short_operator(made[0].expected_from or "?"), short_operator(made[0].found_from or "?")
                return f"{name} takes {two} in place of {one} as {made[0].key.slot_name}"
            return f"{name} takes the output of another operator"
        if origin.kind is Kind.MOVED:
            one, two = (short_operator(each or "") or "the start" for each in origin.before)
            if one == two:
                return f"moved: {name} runs at another place in the order"
            return f"moved: {name} stands after {two}, expected after {one}"
        return f"{origin.kind.value}: {name}{place}"

    @property
    def _there(self) -> Execution:
        name = self._origin.counterpart
        return self._origin.where if name is None else self._origin.where._replace(operator=name)

    def _by_replay(self) -> Certainty | None:
        """Whether the found operators, computed again from the golden's values, give the found results."""
        return Certainty.REPLAY if self._follows(self._there, _DEPTH) else None

    def _follows(self, where: Execution, depth: int) -> bool:
        """Whether an execution of the run reproduces its outputs from the golden's values, or from operators of which
        the same is true."""
        statement = self._found.graphs.statement(where.graph, where.operator)
        again = setting(self._found, where)
        results = computed(again) if again is not None else None
        if statement is None or results is None:
            return False
        for slot, record in self._found.slots(where, "output").items():
            values = loaded(record)
            if values is None or slot >= len(results) or not is_rounding(values, results[slot]):
                return False
        taken = self._found.slots(where, "input")
        pairs = [(taken.get(at), a) for at, a in enumerate(statement.arguments) if not a.is_monad]
        return all(self._is_known(record, argument, where, depth) for record, argument in pairs)

    def _is_known(self, record: Record | None, argument: Argument, where: Execution, depth: int) -> bool:
        if argument.is_constant or argument.parameter is not None:
            return True
        if record is not None and self._expected.holds(self._found.content(record), record):
            return True
        if argument.producer is None or depth == 0:
            return False
        return self._follows(where._replace(operator=argument.producer[0]), depth - 1)

    def _passed_on(self) -> Certainty | None:
        """Whether the takers of the removed operator's output now take its input."""
        where = self._origin.where
        inputs = [a for r in self._expected.slots(where, "input").values() if (a := loaded(r)) is not None and a.ndim]
        outputs = list(self._expected.slots(where, "output").values())
        sizes = {(record.dtype, prod(record.shape)) for record in outputs}
        digests = {content for record in outputs if (content := self._expected.content(record)) is not None}
        for record in self._expected.by_key.values():
            if record.key.io != "input" or record.key[:3] != where[:3]:
                continue
            if (record.dtype, prod(record.shape)) not in sizes or self._expected.content(record) not in digests:
                continue
            other = loaded(self._found.by_key.get(self._taker(record.key)))
            if other is not None and any(
                other.size == a.size and np.array_equal(other.reshape(-1), a.reshape(-1)) for a in inputs
            ):
                return Certainty.BITS
        return None

    def _taker(self, key: SlotKey) -> SlotKey:
        """The run's slot that corresponds to one of the golden."""
        return key._replace(operator=self._aligned.partner.get(key.operator, key.operator))

    @cached_property
    def _aligned(self) -> Alignment:
        return Alignment(self._expected.graphs, self._found.graphs, self._origin.where.graph)

    def _rewired(self) -> Certainty | None:
        if self._follows(self._there, 1):
            return Certainty.REPLAY
        return (
            Certainty.BITS if any(each.slot is not None and each.found_from for each in self._origin.inputs) else None
        )


def changed_cell(expected: str, found: str) -> str:
    """The cell whose type changed, if two names differ only in that: ``optimizer: Adam -> SGD``.

    Cells are ``name-Type`` in a full name; below the changed cell, names may differ.
    """
    for one, other in zip(expected.split("/")[:-1], found.split("/")[:-1], strict=False):
        if one == other:
            continue
        (name, _, old), (other_name, _, new) = one.rpartition("-"), other.rpartition("-")
        return f"{name}: {old} -> {new}" if name and name == other_name else ""
    return ""
