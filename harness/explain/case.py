"""The starting point of an explanation: two runs, and the operator where they begin to differ."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from harness.compare.divergence import Execution
from harness.explain.alignment import Alignment
from harness.explain.evidence import Evidence
from harness.explain.statements import Statement
from harness.records import Record


@dataclass(frozen=True, eq=False)
class Case:
    """Two runs and the origin of their difference.

    Attributes:
        expected, found: the runs.
        where: the origin's execution on the expected side.
        there: the origin's execution on the found side.
        outputs: its differing outputs, by slot: expected and found record.
        inputs: its differing inputs in the same form, without those that were updated in place.
        states: its differing inputs that it wrote before they were recorded, so that they are results.
        given: whether no recorded operator made the differing inputs.
        unrecorded: whether something unrecorded made them.
        names: the golden's names of the run's operators, see ``Comparison``.
    """

    expected: Evidence
    found: Evidence
    where: Execution
    there: Execution
    outputs: Mapping[int, tuple[Record, Record]]
    inputs: Mapping[int, tuple[Record, Record]] = field(default_factory=dict)
    states: Mapping[int, tuple[Record, Record]] = field(default_factory=dict)
    given: bool = False
    unrecorded: bool = False
    names: Mapping[tuple[int, int, int, str], str] = field(default_factory=dict)

    @cached_property
    def aligned(self) -> Alignment:
        """The graph of the origin on both sides."""
        step = self.where[:3]
        paired = {new: name for (*place, name), new in self.names.items() if tuple(place) == step}
        return Alignment(self.expected.graphs, self.found.graphs, self.where.graph, paired)

    @cached_property
    def statements(self) -> tuple[Statement | None, Statement | None]:
        """The operator's statements in the graphs of both sides."""
        return (
            self.expected.graphs.statement(self.where.graph, self.where.operator),
            self.found.graphs.statement(self.there.graph, self.there.operator),
        )

    def later(self, except_for: Container[int]) -> Iterator[Case]:
        """The same operator in later iterations in which its outputs differ and all its inputs agree, with some
        exceptions.

        Args:
            except_for: slots of the inputs that may differ.
        """
        for where in self.expected.order:
            if where.iteration <= self.where.iteration or where != self.where._replace(iteration=where.iteration):
                continue
            there = self.there._replace(iteration=where.iteration)
            statement = self.expected.graphs.statement(where.graph, where.operator)
            written = statement.mutates if statement is not None else ()
            inputs = self._apart(where, there, "input")
            if any(slot not in written and slot not in except_for for slot in inputs):
                return
            outputs = self._apart(where, there, "output")
            states = {slot: pair for slot, pair in inputs.items() if slot in written}
            if outputs or states:
                yield Case(self.expected, self.found, where, there, outputs, {}, states)

    def takers(self) -> Iterator[Case]:
        """The step's other operators with other outputs where nothing differs but what the origin was given, too."""
        contents = {(self.expected.content(e), self.found.content(f)) for e, f in self.inputs.values()}
        for where in self.expected.order:
            if where[:3] != self.where[:3] or where == self.where:
                continue
            there = where._replace(operator=self.aligned.partner.get(where.operator, where.operator))
            inputs = self._apart(where, there, "input")
            if inputs and {(self.expected.content(e), self.found.content(f)) for e, f in inputs.values()} <= contents:
                made = Case(self.expected, self.found, where, there, self._apart(where, there, "output"), inputs)
                yield from [made] if made.outputs else []

    def apart(self, io: str) -> dict[int, tuple[Record, Record]]:
        """The origin's slots with other contents, within the tolerance or beyond: ``input`` or ``output``."""
        return self._apart(self.where, self.there, io)

    def _apart(self, where: Execution, there: Execution, io: str) -> dict[int, tuple[Record, Record]]:
        """The differing slots of an execution."""
        others = self.found.slots(there, io)
        pairs = {slot: (e, others[slot]) for slot, e in self.expected.slots(where, io).items() if slot in others}
        return {s: (e, f) for s, (e, f) in pairs.items() if self.expected.content(e) != self.found.content(f)}

    @property
    def op(self) -> str:
        """The operator's type."""
        return self.expected.op_type(self.where)
