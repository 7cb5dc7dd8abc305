"""Groups of operators that correspond in two frameworks although no two single operators do.

``CrossEntropyLoss`` is twenty operators on one side and two on the other; an LSTM is one on each, with other inputs.
Such a group is compared only at its ends: the expected side's operators are computed from the run's values, and their
takers must have the results. A result without a taker (a loss) must occur on the other side.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from harness.compare.divergence import FOUND_SUFFIX, PARAMETER, Execution
from harness.compare.policy import Party
from harness.compare.verdict import Comparison, SlotVerdict, Verdict
from harness.dtypes import ARGUMENT_FORMAT, from_numpy
from harness.explain.evidence import Evidence, loaded
from harness.explain.floors import Array, agree
from harness.explain.rerun import Rerun
from harness.records import Record, SlotKey
from harness.stats import digest

#: Operators that only assemble their inputs: without takers, their results are known if their inputs are.
_JOINS = frozenset({"stack", "cat"})
#: Operators that take a tensor only for its shape.
_SHAPE_ONLY = frozenset({"ones_like", "zeros_like", "full_like", "new_zeros", "new_ones", "new_full", "rand_like"})
#: Scope of gradients in captures of PyTorch.
_GRADIENTS = "Gradients"
_ALONE = (Verdict.MISSING, Verdict.UNEXPECTED)


def leave_out_regions(comparison: Comparison, rerun: Rerun, found: Party) -> None:
    """Removes the slots of operators without a counterpart from a comparison, if their results were compared.

    Args:
        comparison: comparison of paired runs, which is changed: ``composed`` counts the operators that were left out on
            each side.
        rerun: the rerun that processed it.
        found: the side without graphs.
    """
    theirs = _Theirs(comparison, rerun, Evidence(found.records, dict))
    ours = _Ours(rerun, theirs)
    theirs.walk(ours.results)
    ours.walk()
    composed = {where for where in ours.right if _alone(rerun, where)}
    comparison.composed = len(composed), len(theirs.right & theirs.alone)
    comparison.slots = [slot for slot in comparison.slots if not _is_left_out(slot, ours.right, theirs.right_slots)]


def _is_left_out(slot: SlotVerdict, ours: set[Execution], theirs: set[SlotKey]) -> bool:
    if slot.verdict is Verdict.MISSING:
        return Execution(*slot.key[:5]) in ours
    return slot.verdict is Verdict.UNEXPECTED and _plain(slot) in theirs


def _is_paired(slot: SlotVerdict) -> bool:
    return slot.verdict not in _ALONE


def _alone(rerun: Rerun, where: Execution) -> bool:
    """Whether only the expected side has an operator."""
    slots = rerun.slots.get(where, {}).values()
    return bool(slots) and all(slot.verdict is Verdict.MISSING for slot in slots)


class _Theirs:
    """The found side: takers by content, because it has no graphs.

    Attributes:
        alone: its operators without a counterpart, under their names in the comparison.
        right: those whose results are all compared somewhere, or equal the expected side's.
        results: results of operators without a counterpart, by iteration and number of elements.
    """

    def __init__(self, comparison: Comparison, rerun: Rerun, run: Evidence) -> None:
        self._rerun, self._run = rerun, run
        self._named: dict[SlotKey, list[SlotVerdict]] = defaultdict(list)
        for slot in comparison.slots:
            if slot.verdict is not Verdict.MISSING:
                self._named[_plain(slot)].append(slot)
        self.iterations = {_plain(s).iteration: s.key.iteration for s in comparison.slots if s.verdict not in _ALONE}
        self._takers: dict[tuple[int, int, bytes], list[Record]] = defaultdict(list)
        for record in run.by_key.values():
            if record.key.io == "input" or record.op_type == PARAMETER:
                self._takers[self._content(record)].append(record)
        self.alone = {where for where in run.order if self._is_alone(where)}
        self.results: dict[tuple[int, int], list[Record]] = defaultdict(list)
        for record in run.by_key.values():
            if record.key.io == "output" and self._is_unexpected(record.key):
                self.results[self._place(record)].append(record)
        self.right: set[Execution] = set()
        self.right_slots: set[SlotKey] = set()

    def walk(self, known: dict[tuple[int, int], list[SlotKey]]) -> None:
        """Finds the correct operators.

        Args:
            known: results of the expected side's operators without a counterpart, by iteration and number of elements.
        """
        for where in reversed(self._run.order):
            given = list(self._run.slots(where, "output").values())
            shown = {each.key for each in given if self._is_taken(each) or self._is_known(each, known)}
            compared = [slot for key in self._keys(where) for slot in self._named.get(key, ()) if _is_paired(slot)]
            if compared:
                right = all(slot.key in self._rerun.follows for slot in compared if slot.key.io == "output")
            elif self._run.op_type(where) != PARAMETER:
                right = self._is_right(where, given, shown, known)
            else:
                continue
            if right:
                self.right.add(where)
                self.right_slots |= {record.key for record in self._run.slots(where, "input").values()}
                self.right_slots |= shown if compared else {record.key for record in given}

    def _is_right(
        self, where: Execution, given: list[Record], shown: set[SlotKey], known: dict[tuple[int, int], list[SlotKey]]
    ) -> bool:
        """Whether an operator without a counterpart gives the right results."""
        used = [each for each in given if self._is_used(each)]
        if not used and self._run.op_type(where) in _JOINS:
            tensors = [s for s in self._run.slots(where, "input").values() if s.format != ARGUMENT_FORMAT]
            return all(self._is_known(each, known) for each in tensors)
        # A gradient's result without a taker is the gradient of data.
        wanted = used if used and where.operator.startswith(f"{_GRADIENTS}/") else given
        return bool(wanted) and all(each.key in shown for each in wanted)

    def gives(self, wanted: Array, bound: Array | None, iteration: int) -> bool:
        """Whether an operator without a counterpart gives this content."""
        return any(
            _alike(wanted, values, bound)
            for record in self.results.get((iteration, wanted.size), ())
            if (values := loaded(record)) is not None
        )

    def _is_taken(self, record: Record) -> bool:
        """Whether a taker shows that an output is right, and none shows that it is wrong."""
        shown = []
        for taker in self._takers.get(self._content(record), ()):
            where = Execution(*taker.key[:5])
            if where == Execution(*record.key[:5]) or taker.op_type in _SHAPE_ONLY:
                continue
            compared = [slot.key in self._rerun.follows for slot in self._named.get(taker.key, ()) if _is_paired(slot)]
            if compared and not any(compared):
                return False
            shown.append(any(compared) or where in self.right)
        return any(shown)

    def _is_used(self, record: Record) -> bool:
        own = Execution(*record.key[:5])
        return any(Execution(*taker.key[:5]) != own for taker in self._takers.get(self._content(record), ()))

    def _is_known(self, record: Record, known: dict[tuple[int, int], list[SlotKey]]) -> bool:
        values = loaded(record)
        for key in known.get(self._place(record), ()) if values is not None else ():
            wanted, bound = self._rerun.computed[key], self._rerun.bound(key)
            if values is not None and _alike(wanted, values, bound):
                return True
        return False

    def _is_alone(self, where: Execution) -> bool:
        return all(map(self._is_unexpected, keys)) if (keys := list(self._keys(where))) else False

    def _is_unexpected(self, key: SlotKey) -> bool:
        slots = self._named.get(key, ())
        return bool(slots) and all(slot.verdict is Verdict.UNEXPECTED for slot in slots)

    def _keys(self, where: Execution) -> Iterator[SlotKey]:
        return (record.key for io in ("input", "output") for record in self._run.slots(where, io).values())

    def _place(self, record: Record) -> tuple[int, int]:
        count = 1
        for length in record.shape:
            count *= length
        return self.iterations.get(record.key.iteration, record.key.iteration), count

    @staticmethod
    def _content(record: Record) -> tuple[int, int, bytes]:
        content = record.digest
        if content is None:
            values = record.load()
            content = b"" if values is None else digest(values, record.dtype)
        return record.key.rank, record.key.iteration, content


class _Ours:
    """The expected side: takers by its graphs.

    Attributes:
        right: its operators whose results are compared somewhere, or equal the found side's.
        results: computed results of operators without a counterpart, by iteration and number of elements.
    """

    def __init__(self, rerun: Rerun, theirs: _Theirs) -> None:
        self._rerun, self._theirs = rerun, theirs
        self._takers: dict[SlotKey, list[SlotKey]] = defaultdict(list)
        for where in rerun.expected.order:
            statement = rerun.run.graphs.statement(where.graph, where.operator)
            for at, argument in enumerate(statement.arguments if statement is not None else ()):
                if argument.producer is not None:
                    made = where._replace(operator=argument.producer[0])
                    self._takers[SlotKey(*made, "output", argument.producer[1])].append(SlotKey(*where, "input", at))
        self.results: dict[tuple[int, int], list[SlotKey]] = defaultdict(list)
        for key, values in rerun.computed.items():
            self.results[key.iteration, values.size].append(key)
        self.right: set[Execution] = set()

    def walk(self) -> None:
        """Finds the correct operators."""
        for where in reversed(self._rerun.expected.order):
            slots = self._rerun.slots.get(where, {})
            outputs = [key for key, slot in slots.items() if key.io == "output" and slot.verdict not in _ALONE]
            if outputs:
                if all(key in self._rerun.follows for key in outputs):
                    self.right.add(where)
            elif self._rerun.expected.op_type(where) != PARAMETER and self._gives_what_is_known(where):
                self.right.add(where)

    def _gives_what_is_known(self, where: Execution) -> bool:
        given = [record.key for record in self._rerun.expected.slots(where, "output").values()]
        if not given or any(key not in self._rerun.computed for key in given):
            return False
        updated = self._updated(where)
        if updated:
            return all(key in self._rerun.follows for key in updated)
        wanted = [key for key in given if self._takers.get(key)] or given[:1]
        return all(self._is_taken(key) or self._is_theirs(key) for key in wanted)

    def _is_taken(self, key: SlotKey) -> bool:
        """See ``_Theirs._is_taken``."""
        shown = []
        for taker in self._takers.get(key, ()):
            where = Execution(*taker[:5])
            slot = self._rerun.slots.get(where, {}).get(taker)
            if slot is not None and _is_paired(slot) and taker not in self._rerun.follows:
                return False
            shown.append(taker in self._rerun.follows or where in self.right)
        return any(shown)

    def _is_theirs(self, key: SlotKey) -> bool:
        return self._theirs.gives(self._rerun.computed[key], self._rerun.bound(key), key.iteration)

    def _updated(self, where: Execution) -> list[SlotKey]:
        """The parameters that an operator writes and that are compared at the end of the step."""
        statement = self._rerun.run.graphs.statement(where.graph, where.operator)
        if statement is None:
            return []
        names = [statement.arguments[at].parameter for at in statement.mutates]
        records = [self._rerun.expected.parameter(name, where.rank, where.iteration) for name in names if name]
        return [r.key for r in records if r is not None and r.key in self._rerun.slots.get(Execution(*r.key[:5]), {})]


def _plain(slot: SlotVerdict) -> SlotKey:
    """The name of a slot on the found side."""
    if slot.verdict is Verdict.UNEXPECTED:
        return slot.key._replace(operator=slot.key.operator.removesuffix(FOUND_SUFFIX))
    return slot.found_as or slot.key


def _alike(wanted: Array, found: Array, bound: Array | None) -> bool:
    """Whether values are equal up to their shape, or the width of whole numbers."""
    if wanted.size != found.size or (wanted.dtype.kind in "fV") != (found.dtype.kind in "fV"):
        return False
    if wanted.dtype.kind not in "fV":
        return bool(np.array_equal(wanted.reshape(-1), found.reshape(-1)))
    floor = None if bound is None else bound.reshape(-1)
    dtype = from_numpy(wanted.dtype).name
    return agree(wanted.reshape(-1), found.reshape(-1).astype(wanted.dtype), dtype, floor)
