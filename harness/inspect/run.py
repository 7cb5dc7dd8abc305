"""A run as rules see it: executions in order with the numbers of their slots, who made each input, parameters."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from harness.capture.overflow_flags import Flag
from harness.compare.divergence import PARAMETER, STATE, Execution
from harness.errors import HarnessError
from harness.explain.evidence import Evidence
from harness.explain.graphs import Graphs
from harness.inspect import roles
from harness.inspect.numbers import LOOKED_AT, Numbers, read
from harness.inspect.probes import probe
from harness.recording.described import Described
from harness.records import Record, SlotKey

Array = np.ndarray[Any, np.dtype[Any]]
#: operator type of a parameter's gradient at the end of a step
GRADIENT = "Gradient"
#: operator types of what a capture states beside executions: settings, and what a call gave
STATED = frozenset({"Settings", "Result"})


@dataclass(slots=True, eq=False)
class Slot:
    """One slot: its record, numbers, content and what a probe saw of its values.

    Attributes:
        record: see ``harness.records.Record``; its values are read again on request.
        numbers: see ``Numbers``; None if nothing is known.
        content: equal for equal values (or equal rows of statistics); None if unknown.
        seen: facts that ``probes`` took from the values.
    """

    record: Record
    numbers: Numbers | None
    content: bytes | None
    seen: dict[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> SlotKey:
        """Its key."""
        return self.record.key

    @property
    def is_floating(self) -> bool:
        """Whether its elements are floating numbers."""
        return "loat" in self.record.dtype or self.record.dtype.startswith("Complex")

    def load(self) -> Array | None:
        """Its values as an array; None if they were not kept, are too many, or cannot be read."""
        size = 1
        for length in self.record.shape:
            size *= length
        if size > LOOKED_AT:
            return None
        try:
            return self.record.load()
        except HarnessError:
            return None


@dataclass(slots=True, eq=False)
class Made:
    """Who made an input: an execution's output, a parameter, or a constant of the graph."""

    by: Op | None = None
    slot: int = 0
    parameter: str = ""
    constant: bool = False


