"""Runs a compiled program kernel by kernel and tells observers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from harness import dtypes
from harness.compile.program import Program
from harness.dtypes import DType
from harness.graph import Const, Node, OpaqueSpec, Operand, Parameter, ScalarSpec, Spec, TensorSpec, TupleSpec
from harness.ops.base import OPERATORS, Call, Operator
from harness.ops.eager import execute
from harness.runtime.observer import Array, Observer, Slot, Step
from harness.tensor import Tensor


class Executor:
    """Runs one program as often as wanted.

    Attributes:
        runs: how often it ran.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.runs = 0
        self._states: dict[int, dict[str, Any]] = {}
        self._values: dict[int, Any] = {}
        self._inputs: dict[int, Array] = {}

    def run(self, arrays: Sequence[Array], observers: Sequence[Observer]) -> Any:
        """One step.

        Args:
            arrays: the data inputs, in the program's order.
            observers: told in order; an exception of one stops the step.

        Returns:
            The result: arrays, numbers, or nested tuples of them.
        """
        graph = self.program.graph
        self._inputs = {id(p): a for p, a in zip(self.program.inputs, arrays, strict=True)}
        self._values = {}
        step = Step(graph, self.runs, self._parameters)
        node: Node | None = None
        for observer in observers:
            observer.step_begin(step)
        try:
            for node in graph.execution_order:
                self._launch(node, observers)
            node = None
            result = self._resolve(graph.output)[0]
        except BaseException as error:
            for observer in observers:
                observer.failed(node, error)
            raise
        self.runs += 1
        for observer in observers:
            observer.step_end(step)
        self._values = {}
        return result

    def _parameters(self) -> Iterator[tuple[Parameter, Array]]:
        for parameter in self.program.graph.parameters:
            array = self._resolve(parameter)
            if array is not None and array.size:
                yield parameter, array

    def _launch(self, node: Node, observers: Sequence[Observer]) -> None:
        operator = OPERATORS.get(node.op)
        flat = [self._resolve(i) for i in node.inputs]
        call = self._call(node, flat)
        slots = list(_input_slots(operator, node, flat)) if observers else []
        for observer in observers:
            observer.kernel_inputs(node, slots)
        results = execute(operator, call, tuple(_grouped(node, flat)))
        self._values[id(node)] = results if isinstance(node.spec, TupleSpec) else results[0]
        if observers:
            outputs = [
                Slot(i, array, spec.dtype)
                for i, (array, spec) in enumerate(zip(results, _result_specs(call.out), strict=True))
                if isinstance(spec, TensorSpec)
            ]
            for observer in observers:
                observer.kernel_outputs(node, slots, outputs)

    def _call(self, node: Node, flat: list[Any]) -> Call:
        """The call with the shapes of this run (a dynamic dimension is known now)."""
        specs = [_actual(i.spec, v) for i, v in zip(node.inputs, flat, strict=True)]
        values = [i.value if isinstance(i, Const) else None for i in node.inputs]
        grouped_specs = [
            TupleSpec(s) if isinstance(s, tuple) else _TYPE if isinstance(s, DType) else s for s in _grouped(node, specs)
        ]
        grouped_values = [None if isinstance(v, tuple) and c else v for v, c in _with_layout(node, values)]
        state = self._states.setdefault(id(node), {})
        call = Call(node.op, tuple(grouped_specs), tuple(grouped_values), node.attrs, node.spec, state)
        if _is_dynamic(node.spec):
            call.out = OPERATORS.get(node.op).infer(call)
        return call

    def _resolve(self, operand: Operand) -> Any:
        """The value of an operand now: array, number, tuple, or None for a monad."""
        if isinstance(operand, Const):
            return operand.value
        if isinstance(operand, Parameter):
            return operand.handle.asnumpy() if operand.is_weight else self._inputs[id(operand)]
        if operand.kernel:
            return self._values[id(operand)]
        if operand.op in ("Load", "Depend"):
            return self._resolve(operand.inputs[0])
        if operand.op == "TupleGetItem":
            return self._resolve(operand.inputs[0])[operand.inputs[1].value]  # type: ignore[union-attr]
        if operand.op == "MakeTuple":
            return tuple(self._resolve(i) for i in operand.inputs)
        return None


_TYPE = OpaqueSpec("Type")


def _actual(spec: Spec, value: Any) -> Spec:
    if isinstance(spec, TensorSpec) and isinstance(value, np.ndarray):
        return TensorSpec(spec.dtype, value.shape)
    return spec


def _is_dynamic(spec: Spec) -> bool:
    if isinstance(spec, TupleSpec):
        return any(_is_dynamic(s) for s in spec.items)
    return isinstance(spec, TensorSpec) and -1 in spec.shape


def _result_specs(spec: Spec | None) -> Iterable[Spec]:
    return spec.items if isinstance(spec, TupleSpec) else (spec,) if spec is not None else ()


def _grouped(node: Node, flat: list[Any]) -> list[Any]:
    return [value for value, _count in _with_layout(node, flat)]


def _with_layout(node: Node, flat: list[Any]) -> Iterator[tuple[Any, int | None]]:
    """Arguments as called: tuples of tensors put together again; the monad at the end left out."""
    at = 0
    for count in node.extra["layout"]:
        if isinstance(count, tuple):  # a dtype the finished graph does not show
            yield count[0], None
        elif count is None:
            yield flat[at], None
            at += 1
        else:
            yield tuple(flat[at : at + count]), count
            at += count


def _input_slots(operator: Operator, node: Node, flat: list[Any]) -> Iterator[Slot]:
    index = 0
    for argument, count in enumerate(node.extra["layout"]):
        if isinstance(count, tuple):
            continue
        for _ in range(count or 1):
            slot = _slot(index, flat[index], node.inputs[index].spec)
            if slot is not None and argument not in operator.unread:
                yield slot
            index += 1


def _slot(index: int, value: Any, spec: Spec) -> Slot | None:
    """The slot of an argument; None for what has no bytes."""
    if isinstance(spec, TensorSpec):
        return Slot(index, value, spec.dtype)
    if isinstance(spec, ScalarSpec):
        return Slot(index, np.asarray(value, spec.dtype.numpy), spec.dtype)
    if isinstance(spec, TupleSpec) and value and isinstance(spec.items[0], ScalarSpec):
        dtype = spec.items[0].dtype
        return Slot(index, np.asarray(value, dtype.numpy), dtype)
    return None


def wrap(result: Any) -> Any:
    """Arrays of a result as tensors of their own (parameters and inputs are not shared with the caller)."""
    if isinstance(result, tuple):
        return tuple(wrap(r) for r in result)
    if isinstance(result, np.ndarray):
        return Tensor(result.copy(), dtypes.from_numpy(result.dtype))
    return result
