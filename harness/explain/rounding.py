"""Under ``tolerance="noise"``: whether each operator of the run, given the run's own inputs, gives the run's outputs.

Every operator that differs is computed again on what the run gave it. What comes out within the default tolerance, or
within the noise floor of its sums, is no fault of that operator: it is rounding, or what an earlier rounding became (a
gradient of nothing but rounding, divided by its own size). An input counts only if the operator, or the parameter, that
it comes from accounts for it; so no difference passes that no rounding began. What the harness cannot compute again
keeps its verdict.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from harness.compare.divergence import PARAMETER, Execution
from harness.compare.measure import measure
from harness.compare.noise import noise_floor, terms
from harness.compare.policy import Party
from harness.compare.tolerances import DEFAULTS
from harness.compare.verdict import Comparison, SlotVerdict, Verdict
from harness.explain.evidence import Evidence, loaded
from harness.explain.graphs import Argument, Statement
from harness.explain.replay import Setting, computed_with_state, setting
from harness.framework.ops.base import OPERATORS
from harness.records import Record, SlotKey

Array = np.ndarray[Any, np.dtype[Any]]

#: Operators whose outputs are sums of products of their inputs: on magnitudes they give the size of what was summed.
SUMS = frozenset({
    "Add", "AddN", "BatchMatMul", "BiasAdd", "BiasAddGrad", "Conv2D", "Conv2DBackpropFilter", "Conv2DBackpropInput",
    "Dense", "MatMul", "Mul", "ReduceMean", "ReduceSum", "Sub", "UnsortedSegmentSum",
})  # fmt: skip
_DRAWS = 2
#: An error may be so many times the spread that two draws of inputs, moved by a unit in the last place, show.
_SPREADS = 8.0
_WHY_ROUNDING = "rounding"
_WHY_AMPLIFIED = "amplified rounding of {}"


def settle(comparison: Comparison, expected: Party) -> Comparison:
    """The comparison, with slots within tolerance that rounding accounts for.

    Args:
        comparison: under the table by dtype.
        expected: the side whose graphs tell what each operator is; without graphs nothing changes.
    """
    content: Any = expected.content
    texts: Any = getattr(content, "artefacts", {})
    given = texts if isinstance(texts, Mapping) else texts()
    rerun = _Rerun(comparison, Evidence(expected.records, lambda: given, expected.backend, expected.emulated))
    if not rerun.run.graphs:
        return comparison
    rerun.walk()
    comparison.slots = [rerun.settled.get(slot.key, slot) for slot in comparison.slots]
    comparison.forget_counts()
    return comparison


class _Mixed(Evidence):
    """The found side's values under the expected names; ``put`` adds what was computed."""

    def __init__(self, expected: Evidence, comparison: Comparison) -> None:
        super().__init__(tuple, dict, expected.backend, expected.emulated)
        self.graphs = expected.graphs
        self.by_key = {}
        self._executions = {where: [] for where in expected.order}
        verdicts = {slot.key: slot.verdict for slot in comparison.slots}
        for key, record in expected.by_key.items():
            verdict = verdicts.get(key)
            if key in comparison.pairs:
                found = comparison.pairs[key][1]
                if found.dtype == record.dtype and found.shape == record.shape:
                    self.put(replace(found, key=key, op_type=record.op_type))
            elif verdict is not None and verdict.holds:
                self.put(record)

    def put(self, record: Record) -> None:
        self.by_key[record.key] = record
        self._executions[Execution(*record.key[:5])].append(record)


