"""Runs one step of a compiled program kernel by kernel, and tells observers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from harness.errors import KernelError
from harness.framework.compile.program import Program
from harness.framework.compile.regions import Block, Control, Crossing, Region
from harness.framework.ops.base import Call
from harness.framework.runtime.faults import Fault, after_all, before_all
from harness.framework.runtime.launch import Launch
from harness.framework.runtime.observer import Array, Observer, Slot
from harness.graph import Const, Node, Operand, Parameter, TupleSpec


class Run:
    """The values of one step. A value lives until the last kernel that reads it has run.

    Args:
        program: what runs.
        launches: of each of its regions.
        changed: memory of constants that are changed in place, by ``id``.
        arrays: the data inputs.
        observers, faults, iteration: see ``Executor.run``.

    Attributes:
        running: the running kernel, for reporting a failure.
    """

    def __init__(
        self,
        program: Program,
        launches: Mapping[int, Sequence[Launch]],
        changed: Mapping[int, Array],
        arrays: Sequence[Array],
        observers: Sequence[Observer],
        faults: Sequence[Fault],
        iteration: int,
    ) -> None:
        self.running: Node | None = None
        self._faults = faults
        self._iteration = iteration
        self._program = program
        self._launches = launches
        self._observers = observers
        self._changed = changed
        self._values: dict[int, Any] = {id(p): a for p, a in zip(program.inputs, arrays, strict=True)}

    def result(self) -> Any:
        """The program's result: arrays, numbers, nested tuples of them."""
        return self.resolve(self._program.block.result)

    def finish(self) -> None:
        """Ends the step, whether it failed or not."""

    def block(self, block: Block) -> None:
        """Runs regions and controls in order."""
        for item in block.items:
            if isinstance(item, Region):
                for launch in self._launches[id(item)]:
                    self.running = launch.node
                    self._launch(launch)
                self.running = None
            elif item.is_loop:
                self._loop(item)
            else:
                side = item.first if self._holds(item.pred) else item.second
                self.block(side)
                self._values[id(item.node)] = self._settled(side.result)

    def _loop(self, control: Control) -> None:
        state = [self.resolve(i) for i in control.init]
        while True:
            for variable, value in zip(control.state, state, strict=True):
                self._values[id(variable)] = value
            self.block(control.first)
            if not self._holds(control.first.result):
                break
            self.block(control.second)
            result = self._settled(control.second.result)
            state = list(result) if isinstance(result, tuple) else [result]
        self._values[id(control.node)] = tuple(state) if isinstance(control.node.spec, TupleSpec) else state[0]

    def parameters(self) -> Iterator[tuple[Parameter, Array]]:
        """See ``Step.parameters``."""
        for parameter in self._program.graph.parameters:
            array = None if parameter.is_member else self.resolve(parameter)
            if array is not None and array.size:
                yield parameter, array

    def _launch(self, launch: Launch) -> None:
        values = [self.resolve(i) for i in launch.node.inputs]
        call = launch.call(values)
        inputs = self._inputs(launch, values) if self._observers else []
        for observer in self._observers:
            observer.kernel_inputs(launch.node, inputs)
        arguments = launch.arguments(values)
        try:
            if self._faults:
                before_all(self._faults, launch, self._iteration)
            results = self._computed(launch, call, arguments)
        except KernelError as error:
            error.args = (f"{error} -- {_described(launch.node)}",)
            raise
        if self._faults:
            results = self._spoilt(launch, results)
        self._values[id(launch.node)] = results if isinstance(launch.node.spec, TupleSpec) else results[0]
        if self._observers:
            outputs = self._outputs(launch, results, call, inputs)
            for observer in self._observers:
                observer.kernel_outputs(launch.node, inputs, outputs)
        for value in launch.frees:
            self._values.pop(value, None)

    # --- methods that another engine replaces ---

    def _holds(self, condition: Operand | None) -> bool:
        return bool(np.all(self.resolve(condition)))

    def _settled(self, operand: Operand | None) -> Any:
        """A value that later kernels cannot change: a read of a parameter is copied."""
        value = self.resolve(operand)
        if isinstance(value, tuple):
            return tuple(v.copy() if isinstance(v, np.ndarray) else v for v in value)
        return value.copy() if isinstance(value, np.ndarray) else value

    def _inputs(self, launch: Launch, values: Sequence[Any]) -> list[Slot]:
        return launch.inputs(values)

    def _computed(self, launch: Launch, call: Call, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        results = launch.run(call, arguments)
        if launch.copies:
            return tuple(r.copy() if _is_view(r, arguments) else r for r in results)
        return results

    def _spoilt(self, launch: Launch, results: tuple[Any, ...]) -> tuple[Any, ...]:
        return after_all(self._faults, launch, self._iteration, results)

    def _outputs(self, launch: Launch, results: Sequence[Any], call: Call, _inputs: Sequence[Slot]) -> list[Slot]:
        return launch.outputs(results, call)

    def resolve(self, operand: Operand | None) -> Any:
        """The value of an operand now: array, number, tuple, or None for a monad."""
        if isinstance(operand, Const):
            return self._changed.get(id(operand), operand.value)
        if isinstance(operand, Parameter):
            if operand.is_weight:
                return operand.handle.asnumpy()
            if isinstance(operand.handle, Crossing):
                return self.resolve(operand.handle.operand)
            return self._values[id(operand)]
        if operand is None:
            return None
        if operand.kernel or operand.op == "Switch":
            return self._values[id(operand)]
        if operand.op in ("Load", "Depend"):
            return self.resolve(operand.inputs[0])
        if operand.op == "TupleGetItem":
            return self.resolve(operand.inputs[0])[operand.inputs[1].value]  # type: ignore[union-attr]
        if operand.op == "MakeTuple":
            return tuple(self.resolve(i) for i in operand.inputs)
        return None


def _described(node: Node) -> str:
    """Full name and source line of a node, for messages."""
    lines = node.source or node.related
    return f"{node.name}, at {lines[-1].path}:{lines[-1].line}" if lines else node.name


def _is_view(result: Array, arguments: Iterable[Any]) -> bool:
    """Whether a result lies in the memory of an argument; the real kernels copy."""
    return any(
        _is_view(result, a) if isinstance(a, tuple) else isinstance(a, np.ndarray) and np.may_share_memory(result, a)
        for a in arguments
    )
