"""What an explanation starts from: two runs, and the operator where they part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from harness.compare.divergence import Execution
from harness.explain.evidence import Evidence
from harness.explain.graphs import Statement
from harness.records import Record


@dataclass(frozen=True, eq=False)
class Case:
    """Two runs and the origin of their difference.

    Attributes:
        expected, found: the runs.
        where: the origin's execution on the expected side.
        there: the same on the found side.
        outputs: its differing outputs, by slot: expected and found record.
        inputs: its differing inputs likewise; those that were updated in place lack.
        given: no recorded operator made those that differ.
        unrecorded: something that was not recorded stands before them.
    """

    expected: Evidence
    found: Evidence
    where: Execution
    there: Execution
    outputs: Mapping[int, tuple[Record, Record]]
    inputs: Mapping[int, tuple[Record, Record]] = field(default_factory=dict)
    given: bool = False
    unrecorded: bool = False

    @cached_property
    def statements(self) -> tuple[Statement | None, Statement | None]:
        """What the graphs of both sides say of the operator."""
        return (
            self.expected.graphs.statement(self.where.graph, self.where.operator),
            self.found.graphs.statement(self.there.graph, self.there.operator),
        )

    @property
    def op(self) -> str:
        """The operator's type."""
        return self.expected.op_type(self.where)
