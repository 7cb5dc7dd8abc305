"""Where the error of a step's result comes from: what each operator adds on its own, and what it inherits.

Of an operator that was given other values, the golden's operator is computed again from the run's inputs. What the run
has beyond that is its own part; what this has beyond the golden is inherited. The error of the result is shared out by
computing the rest of the step again from the run's values up to one operator, then up to the next: each part is what
the result changes by, so that all parts add up to the error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from harness.compare.divergence import PARAMETER, Execution
from harness.compare.measure import admitted
from harness.compare.verdict import Comparison, Verdict
from harness.explain.evidence import Evidence, loaded
from harness.explain.replay import Setting, computed, setting
from harness.explain.rerun import Mixed
from harness.explain.trained import is_gradient
from harness.explain.work import of_records
from harness.records import SlotKey

Array = np.ndarray[Any, np.dtype[Any]]

#: elements to compute, see ``work``
WORK = 1 << 29
#: operators with a part of their own in the budget; neighbours share one if there are more
MOST = 24


@dataclass(frozen=True)
class Share:
    """The parts of one slot's error, as the largest absolute values of an element.

    Attributes:
        key: the slot, on the expected side.
        error: of the slot.
        own: what the operator adds.
        inherited: what its inputs bring.
        used: how much of the slot's tolerance the error uses up, 1 for all of it; None where none is admitted.
        used_alone: how much of it the operator's own part uses.
    """

    key: SlotKey
    error: float
    own: float
    inherited: float
    used: float | None = None
    used_alone: float | None = None


@dataclass(frozen=True)
class Part:
    """What some operators add to the error of the end.

    Attributes:
        operators: their names, in order; none: what the step was given (weights, data), and operators that could not be
            computed again.
        size: signed, in the direction of the error; all parts add up to ``Budget.error``.
    """

    operators: tuple[str, ...]
    size: float


@dataclass(frozen=True)
class Budget:
    """The parts of a step's error.

    Attributes:
        shares: of each output that differs, also within tolerance.
        unknown: number of differing outputs whose operator could not be computed again.
        end: the result that is shared out; None if none differs.
        error: Euclidean norm of its error.
        parts: what makes it up, the largest first.
    """

    shares: tuple[Share, ...]
    unknown: int
    end: SlotKey | None = None
    error: float = 0.0
    parts: tuple[Part, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """It as JSON values."""
        return {
            "shares": [
                {
                    "slot": list(each.key),
                    "error": each.error,
                    "own": each.own,
                    "inherited": each.inherited,
                    "used": each.used,
                    "used_alone": each.used_alone,
                }
                for each in self.shares
            ],
            "unknown": self.unknown,
            "end": None if self.end is None else list(self.end),
            "error": self.error,
            "parts": [{"operators": list(each.operators), "size": each.size} for each in self.parts],
        }

    def line(self) -> str:
        """The largest parts in a line; empty without an end."""
        if self.end is None or not self.error:
            return ""
        told = []
        for part in self.parts[:3]:
            name = part.operators[0] if part.operators else "what the step was given"
            more = f" and {len(part.operators) - 1} more" if len(part.operators) > 1 else ""
            told.append(f"{name}{more} {100 * part.size / self.error:.3g} %")
        return f"Error of {self.end.operator} in iteration {self.end.iteration}: {', '.join(told)}"


@np.errstate(all="ignore")
def budget(comparison: Comparison, expected: Evidence, work: int = WORK) -> Budget | None:
    """The parts of the errors of the first step that differs; None if nothing that has a graph differs.

    Args:
        comparison: the comparison, with the pairs of differing records.
        expected: the side whose graphs describe the operators.
        work: number of elements to compute to share out the error of the end, see ``work``.
    """
    differing = [s for s in comparison.apart() if s.verdict in (Verdict.DIFFERS, Verdict.WITHIN)]
    outputs = [s.key for s in differing if s.key.io == "output" and s.op_type != PARAMETER]
    if not outputs or not expected.graphs:
        return None
    step = min((key.iteration, key.rank) for key in outputs)
    return _Step(comparison, expected, step, work).budget([k for k in outputs if (k.iteration, k.rank) == step])


@dataclass
class _Step:
    """One step of one rank, computed again."""

    comparison: Comparison
    expected: Evidence
    step: tuple[int, int]
    work: int
    known: dict[Execution, Setting | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.run = Mixed(self.expected, self.comparison)
        self.tolerances = {slot.key: slot.tolerance for slot in self.comparison.apart()}
        wanted = [w for w in self.expected.order if (w.iteration, w.rank) == self.step]
        self.order = [where for where in wanted if self.expected.op_type(where) != PARAMETER]
        self.at = {where: number for number, where in enumerate(self.order)}

    def budget(self, outputs: Sequence[SlotKey]) -> Budget:
        shares, unknown = [], 0
        own: dict[Execution, float] = {}
        for key in outputs:
            where = Execution(*key[:5])
            share = self._share(key, where)
            if share is None:
                unknown += 1
            else:
                shares.append(share)
                own[where] = max(own.get(where, 0.0), share.own)
        end = self._end(outputs)
        if end is None:
            return Budget(tuple(shares), unknown)
        error, parts = self._parts(end, own)
        return Budget(tuple(shares), unknown, end, error, tuple(sorted(parts, key=lambda part: -abs(part.size))))

    def _setting(self, where: Execution) -> Setting | None:
        if where not in self.known:
            self.known[where] = setting(self.run, where)
        return self.known[where]

    def _goldens(self, where: Execution) -> Setting | None:
        """The operator on the golden's inputs: for one that the run lacks, such as a Cast that a device has no need of;
        what operators before it gave takes their place."""
        outputs = self.expected.slots(where, "output").values()
        return setting(self.expected, where) if all(each.key not in self.run.by_key for each in outputs) else None

    def _share(self, key: SlotKey, where: Execution) -> Share | None:
        given = self._setting(where)
        made = computed(given) if given is not None else None
        golden, found = loaded(self.expected.by_key.get(key)), loaded(self.run.by_key.get(key))
        if made is None or golden is None or found is None or key.slot >= len(made):
            return None
        middle = made[key.slot]
        if middle.shape != found.shape or golden.shape != found.shape or found.dtype.kind not in "fV":
            return None
        e, m, f = (each.astype(np.float64) for each in (golden, middle, found))
        limit = admitted(golden, self.tolerances[key]) if golden.dtype.kind == "f" else None
        used = [None, None] if limit is None else [_largest((f - each) / limit) for each in (e, m)]
        return Share(key, _largest(f - e), _largest(f - m), _largest(m - e), *used)

    def _end(self, outputs: Sequence[SlotKey]) -> SlotKey | None:
        """The last differing result of a forward operator that no forward operator takes."""
        backward: set[str] = set()
        taken: set[tuple[str, int]] = set()
        for where in self.order:
            given = list(self._arguments(where))
            if is_gradient(where.operator) or any(name in backward for name, _ in given):
                backward.add(where.operator)
            else:
                taken.update(given)
        floats = [key for key in outputs if self.expected.by_key[key].dtype.startswith(("Float", "BFloat"))]
        free = [key for key in floats if (key.operator, key.slot) not in taken and not self._updates(key)]
        forward = [key for key in free if key.operator not in backward]
        places = {key: self.at[Execution(*key[:5])] for key in floats}
        return max(forward or free or floats, key=places.__getitem__, default=None)

    def _updates(self, key: SlotKey) -> bool:
        statement = self.expected.graphs.statement(key.graph, key.operator)
        return statement is not None and bool(statement.mutates)

    def _arguments(self, where: Execution) -> Iterator[tuple[str, int]]:
        statement = self.expected.graphs.statement(where.graph, where.operator)
        for argument in statement.arguments if statement is not None else ():
            if argument.producer is not None:
                yield argument.producer

    def _parts(self, end: SlotKey, own: dict[Execution, float]) -> tuple[float, list[Part]]:
        """The error of the end and its parts."""
        golden, found = loaded(self.expected.by_key.get(end)), loaded(self.run.by_key.get(end))
        if golden is None or found is None:
            return 0.0, []
        cone = self._cone(Execution(*end[:5]))
        first = self._computed(end, cone, -1)
        each = sum(of_records(self.expected.slots(where, "input").values()) for where in cone)
        adding = [where for where in cone if own.get(where, 0.0) > 0 and self._setting(where) is not None]
        most = max(1, min(MOST, self.work // each))
        largest = sorted(adding, key=lambda where: -own[where])[:most]
        cuts = sorted(self.at[where] for where in {*largest, *adding[-1:]})
        wide = [each.astype(np.float64) for each in (golden, first)]
        names: list[tuple[str, ...]] = [()]
        before = -1
        for cut in cuts:
            names.append(tuple(w.operator for w in adding if before < self.at[w] <= cut))
            wide.append(
                self._computed(end, cone, cut).astype(np.float64) if cut != cuts[-1] else found.astype(np.float64)
            )
            before = cut
        if not cuts:
            wide[-1] = found.astype(np.float64)
        error = found.astype(np.float64) - wide[0]
        size = float(np.linalg.norm(error))
        if not np.isfinite(size) or not size:
            return 0.0, []
        steps = [other - one for one, other in pairwise(wide)]
        parts = [Part(n, float(np.vdot(s, error)) / size) for n, s in zip(names, steps, strict=True)]
        return size, [part for part in parts if part.size or part.operators]

    def _cone(self, end: Execution) -> list[Execution]:
        """The executions that lead to the end, in order."""
        found = {end}
        waiting = [end]
        while waiting:
            where = waiting.pop()
            for name, _ in self._arguments(where):
                maker = where._replace(operator=name)
                if maker not in found and maker in self.at:
                    found.add(maker)
                    waiting.append(maker)
        return sorted(found, key=self.at.__getitem__)

    def _computed(self, end: SlotKey, cone: Sequence[Execution], cut: int) -> Array:
        """The end, computed from the run's values up to an operator, and by the golden's operators from there."""
        made: dict[SlotKey, Array] = {}
        for where in cone:
            given = (self._setting(where) or self._goldens(where)) if self.at[where] > cut else None
            results = computed(self._fed(given, where, made)) if given is not None else None
            for slot, record in self.expected.slots(where, "output").items():
                own = loaded(self.run.by_key.get(record.key))
                if results is not None and slot < len(results):
                    made[record.key] = results[slot]
                elif own is not None:
                    made[record.key] = own
        return made[end]

    def _fed(self, given: Setting, where: Execution, made: dict[SlotKey, Array]) -> Setting:
        values: dict[int, Any] = {}
        for at, argument in enumerate(given.statement.arguments):
            if argument.producer is None or not isinstance(given.values.get(at), np.ndarray):
                continue
            key = SlotKey(*where._replace(operator=argument.producer[0]), "output", argument.producer[1])
            if key in made and made[key].shape == given.values[at].shape:
                values[at] = made[key]
        return given.changed(values)


def _largest(values: Array) -> float:
    finite = values[np.isfinite(values)]
    return float(np.abs(finite).max(initial=0.0))