class _Rerun:
    """Goes through the executions in order.

    Attributes:
        run: the found side under the expected names.
        settled: slots that rounding accounts for.
    """

    def __init__(self, comparison: Comparison, expected: Evidence) -> None:
        self._expected = expected
        self.run = _Mixed(expected, comparison)
        self._slots: dict[Execution, dict[SlotKey, SlotVerdict]] = defaultdict(dict)
        for slot in comparison.slots:
            self._slots[Execution(*slot.key[:5])][slot.key] = slot
        self.settled: dict[SlotKey, SlotVerdict] = {}
        self._roots: dict[tuple[object, ...], str] = {}
        self._left: dict[tuple[int, str], Array] = {}

    def walk(self) -> None:
        """Settles what can be."""
        for where in self._expected.order:
            if self._expected.op_type(where) == PARAMETER:
                self._parameter(where)
            else:
                self._operator(where)

    def _differing(self, where: Execution) -> list[SlotVerdict]:
        return [slot for slot in self._slots.get(where, {}).values() if slot.verdict is Verdict.DIFFERS]

    def _parameter(self, where: Execution) -> None:
        for slot in self._differing(where):
            left = self._left.get((where.rank, where.operator))
            if left is not None and self._agrees(slot, left):
                self._settle(slot, where.operator)

    def _operator(self, where: Execution) -> None:
        statement = self.run.graphs.statement(where.graph, where.operator)
        if statement is None or statement.op not in OPERATORS:
            return
        mutated = OPERATORS.get(statement.op).mutates
        root = self._root(where, statement)
        differing = self._differing(where)
        inputs = [s for s in differing if s.key.io == "input" and s.key.slot not in mutated]
        for slot in inputs:
            source = self._source(where, statement.arguments[slot.key.slot])
            if source is None or not self._agrees(slot, source):
                return
            self._settle(slot, root)
        results = [s for s in differing if s not in inputs]
        missing = [r for r in self._expected.slots(where, "output").values() if r.key not in self.run.by_key]
        if not (results or missing or mutated):
            return
        self._complete(where, statement)
        given = setting(self.run, where)
        made = computed_with_state(given) if given is not None else None
        if given is None or made is None:
            return
        self._results(where, given, made, results, missing, root)

    def _results(
        self, where: Execution, given: Setting, made: tuple[tuple[Array, ...], dict[int, Array]],
        results: list[SlotVerdict], missing: list[Record], root: str,
    ) -> None:  # fmt: skip
        outputs, state = made
        for slot in results:
            side = state if slot.key.io == "input" else dict(enumerate(outputs))
            if slot.key.slot in side and self._agrees(slot, side[slot.key.slot], given):
                self._settle(slot, root)
            elif slot.key.io == "output" and (other := _as_pytorch(given, slot)) is not None:
                again = computed_with_state(other)
                if again is not None and self._agrees(slot, again[0][slot.key.slot], other):
                    self._settle(slot, root)
        for record in missing:
            if record.key.slot < len(outputs) and outputs[record.key.slot].shape == record.shape:
                self.run.put(replace(record, values=outputs[record.key.slot], digest=None))
        for at, array in state.items():
            name = given.statement.arguments[at].parameter
            if name is not None:
                self._left[where.rank, name] = self._after_update(where, at, array)
                self._roots[where.rank, name] = root

    def _after_update(self, where: Execution, at: int, array: Array) -> Array:
        """What an updated parameter holds: the found side's where that is accounted for, else what was computed."""
        key = SlotKey(*where, "input", at)
        known = [*self.settled, *self._holding(where)]
        for each in (key, key._replace(io="output")):
            seen = loaded(self.run.by_key.get(each)) if each in known else None
            if seen is not None and seen.shape == array.shape:
                return seen
        own = self._expected.by_key.get(key)
        if own is not None:
            self.run.put(replace(own, values=array, digest=None))
        return array

    def _complete(self, where: Execution, statement: Statement) -> None:
        """Inputs that were compared with nothing: what they come from, else what the expected side was given."""
        for at, record in self._expected.slots(where, "input").items():
            if record.key not in self.run.by_key and at < len(statement.arguments):
                source = self._source(where, statement.arguments[at])
                fits = source is not None and source.shape == record.shape
                self.run.put(replace(record, values=source, digest=None) if fits else record)

    def _holding(self, where: Execution) -> list[SlotKey]:
        return [key for key, slot in self._slots.get(where, {}).items() if slot.verdict.holds]

    def _source(self, where: Execution, argument: Argument) -> Array | None:
        """What an input should hold, by where it comes from."""
        if argument.producer is not None:
            made = where._replace(operator=argument.producer[0])
            return loaded(self.run.slots(made, "output").get(argument.producer[1]))
        return self._left.get((where.rank, argument.parameter)) if argument.parameter is not None else None

    def _root(self, where: Execution, statement: Statement) -> str:
        """The operator whose rounding an execution carries on; itself where its inputs have none."""
        for argument in statement.arguments:
            if argument.producer is not None:
                maker: tuple[object, ...] = where._replace(operator=argument.producer[0])
            else:
                maker = (where.rank, argument.parameter)
            if maker in self._roots:
                self._roots[where] = self._roots[maker]
                return self._roots[where]
        if any(slot.verdict is not Verdict.IDENTICAL for slot in self._slots.get(where, {}).values()):
            self._roots[where] = where.operator
        return where.operator

    def _agrees(self, slot: SlotVerdict, wanted: Array, given: Setting | None = None) -> bool:
        found = loaded(self.run.by_key.get(slot.key))
        if found is None or found.shape != wanted.shape or found.dtype != wanted.dtype or slot.dtype not in DEFAULTS:
            return found is not None and found.dtype == wanted.dtype and found.tobytes() == wanted.tobytes()
        if measure(wanted, found, slot.dtype, DEFAULTS[slot.dtype]).is_within:
            return True
        if given is None or not (np.isfinite(wanted.astype(np.float64)) & np.isfinite(found.astype(np.float64))).all():
            return False
        floor = _floor(given, slot, wanted)
        return bool((np.abs(found.astype(np.float64) - wanted.astype(np.float64)) <= floor).all())

    def _settle(self, slot: SlotVerdict, root: str) -> None:
        own = slot.key.operator == root and slot.key.io == "output"
        why = _WHY_ROUNDING if own else _WHY_AMPLIFIED.format(root)
        self.settled[slot.key] = replace(slot, verdict=Verdict.WITHIN, reason=f"{slot.reason}: {why}")


