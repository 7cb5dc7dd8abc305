"""Runs a compiled program kernel by kernel and tells observers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from harness import dtypes
from harness.compile.program import Program
from harness.compile.regions import Block, Control, Crossing, Region
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
        self._running: Node | None = None

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
        self._running = None
        for observer in observers:
            observer.step_begin(step)
        try:
            self._run_block(self.program.block, observers)
            result = self._resolve(self.program.block.result)[0]
        except BaseException as error:
            for observer in observers:
                observer.failed(self._running, error)
            raise
        self.runs += 1
        for observer in observers:
            observer.step_end(step)
        self._values = {}
        return result

    def _run_block(self, block: Block, observers: Sequence[Observer]) -> None:
        for item in block.items:
            if isinstance(item, Region):
                for node in self.program.of_region[id(item)].execution_order:
                    self._running = node
                    self._launch(node, observers)
                    self._running = None
            elif item.is_loop:
                self._loop(item, observers)
            else:
                side = item.first if bool(np.all(self._resolve(item.pred))) else item.second
                self._run_block(side, observers)
                self._values[id(item.node)] = self._settled(side.result)

    def _loop(self, control: Control, observers: Sequence[Observer]) -> None:
        state = [self._resolve(i) for i in control.init]
        while True:
            for variable, value in zip(control.state, state, strict=True):
                self._values[id(variable)] = value
            self._run_block(control.first, observers)
            if not bool(np.all(self._resolve(control.first.result))):
                break
            self._run_block(control.second, observers)
            result = self._settled(control.second.result)
            state = list(result) if isinstance(result, tuple) else [result]
        self._values[id(control.node)] = tuple(state) if isinstance(control.node.spec, TupleSpec) else state[0]

    def _settled(self, operand: Operand | None) -> Any:
        """A value that later kernels cannot change: a read of a parameter is copied."""
        value = self._resolve(operand)
        if isinstance(value, tuple):
            return tuple(v.copy() if isinstance(v, np.ndarray) else v for v in value)
        return value.copy() if isinstance(value, np.ndarray) else value

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

    def _resolve(self, operand: Operand | None) -> Any:
        """The value of an operand now: array, number, tuple, or None for a monad."""
        if isinstance(operand, Const):
            return operand.value
        if isinstance(operand, Parameter):
            if operand.is_weight:
                return operand.handle.asnumpy()
            if isinstance(operand.handle, Crossing):
                return self._resolve(operand.handle.operand)
            return self._inputs[id(operand)] if id(operand) in self._inputs else self._values[id(operand)]
        if operand is None:
            return None
        if operand.kernel or operand.op == "Switch":
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
            if slot is not None and argument not in operator.unread and not _crosses(node.inputs[index]):
                yield slot
            index += 1


def _crosses(operand: Operand) -> bool:
    """Whether a value comes over a border of control flow: such inputs have no dump file (measured)."""
    return isinstance(operand, Parameter) and not operand.is_weight and not operand.name


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
