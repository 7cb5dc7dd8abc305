"""Runs one step of a compiled program kernel by kernel, and tells observers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from harness.devices.overflow import STATUS
from harness.errors import KernelError
from harness.framework.compile.program import Program
from harness.framework.compile.regions import Block, Control, Crossing, Region
from harness.framework.ops.base import Call
from harness.framework.runtime.faults import Fault, after_all, before_all
from harness.framework.runtime.launch import Launch
from harness.framework.runtime.lent import LentMemory
from harness.framework.runtime.plan import is_lasting, sources
from harness.graph import Const, Node, Operand, Parameter, TupleSpec
from harness.recording import Launch as RecordedLaunch
from harness.recording import Recording, Step
from harness.recording.value import Array, Value


class Run:
    """The values of one step. A value lives until the last kernel that reads it has run.

    Args:
        program: what runs.
        launches: of each of its regions.
        changed: memory of constants that are changed in place, by ``id``.
        arrays: the data inputs.
        recording, faults, iteration: see ``Executor.run``.

    Attributes:
        step: what is told of the kernels; None if nobody hears of them. The executor sets it.
        begun: the launch that runs now, for reporting a failure.
    """

    def __init__(
        self,
        program: Program,
        launches: Mapping[int, Sequence[Launch]],
        changed: Mapping[int, Array],
        arrays: Sequence[Array],
        recording: Recording | None,
        faults: Sequence[Fault],
        iteration: int,
    ) -> None:
        self.step: Step | None = None
        self.begun: RecordedLaunch | None = None
        self._faults = faults
        self._iteration = iteration
        self._program = program
        self._launches = launches
        self._recording = recording
        self._lent: LentMemory | None = None
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
                    self._launch(launch)
            elif item.is_loop:
                self._loop(item)
            else:
                side = item.first if self._holds(item.pred) else item.second
                self.block(side)
                self._values[id(item.node)] = self._settled(side.result)

    def _loop(self, control: Control) -> None:
        # A variable is the memory it begins with, but for a constant's (measured: other names of it see the updates).
        state = [self._settled(i) if isinstance(i, Const) else self.resolve(i) for i in control.init]
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

    def watched(self, step: Step) -> None:
        """Observers hear of the kernels from now on, as of launches of ``step``."""
        recording = self._recording
        if recording is not None and (recording.on_launch_begin or recording.on_launch_end):
            self.step = step
            if recording.keeps:
                self._lent = LentMemory(array for _parameter, array in self.parameters())

    def parameters(self) -> Iterator[tuple[Parameter, Array]]:
        """See ``Step.parameters``."""
        for parameter in self._program.graph.parameters:
            array = None if parameter.is_member else self.resolve(parameter)
            if array is not None and array.size:
                yield parameter, array

    def _launch(self, launch: Launch) -> None:
        values = [self.resolve(i) for i in launch.node.inputs]
        call = launch.call(values)
        if self.step is not None:
            self._begin(launch, self._inputs(launch, values), self.step)
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
        if self.begun is not None:
            self._end(launch, self.begun, self._outputs(launch, results, call))
        for value in launch.frees:
            self._values.pop(value, None)

    def _begin(self, launch: Launch, inputs: list[Value], step: Step) -> None:
        if self._lent is not None:
            self._lent.inputs(launch.node, inputs)
        assert launch.recorded is not None
        begun = RecordedLaunch(step, launch.recorded, inputs, None)
        begun.begin()
        self.begun = begun

    def _end(self, launch: Launch, begun: RecordedLaunch, outputs: list[Value]) -> None:
        saturated = STATUS.raised
        if self._lent is not None:
            self._lent.outputs(launch.node, outputs)
        begun.end(outputs, self._mutated(launch, begun), saturated)
        self.begun = None

    # --- methods that another engine replaces ---

    def _holds(self, condition: Operand | None) -> bool:
        return bool(np.all(self.resolve(condition)))

    def _settled(self, operand: Operand | None) -> Any:
        """What a block hands on: memory as it is, but that of a weight or a constant, which is copied."""
        if isinstance(operand, Node) and operand.op == "MakeTuple":
            return tuple(map(self._settled, operand.inputs))
        value = self.resolve(operand)
        return self._copied(value) if any(map(is_lasting, sources(operand))) or isinstance(operand, Const) else value

    def _copied(self, value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(self._copied, value))
        return value.copy() if isinstance(value, np.ndarray) else value

    def _inputs(self, launch: Launch, values: Sequence[Any]) -> list[Value]:
        return launch.inputs(values)

    def _mutated(self, launch: Launch, begun: RecordedLaunch) -> Mapping[int, Value] | None:
        """Inputs that the kernel updated, where the values shown before do not show it."""
        return None

    def _computed(self, launch: Launch, call: Call, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        results = launch.run(call, arguments)
        if launch.copies:
            return tuple(r.copy() if _is_view(r, arguments) else r for r in results)
        return results

    def _spoilt(self, launch: Launch, results: tuple[Any, ...]) -> tuple[Any, ...]:
        return after_all(self._faults, launch, self._iteration, results)

    def _outputs(self, launch: Launch, results: Sequence[Any], call: Call) -> list[Value]:
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