def _as_pytorch(given: Setting, slot: SlotVerdict) -> Setting | None:
    """Adam as PyTorch has it, where that is the found side's: epsilon is added to the corrected root of the second
    moment, which is MindSpore's formula with another epsilon."""
    if given.statement.op != "Adam" or slot.found_as is None or "addcdiv" not in slot.found_as.operator:
        return None
    power, epsilon = np.asarray(given.values[4]), np.asarray(given.values[8])
    return given.changed({8: (epsilon * np.sqrt(1 - power)).astype(epsilon.dtype)})


def _floor(given: Setting, slot: SlotVerdict, wanted: Array) -> Any:
    """How far rounding alone may move each element: the bound of its sums, else what moving the inputs shows."""
    at = slot.key.slot
    arrays = {i: v for i, v in given.values.items() if isinstance(v, np.ndarray) and v.dtype.kind in "fV"}
    if slot.key.io == "output" and given.statement.op in SUMS:
        sizes = computed_with_state(given.changed({i: np.abs(v) for i, v in arrays.items()}))
        summands = terms([v.size for v in arrays.values() if v.size > 1], wanted.size)
        if sizes is not None:
            return 2 * noise_floor(slot.dtype, summands) * np.abs(sizes[0][at].astype(np.float64))
    movable = {i: v for i, v in given.values.items() if i in arrays or isinstance(v, float)}
    random = np.random.default_rng(0)
    spread = 0.0
    for _ in range(_DRAWS):
        moved = computed_with_state(given.changed({i: _moved(v, slot.dtype, random) for i, v in movable.items()}))
        if moved is not None:
            side: Any = moved[1].get(at) if slot.key.io == "input" else moved[0][at]
            error = np.abs(side.astype(np.float64) - wanted.astype(np.float64))
            spread = max(spread, float(error.max(initial=0.0)))
    return _SPREADS * spread


def _moved(array: Array | float, dtype: str, random: np.random.Generator) -> Any:
    """Each element, or the number, a unit in the last place up or down."""
    unit = noise_floor(dtype, 1) / 2
    if isinstance(array, float):  # as 1 - 0.999 magnifies what a float32 has for 0.999
        return array * (1 + unit * (1 if random.integers(0, 2) else -1))
    sign = random.integers(0, 2, array.shape) * 2 - 1
    moved: Array = (array.astype(np.float64) * (1 + unit * sign)).astype(array.dtype)
    return moved
