"""Computes one operator of a run again, with a change.

It uses the harness's own operators. A run of an emulated device is reproduced bit for bit; any other run within the
noise floor of its sums.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from harness import dtypes
from harness.compare.divergence import PARAMETER, Execution
from harness.devices import DEVICES, Device
from harness.devices.cpu import CPU
from harness.dtypes import DType
from harness.errors import HarnessError
from harness.explain.evidence import Evidence, loaded
from harness.explain.graphs import Argument, Statement
from harness.explain.ir_values import Unreadable
from harness.framework.ops.base import OPERATORS, Call, Operator
from harness.framework.ops.eager import execute
from harness.graph import OpaqueSpec, ScalarSpec, Spec, TensorSpec, TupleSpec, spec_of

Array = np.ndarray[Any, np.dtype[Any]]

#: operators whose leading tensors are one argument, a tuple
JOINED = frozenset({"AddN", "Concat", "Stack", "Meshgrid"})
#: operators with an argument that final graphs omit: the dtype of the result
TYPED = frozenset({"Cast"})


@dataclass
class Setting:
    """An operator with all its inputs.

    Attributes:
        statement: its statement in the graph.
        values: value of each input slot, an array or a Python value; without slots that have none.
        attrs: its attributes.
        runs: number of earlier runs of the node, for random operators.
        backend: backend whose arithmetic applies.
    """

    statement: Statement
    values: dict[int, Any]
    attrs: dict[str, Any]
    runs: int = 0
    backend: str = "cpu"
    outputs: tuple[DType, ...] = field(default=())

    def changed(self, values: Mapping[int, Any] | None = None, attrs: Mapping[str, Any] | None = None) -> Setting:
        """The same setting with other values or attributes; ``...`` removes an attribute."""
        merged = {name: each for name, each in {**self.attrs, **(attrs or {})}.items() if each is not ...}
        return replace(self, values={**self.values, **(values or {})}, attrs=merged)


def setting(run: Evidence, where: Execution) -> Setting | None:
    """The inputs of an execution; None if its graph or an input is unknown."""
    statement = run.graphs.statement(where.graph, where.operator)
    if statement is None or statement.op not in OPERATORS:
        return None
    records = run.slots(where, "input")
    operator = OPERATORS.get(statement.op)
    values: dict[int, Any] = {}
    for at, argument in enumerate(statement.arguments):
        if argument.is_monad:
            continue
        array = before_update(run, where, argument, at) if at in operator.mutates else loaded(records.get(at))
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
    return Setting(statement, values, dict(statement.attrs), _runs(run, where), run.backend, kinds)


def computed(given: Setting) -> tuple[Array, ...] | None:
    """The results; None if the harness cannot compute them."""
    made = computed_with_state(given)
    return made[0] if made is not None else None


def computed_with_state(given: Setting) -> tuple[tuple[Array, ...], dict[int, Array]] | None:
    """The results, and the inputs after an update in place; None if the harness cannot compute them."""
    try:
        operator = OPERATORS.get(given.statement.op)
        arguments, specs, constants = _arranged(given, operator)
        call = Call(given.statement.op, tuple(specs), tuple(constants), given.attrs, None, {"runs": given.runs})
        call.out = _with_dtypes(operator.infer(call), given.outputs)
        with np.errstate(all="ignore"):
            results = _device(given.backend).run(
                operator.name, tuple(arguments), lambda ready: execute(operator, call, ready), bool(operator.mutates)
            )
        state = {at: np.array(arguments[at]) for at in operator.mutates if at < len(arguments)}
        return tuple(np.array(result) for result in results), state
    except (HarnessError, ValueError, TypeError, IndexError, KeyError, AttributeError, ArithmeticError, MemoryError):
        return None  # an operator with inputs it does not accept proves nothing


def _device(backend: str) -> Device:
    return DEVICES.get(backend) if backend in DEVICES else CPU


def _runs(run: Evidence, where: Execution) -> int:
    """The number of earlier runs of an operator, in the dumped steps."""
    same = [
        each
        for each in run.order
        if (each.rank, each.graph, each.operator) == (where.rank, where.graph, where.operator)
    ]
    return same.index(where) if where in same else 0


def before_update(run: Evidence, where: Execution, argument: Argument, at: int) -> Array | None:
    """A parameter before its operator updated it, because dumps show it afterwards.

    It is the last value dumped before, or the value that another operator of the step read; in the first step a state
    is zeros.
    """
    name = argument.parameter
    own = run.slots(where, "input").get(at)
    if name is None or own is None:
        return None
    earlier = [each.iteration for each in run.order if each.rank == where.rank and each.iteration < where.iteration]
    if earlier and (kept := loaded(run.parameter(name, where.rank, max(earlier)))) is not None:
        return kept.copy()
    for each in run.order:
        if each == where:
            break
        if (each.rank, each.iteration, each.graph) != (where.rank, where.iteration, where.graph):
            continue
        if (read := _read_by(run, each, name)) is not None:
            return read.copy()
    if earlier:
        before = where._replace(iteration=max(earlier))
        if (left := loaded(run.slots(before, "input").get(at))) is not None:
            return left.copy()
    shape, kind = own.shape, dtypes.by_name(own.dtype).numpy
    return np.zeros(shape, kind)


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
    if statement is None or statement.op not in OPERATORS:
        return None
    updated = OPERATORS.get(statement.op).mutates
    for at, argument in enumerate(statement.arguments):
        if argument.parameter == name and at not in updated:
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
    if argument.type.is_tensor:
        return array
    if argument.type.text.startswith("Tuple"):
        return tuple(array.reshape(-1).tolist())
    return array.reshape(-1)[0].item() if array.size == 1 else array


def _arranged(given: Setting, operator: Operator) -> tuple[list[Any], list[Spec], list[Any]]:
    """Arguments, specs and constants, in the order of the call."""
    arguments: list[Any] = []
    constants: list[Any] = []
    names = [a for a in given.statement.arguments if not a.is_monad]
    for at, argument in enumerate(names):
        each = given.values[at]
        if isinstance(each, np.ndarray) and at in operator.mutates:
            each = each.copy()
        arguments.append(each)
        constants.append(each if argument.is_constant or not isinstance(each, np.ndarray) else None)
    if given.statement.op in JOINED:
        count = next((i for i, a in enumerate(arguments) if not isinstance(a, np.ndarray)), len(arguments))
        if given.statement.op == "Concat" and count == len(arguments):
            count -= 1
        arguments = [tuple(arguments[:count]), *arguments[count:]]
        constants = [None, *constants[count:]]
    if given.statement.op in TYPED and len(arguments) == 1:
        arguments.append(given.outputs[0])
        constants.append(given.outputs[0])
    return arguments, [_spec(each) for each in arguments], constants


def _spec(each: Any) -> Spec:
    if isinstance(each, np.ndarray):
        return TensorSpec(dtypes.from_numpy(each.dtype), each.shape)
    if isinstance(each, DType):
        return OpaqueSpec("Type")
    if isinstance(each, tuple) and each and all(isinstance(member, np.ndarray) for member in each):
        return TupleSpec(tuple(_spec(member) for member in each))
    if isinstance(each, bool):
        return ScalarSpec(dtypes.bool_)
    return spec_of(each)


def _with_dtypes(out: Spec, kinds: Sequence[DType]) -> Spec:
    """The results' specs with the dumped dtypes, because a device may leave a wider one."""
    if isinstance(out, TupleSpec):
        if len(out.items) != len(kinds):
            return out
        return TupleSpec(tuple(_with_dtypes(item, [kind]) for item, kind in zip(out.items, kinds, strict=True)))
    if isinstance(out, TensorSpec) and len(kinds) == 1:
        return TensorSpec(kinds[0], out.shape)
    return out
