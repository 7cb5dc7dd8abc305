"""Computes one operator of a run again, with a change: what goes into it, from the run's records and its graphs.

The replayer of the run's engine computes it (``harness.replaying``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np

from harness import dtypes
from harness.compare.divergence import PARAMETER, Execution
from harness.dtypes import DType
from harness.explain.evidence import Evidence, is_of_records, loaded
from harness.explain.ir_values import Unreadable
from harness.explain.statements import Argument, Statement
from harness.recording.replayer import Call, Replayed, Replayer

Array = np.ndarray[Any, np.dtype[Any]]

#: what optimizers start their states with
_STARTS = (0.0, 1.0, 0.1)
#: so many states of unknown start are varied
_MOST_STATES = 3


@dataclass
class Setting:
    """An operator with all its inputs.

    Attributes:
        statement: its statement in the graph.
        values: value of each input slot, an array or a Python value; without slots that have none.
        attrs: its attributes.
        runs: number of earlier runs of the node, for random operators.
        backend: backend whose arithmetic applies.
        outputs: dtypes of the results that the run recorded.
        replayer: what computes it; None: nothing can.
        reading: how its record is read, see ``Replayer.readings``.
        begun: slots of states that no record shows before the operator updated them; they are taken for zeros.
    """

    statement: Statement
    values: dict[int, Any]
    attrs: dict[str, Any]
    runs: int = 0
    backend: str = "cpu"
    outputs: tuple[DType, ...] = field(default=())
    replayer: Replayer | None = None
    reading: Any = None
    begun: tuple[int, ...] = ()

    def changed(self, values: Mapping[int, Any] | None = None, attrs: Mapping[str, Any] | None = None) -> Setting:
        """The same setting with other values or attributes; ``...`` removes an attribute."""
        merged = {name: each for name, each in {**self.attrs, **(attrs or {})}.items() if each is not ...}
        return replace(self, values={**self.values, **(values or {})}, attrs=merged)

    def call(self) -> Call:
        """What a replayer is asked for."""
        told = self.statement.described
        silent = {name: each for name, each in told.attributes.items() if name not in self.statement.attrs}
        operator = replace(told, attributes={**silent, **self.attrs})
        slots = [at for at, argument in enumerate(self.statement.arguments) if not argument.is_monad]
        before = {slot: self.values[at] for slot, at in enumerate(slots) if at in self.values}
        kinds = tuple(kind.name for kind in self.outputs)
        return Call(operator, before, kinds, self.runs, None, self.backend, self.reading)

    def readings(self) -> Iterator[Setting]:
        """It as its record may be read, likely readings first; of states whose start is unknown, as optimizers start
        them."""
        for begun in product(_STARTS, repeat=min(len(self.begun), _MOST_STATES)):
            states = {
                slot: np.full_like(self.values[slot], start) for slot, start in zip(self.begun, begun, strict=False)
            }
            given = self.changed(states) if any(begun) else self
            for call in self.replayer.readings(given.call()) if self.replayer is not None else ():
                yield replace(given, reading=call.reading)


def setting(run: Evidence, where: Execution) -> Setting | None:
    """The inputs of an execution; None if its graph or an input is unknown."""
    statement = run.graphs.statement(where.graph, where.operator)
    if statement is None or statement.facts is None or is_of_records(run):
        return None
    records = run.slots(where, "input")
    values: dict[int, Any] = {}
    begun = []
    for at, argument in enumerate(statement.arguments):
        if argument.is_monad:
            continue
        array = before_update(run, where, argument, at) if at in statement.mutates else loaded(records.get(at))
        if array is None and at in statement.mutates and argument.parameter and (own := records.get(at)) is not None:
            array = np.zeros(own.shape, dtypes.by_name(own.dtype).numpy)
            begun.append(at)
        if array is None and argument.is_constant and not isinstance(argument.value, Unreadable):
            values[at] = argument.value
        elif array is not None:
            values[at] = _as_called(argument, array)
        else:
            array = _from_maker(run, where, argument)
            if array is None:
                return None
            values[at] = array
    kinds = tuple(dtypes.by_name(record.dtype) for _, record in sorted(run.slots(where, "output").items()))
    runs = _runs(run, where)
    return Setting(
        statement, values, dict(statement.attrs), runs, run.backend, kinds, run.graphs.replayer, begun=tuple(begun)
    )


def computed(given: Setting) -> tuple[Array, ...] | None:
    """The results; None if they cannot be computed."""
    made = computed_with_state(given)
    return made[0] if made is not None else None


def computed_with_state(given: Setting) -> tuple[tuple[Array, ...], dict[int, Array]] | None:
    """The results, and the inputs after an update in place; None if they cannot be computed."""
    return _given(given.replayer.replay(given.call())) if given.replayer is not None else None


def widened(given: Setting) -> tuple[Array, ...] | None:
    """The results in a wider dtype; None if they cannot be computed."""
    made = given.replayer.widen(given.call()) if given.replayer is not None else None
    return made.outputs if made is not None else None


def _given(made: Replayed | None) -> tuple[tuple[Array, ...], dict[int, Array]] | None:
    return None if made is None else (made.outputs, dict(made.mutated))


def _runs(run: Evidence, where: Execution) -> int:
    """The number of earlier runs of an operator, in the dumped steps."""
    same = [
        each
        for each in run.order
        if (each.rank, each.graph, each.operator) == (where.rank, where.graph, where.operator)
    ]
    return same.index(where) if where in same else 0


def before_update(run: Evidence, where: Execution, argument: Argument, at: int) -> Array | None:
    """A parameter before its operator updated it, because dumps show it afterwards; None if no record shows it.

    It is what was left or read last before, in any graph of the rank: what was dumped at a step's end, what another
    operator read, or what an earlier update left.
    """
    name = argument.parameter
    if name is None or run.slots(where, "input").get(at) is None:
        return None
    own = run.order.index(where) if where in run.order else len(run.order)
    earlier = [
        each
        for at_, each in enumerate(run.order)
        if each.rank == where.rank and (each.iteration, at_) < (where.iteration, own)
    ]
    for each in sorted(earlier, key=lambda each: each.iteration)[::-1]:
        left = _left_by(run, each, name)
        if left is not None:
            return left.copy()
    return None


def _left_by(run: Evidence, where: Execution, name: str) -> Array | None:
    """What an execution shows of a parameter: what it read, or what its update left; or its dump."""
    if where.operator == name:
        return loaded(run.slots(where, "output").get(0)) if run.op_type(where) == PARAMETER else None
    statement = run.graphs.statement(where.graph, where.operator)
    for at, argument in enumerate(statement.arguments if statement is not None else ()):
        if argument.parameter == name:
            return loaded(run.slots(where, "input").get(at))
    return None


def read_during(run: Evidence, name: str, step: Execution) -> Array | None:
    """A parameter's value during the step of an execution: the value an operator read, else that of the previous step's
    end."""
    for where in run.order:
        if (where.rank, where.iteration) == (step.rank, step.iteration) and run.op_type(where) != PARAMETER:
            read = _read_by(run, where, name)
            if read is not None:
                return read
    return loaded(run.parameter(name, step.rank, step.iteration - 1))


def _read_by(run: Evidence, where: Execution, name: str) -> Array | None:
    statement = run.graphs.statement(where.graph, where.operator)
    if statement is None or statement.facts is None:
        return None
    for at, argument in enumerate(statement.arguments):
        if argument.parameter == name and at not in statement.mutates:
            return loaded(run.slots(where, "input").get(at))
    return None


def _from_maker(run: Evidence, where: Execution, argument: Argument) -> Array | None:
    """An input that was not dumped, from its maker's output."""
    if argument.producer is None:
        return None
    made = where._replace(operator=argument.producer[0])
    return loaded(run.slots(made, "output").get(argument.producer[1]))


def _as_called(argument: Argument, array: Array) -> Any:
    """A dumped value in the operator's form: the dump shows numbers and tuples of the graph as arrays."""
    if argument.form == "tensor":
        return array
    if argument.form == "tuple":
        return tuple(array.reshape(-1).tolist())
    return array.reshape(-1)[0].item() if array.size == 1 else array
