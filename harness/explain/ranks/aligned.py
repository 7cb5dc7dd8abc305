"""Which executions of a rank are the same in two runs, where one runs operators that the other lacks.

Names count operators, so that one that is left out gives all later ones of its kind another name.
"""

from __future__ import annotations

import re

from harness.compare.pairing.stated import Node, mates
from harness.explain.ranks.timeline import Execution, Run

#: longer steps are not aligned: that would take longer than the run
_LONGEST = 20_000
_COUNTED = re.compile(r"-op\d+$")


class Aligned:
    """One rank of two runs.

    Args:
        golden, found: the runs.
        rank: whose executions.

    Attributes:
        gone, came: what only the golden executes, and only the run, in order, of the first step with such executions.
    """

    def __init__(self, golden: Run, found: Run, rank: int) -> None:
        self._placed = golden.placed.get(rank, {})
        self._lines = golden.timeline.get(rank, []), found.timeline[rank]
        there, here = self._placed.keys(), found.placed[rank].keys()
        self._apart = {place[:2] for place in there ^ here}
        self._mates: dict[tuple[int, int], dict[int, Execution]] = {}
        self.gone: list[Execution] = []
        self.came: list[Execution] = []
        for step in sorted(self._apart, key=lambda each: (each[1], each[0])):
            pairs = self._pairs(step)
            mated = {id(each) for each in pairs.values()}
            self.gone = [each for each in self._step(0, step) if id(each) not in mated]
            self.came = [each for each in self._step(1, step) if id(each) not in pairs]
            if self.gone or self.came:
                break

    def _step(self, side: int, step: tuple[int, int]) -> list[Execution]:
        return [each for each in self._lines[side] if each.place[:2] == step]

    def _pairs(self, step: tuple[int, int]) -> dict[int, Execution]:
        """The golden's executions of a step, by the ``id`` of those of the run."""
        if step not in self._mates:
            there, here = self._step(0, step), self._step(1, step)
            if max(len(there), len(here)) > _LONGEST:
                pairs = ((each, self._placed.get(each.place)) for each in here)
                self._mates[step] = {id(each): mate for each, mate in pairs if mate is not None}
            else:
                found = mates([_node(each) for each in there], [_node(each) for each in here])
                self._mates[step] = {id(here[b]): there[a] for a, b in found.items()}
        return self._mates[step]

    def mate(self, execution: Execution) -> Execution | None:
        """The golden's counterpart of an execution of the run; None if it has none."""
        step = execution.place[:2]
        return self._pairs(step).get(id(execution)) if step in self._apart else self._placed.get(execution.place)


def _node(each: Execution) -> Node:
    form = (each.shapes, each.said)
    return Node(
        each.operator, _COUNTED.sub("", each.operator), each.op_type, form, content=(each.read, each.made, form)
    )