@dataclass(slots=True, eq=False)
class Op:
    """One execution of an operator.

    Attributes:
        where: rank, graph, iteration, operator, execution.
        kind: primitive name.
        family, phase, layer: see ``roles``.
        inputs, outputs: slots by number. Inputs that the operator updated in place, and that were dumped afterwards,
            are in ``updated`` instead.
        makers: who made an input, if that is known.
    """

    where: Execution
    kind: str
    family: str
    phase: str
    layer: str
    source: str | None
    at: int = 0
    inputs: dict[int, Slot] = field(default_factory=dict)
    outputs: dict[int, Slot] = field(default_factory=dict)
    updated: dict[int, Slot] = field(default_factory=dict)
    makers: dict[int, Made] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Full name of the operator."""
        return self.where.operator

    @property
    def inputs_of_numbers(self) -> list[Slot]:
        """The inputs that hold floating numbers."""
        return [slot for slot in self.inputs.values() if slot.is_floating]

    @property
    def results(self) -> Iterator[Slot]:
        """Outputs, and inputs updated in place."""
        yield from self.outputs.values()
        yield from self.updated.values()


class Run:
    """Reads a run once.

    Args:
        records: its records in execution order.
        artefacts: its texts by path.
        backend, emulated, places: see ``Capture``.
        operators, engine: see ``Evidence``.

    Attributes:
        ops: executions in order.
        parameters: slots at the end of each step, by rank and name, then by iteration.
        gradients: gradients of parameters that were recorded as such, likewise.
        iterations: labels of the steps by rank, in order.
        table: steps, and root mean squares of slots in them, of a long run that was read as columns.
        flags: kernels that the device flagged, see ``overflow_flags``; looked for when asked.
        series: mean and root mean square of a slot in steps of a long run that were read as columns alone.
    """

    def __init__(
        self,
        records: Iterable[Record],
        artefacts: Callable[[], Mapping[str, bytes]],
        backend: str = "",
        emulated: bool = False,
        places: Mapping[str, str] | None = None,
        operators: Callable[[], Iterable[Described]] = tuple,
        engine: str = "",
    ) -> None:
        self.ops: list[Op] = []
        self.parameters: dict[tuple[int, str], dict[int, Slot]] = {}
        self.gradients: dict[tuple[int, str], dict[int, Slot]] = {}
        self.iterations: dict[int, list[int]] = {}
        self.flags: Callable[[], Collection[Flag]] = tuple
        self.series: Callable[[Slot], Mapping[int, tuple[float, float]]] = lambda _slot: {}
        self.table: Callable[[Sequence[Slot]], tuple[list[int], Array]] = lambda slots: ([], np.zeros((len(slots), 0)))
        self.slots = 0
        self.blind = 0
        self.backend, self.emulated = backend, emulated
        self._kept: list[Record] = []
        self._made: dict[str, Any] = {}
        self._artefacts, self._places = artefacts, dict(places or {})
        self._told: Any = {"operators": operators, "engine": engine}
        self._read(records)

    def _read(self, records: Iterable[Record]) -> None:
        found: dict[Execution, Op] = {}
        for record in records:
            key = record.key
            steps = self.iterations.setdefault(key.rank, [])
            if not steps or (steps[-1] != key.iteration and key.iteration not in steps):
                steps.append(key.iteration)
            numbers, content, array = read(record)
            slot = Slot(record, numbers, content)
            self.slots += 1
            self.blind += numbers is None
            self._kept.append(record)
            if record.op_type in STATED:
                continue
            if record.op_type == PARAMETER:
                self.parameters.setdefault((key.rank, key.operator), {})[key.iteration] = slot
            elif record.op_type == GRADIENT:
                name = key.operator.removesuffix(".grad")
                self.gradients.setdefault((key.rank, name), {})[key.iteration] = slot
            else:
                self._place(found, slot, array)
            del array  # its memory serves for the next one

    def _place(self, found: dict[Execution, Op], slot: Slot, array: Array | None) -> None:
        record = slot.record
        where = Execution(*record.key[:5])
        op = found.get(where)
        if op is None:
            kind = record.op_type
            name = where.operator
            phase, layer = roles.phase(name, kind), roles.layer(name)
            op = Op(where, kind, roles.family(kind), phase, layer, record.source, len(self.ops))
            found[where] = op
            self.ops.append(op)
        if record.key.io == "output":
            op.outputs[record.key.slot] = slot
        elif record.key.slot in STATE.get(op.kind, ()):
            op.updated[record.key.slot] = slot
        else:
            op.inputs[record.key.slot] = slot
        if array is not None:
            slot.seen = probe(op.family, op.phase, record, array)

    @cached_property
    def graphs(self) -> Graphs:
        """Its graphs; none if nobody described them."""
        return self.evidence.graphs

    @cached_property
    def evidence(self) -> Evidence:
        """The same run, as replays take it."""
        return Evidence(
            lambda: self._kept, self._artefacts, self.backend, self.emulated, self._places, **self._told
        )  # fmt: skip

    def place(self, op: Op) -> str:
        """The line that an operator comes from, as far as it is known: the user's own where possible."""
        return self.evidence.place(op.name) or op.source or ""

    @cached_property
    def trained(self) -> bool:
        """Whether the run has gradients or updates."""
        return bool(self.gradients) or any(op.phase != roles.FORWARD for op in self.ops)

    def sizes(self, slots: Mapping[int, Slot]) -> dict[int, float]:
        """Root mean squares of one slot by step, infinite where it is not finite; those of ``series`` among them."""
        found = {} if not slots else {step: rms for step, (_, rms) in self.series(next(iter(slots.values()))).items()}
        for step, slot in slots.items():
            if slot.numbers is not None:
                found[step] = math.inf if slot.numbers.bad else slot.numbers.rms
        return dict(sorted(found.items()))

    def once(self, name: str, make: Callable[[Run], Any]) -> Any:
        """What ``make`` gives for the run, made once for all that ask for it under this name."""
        if name not in self._made:
            self._made[name] = make(self)
        return self._made[name]

    def by_step(self) -> Iterator[tuple[int, int, list[Op]]]:
        """Rank, iteration and executions of each step, in order."""
        for (rank, iteration), ops in self.once("steps", _steps).items():
            yield rank, iteration, ops


def _steps(run: Run) -> dict[tuple[int, int], list[Op]]:
    found: dict[tuple[int, int], list[Op]] = {}
    for op in run.ops:
        found.setdefault((op.where.rank, op.where.iteration), []).append(op)
    return found
