"""Runs a compiled program kernel by kernel and tells observers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from harness import dtypes
from harness.compile.program import Program
from harness.compile.regions import Block, Control, Crossing, Region
from harness.devices import Device
from harness.devices.cpu import CPU
from harness.errors import KernelError
from harness.graph import Const, Node, Operand, Parameter, Spec, TensorSpec, TupleSpec
from harness.graph.ir_types import abstract
from harness.ops.numerics import finish
from harness.runtime.faults import Fault, after_all, before_all
from harness.runtime.launch import Launch
from harness.runtime.observer import Array, Observer, Step
from harness.runtime.plan import launches_of
from harness.tensor import Tensor


class Executor:
    """Runs one program as often as wanted.

    Args:
        program: compiled for ``device``.
        device: whose arithmetic is emulated.

    Attributes:
        runs: how often it ran.
    """

    def __init__(self, program: Program, device: Device = CPU) -> None:
        self.program = program
        self.runs = 0
        self.launches = launches_of(program, device)
        #: constants that are changed in place: their memory, kept from run to run (measured)
        self.changed = {
            id(target): target.value.copy()
            for launches in self.launches.values()
            for launch in launches
            for target in (launch.node.inputs[at] for at in launch.operator.mutates)
            if isinstance(target, Const)
        }
        assert program.block.result is not None
        self._result = abstract(program.block.result)

    def run(
        self, arrays: Sequence[Array], observers: Sequence[Observer], faults: Sequence[Fault] = (), iteration: int = 0
    ) -> Any:
        """One step.

        Args:
            arrays: the data inputs, in the program's order.
            observers: told in order; an exception of one stops the step.
            faults: what is to go wrong.
            iteration: label of the step, for ``faults``.

        Returns:
            The result: tensors of their own, numbers, or nested tuples of them.
        """
        run = _Run(self, arrays, observers, faults, iteration)
        step = Step(self.program.graph, self.runs, run.parameters)
        try:
            for observer in observers:
                observer.step_begin(step)
            run.block(self.program.block)
            result = wrap(run.resolve(self.program.block.result), self._result)[0]
        except BaseException as error:
            for observer in observers:
                observer.failed(run.running, error)
            raise
        self.runs += 1
        for observer in observers:
            observer.step_end(step)
        return result


class _Run:
    """The values of one step. A value lives until the last kernel that reads it has run.

    Attributes:
        running: the kernel that runs, for whoever reports a failure.
    """

    def __init__(
        self,
        executor: Executor,
        arrays: Sequence[Array],
        observers: Sequence[Observer],
        faults: Sequence[Fault],
        iteration: int,
    ) -> None:
        self.running: Node | None = None
        self._faults = faults
        self._iteration = iteration
        self._program = executor.program
        self._launches = executor.launches
        self._observers = observers
        self._changed = executor.changed
        self._values: dict[int, Any] = {id(p): a for p, a in zip(executor.program.inputs, arrays, strict=True)}

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
                side = item.first if bool(np.all(self.resolve(item.pred))) else item.second
                self.block(side)
                self._values[id(item.node)] = self._settled(side.result)

    def _loop(self, control: Control) -> None:
        state = [self.resolve(i) for i in control.init]
        while True:
            for variable, value in zip(control.state, state, strict=True):
                self._values[id(variable)] = value
            self.block(control.first)
            if not bool(np.all(self.resolve(control.first.result))):
                break
            self.block(control.second)
            result = self._settled(control.second.result)
            state = list(result) if isinstance(result, tuple) else [result]
        self._values[id(control.node)] = tuple(state) if isinstance(control.node.spec, TupleSpec) else state[0]

    def _settled(self, operand: Operand | None) -> Any:
        """A value that later kernels cannot change: a read of a parameter is copied."""
        value = self.resolve(operand)
        if isinstance(value, tuple):
            return tuple(v.copy() if isinstance(v, np.ndarray) else v for v in value)
        return value.copy() if isinstance(value, np.ndarray) else value

    def parameters(self) -> Iterator[tuple[Parameter, Array]]:
        """See ``Step.parameters``."""
        for parameter in self._program.graph.parameters:
            array = self.resolve(parameter)
            if array is not None and array.size:
                yield parameter, array

    def _launch(self, launch: Launch) -> None:
        values = [self.resolve(i) for i in launch.node.inputs]
        call = launch.call(values)
        inputs = launch.inputs(values) if self._observers else []
        for observer in self._observers:
            observer.kernel_inputs(launch.node, inputs)
        arguments = launch.arguments(values)
        try:
            if self._faults:
                before_all(self._faults, launch, self._iteration)
            results = launch.run(call, arguments)
        except KernelError as error:
            error.args = (f"{error} -- {_described(launch.node)}",)
            raise
        if launch.copies:
            results = tuple(r.copy() if _is_view(r, arguments) else r for r in results)
        if self._faults:
            results = after_all(self._faults, launch, self._iteration, results)
        self._values[id(launch.node)] = results if isinstance(launch.node.spec, TupleSpec) else results[0]
        if self._observers:
            outputs = launch.outputs(results, call)
            for observer in self._observers:
                observer.kernel_outputs(launch.node, inputs, outputs)
        for value in launch.frees:
            self._values.pop(value, None)

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
    """Whether a result lies in the memory of an argument (the real kernels copy)."""
    return any(
        _is_view(result, a) if isinstance(a, tuple) else isinstance(a, np.ndarray) and np.may_share_memory(result, a)
        for a in arguments
    )


def wrap(result: Any, spec: Spec) -> Any:
    """Arrays of a result as tensors of their own (parameters and inputs are not shared with the caller), in the dtypes
    the network asked for: a device without float16 kernels leaves float32."""
    if isinstance(result, tuple) and isinstance(spec, TupleSpec):
        return tuple(wrap(r, s) for r, s in zip(result, spec.items, strict=True))
    if isinstance(result, np.ndarray):
        dtype = spec.dtype if isinstance(spec, TensorSpec) else dtypes.from_numpy(result.dtype)
        return Tensor(finish(result.copy(), dtype), dtype)
    return result
