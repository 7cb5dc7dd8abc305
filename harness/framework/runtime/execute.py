"""Runs a compiled program and gives its result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness import dtypes
from harness.devices import Device
from harness.devices.cpu import CPU
from harness.framework.compile.program import Program
from harness.framework.compile.structure import put_together
from harness.framework.ops.numerics import finish
from harness.framework.ops.summaries import keep
from harness.framework.runtime.engine import Engine, EngineRun
from harness.framework.runtime.faults import Fault
from harness.framework.runtime.plan import apart_from_callers, launches_of
from harness.framework.runtime.recorded import Recorded
from harness.framework.runtime.run import Run
from harness.framework.tensor import Tensor
from harness.graph import Const, Spec, TensorSpec, TupleSpec
from harness.graph.ir_types import abstract
from harness.recording import Recording
from harness.recording.value import Array


class Executor:
    """Runs one program as often as wanted.

    Args:
        program: compiled for ``device``.
        device: whose arithmetic is emulated.
        engine: computes the kernels; None for the harness's own.
        recorded: its graphs as a recording knows them; None for a program that nothing is told of.

    Attributes:
        runs: how often it ran.
    """

    def __init__(
        self, program: Program, device: Device = CPU, engine: Engine | None = None, recorded: Recorded | None = None
    ) -> None:
        self.program = program
        self.engine = engine
        self.runs = 0
        self.launches = launches_of(program, device)
        self._graph = None if recorded is None else recorded.graph(program.graph)
        for launch in (each for launches in self.launches.values() for each in launches):
            launch.recorded = None if recorded is None else recorded.of[id(launch.node)]
        #: memory of constants that are changed in place, kept from run to run (measured)
        self.changed = {
            id(target): target.value.copy() if target.memory is None else target.memory
            for launches in self.launches.values()
            for launch in launches
            for target in (launch.node.inputs[at] for at in launch.operator.mutates)
            if isinstance(target, Const)
        }
        changes = any(launch.operator.mutates for launches in self.launches.values() for launch in launches)
        #: inputs that are copied, so that what changes them does not reach the caller's tensor
        self.apart = apart_from_callers(program) if changes else frozenset[int]()
        assert program.block.result is not None
        self._result = abstract(program.block.result)

    def run(
        self,
        arrays: Sequence[Array],
        recording: Recording | None = None,
        faults: Sequence[Fault] = (),
        iteration: int = 0,
        run: int | None = None,
    ) -> Any:
        """One step.

        Args:
            arrays: the data inputs, in the program's order.
            recording: told of the step and its kernels; an exception of an observer stops the step.
            faults: the faults to inject.
            iteration: label of the step, for ``faults``.
            run: how often the graph ran before, as observers count; its own count by default.

        Returns:
            The result: tensors of their own, numbers, or nested tuples of them.
        """
        going = self._begun(arrays, recording, faults, iteration)
        if recording is None or self._graph is None:
            try:
                result = self._ran(going)
            finally:
                going.finish()
        else:
            before = self.runs if run is None else run
            with recording.step(self._graph, parameters=going.parameters, run=before) as step:
                going.watched(step)
                try:
                    result = self._ran(going)
                except BaseException as error:
                    if going.begun is not None:
                        going.begun.fail(error)
                    raise
                finally:
                    going.finish()
        self.runs += 1
        return result

    def _ran(self, run: Run) -> Any:
        run.block(self.program.block)
        result = put_together(wrap(run.result(), self._result)[0], self.program.structure)
        self._summarize(run)
        return result

    def _summarize(self, run: Run) -> None:
        """Keeps what the summary operators were given."""
        if self.program.summed is not None:
            values = wrap(run.resolve(self.program.summed), abstract(self.program.summed))
            for (kind, tag), value in zip(self.program.summaries, values, strict=True):
                keep(kind, tag, value)

    def go_on_from(self, before: Executor) -> None:
        """Lets random operators continue where those of ``before`` stopped, an executor of nearly the same program."""
        drawn: dict[str, list[dict[str, Any]]] = {}
        for launch in (each for launches in before.launches.values() for each in launches):
            drawn.setdefault(launch.node.op, []).append(launch.state)
        for launch in (each for launches in self.launches.values() for each in launches):
            if states := drawn.get(launch.node.op):
                launch.state.update(states.pop(0))

    def _begun(self, arrays: Sequence[Array], recording: Recording | None, faults: Sequence[Fault], at: int) -> Run:
        if self.apart:
            pairs = zip(self.program.inputs, arrays, strict=True)
            arrays = [array.copy() if id(each) in self.apart else array for each, array in pairs]
        given = (self.program, self.launches, self.changed, arrays, recording, faults, at)
        return Run(*given) if self.engine is None else EngineRun(self.engine, *given)


def wrap(result: Any, spec: Spec) -> Any:
    """Arrays of a result as tensors of their own (parameters and inputs are not shared with the caller), in the dtypes
    the network asked for: a device without float16 kernels leaves float32."""
    if isinstance(result, tuple) and isinstance(spec, TupleSpec):
        return tuple(wrap(r, s) for r, s in zip(result, spec.items, strict=True))
    if isinstance(result, np.ndarray):
        dtype = spec.dtype if isinstance(spec, TensorSpec) else dtypes.from_numpy(result.dtype)
        return Tensor(finish(result.copy(), dtype), dtype)
    return result
