"""The interface of engines that compute a graph's kernels instead of the harness's own numpy kernels, and a run that
uses one.

Values between kernels then belong to the engine. Observers see arrays, which come to the host only when an observer
reads them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from harness.devices.overflow import STATUS
from harness.dtypes import DType
from harness.errors import UnsupportedError
from harness.framework.ops.base import Call, Operator
from harness.framework.runtime.fused import FusedLaunch
from harness.framework.runtime.launch import Launch
from harness.framework.runtime.run import Run
from harness.graph import Operand, Parameter, TensorSpec, TupleSpec
from harness.recording import Launch as RecordedLaunch
from harness.recording.value import Array, Value


class Engine(Protocol):
    """Computes operators; see ``harness.framework.engines``."""

    def execute(self, operator: Operator, call: Call, arguments: tuple[Any, ...], apart: bool) -> tuple[Any, ...]:
        """Results of an operator as values of the engine; ``KernelError`` if it fails.

        Args:
            arguments: arrays, values of the engine, numbers, tuples of them.
            apart: results must not share memory with arguments.
        """

    def host(self, value: Any) -> Any:
        """A value of the engine as an array, in its own memory where that is the host's; others as they are now."""

    def copied(self, value: Any) -> Any:
        """A value that later kernels cannot change."""

    def replaced(self, value: Any, array: Array, in_place: bool) -> Any:
        """``value`` after ``array`` replaced it; with ``in_place``, in the memory of ``value``."""

    def finish(self) -> None:
        """Ends a step: arrays that kernels updated in place hold the new values."""


class EngineRun(Run):
    """A step whose kernels an engine computes.

    Args:
        engine: the engine; everything else as for ``Run``.
    """

    def __init__(self, engine: Engine, *given: Any) -> None:
        super().__init__(*given)
        self._engine = engine
        self._values_shown: Sequence[Any] | None = None

    def result(self) -> Any:
        """See ``Run.result``."""
        return self._engine.host(super().result())

    def finish(self) -> None:
        """See ``Run.finish``."""
        self._engine.finish()

    def parameters(self) -> Iterator[tuple[Parameter, Array]]:
        """See ``Step.parameters``."""
        for parameter in self._program.graph.parameters:
            array = None if parameter.is_member else self._engine.host(self.resolve(parameter))
            if array is not None and array.size:
                yield parameter, array

    def _holds(self, condition: Operand | None) -> bool:
        return bool(np.all(self._engine.host(self.resolve(condition))))

    def _copied(self, value: Any) -> Any:
        return self._engine.copied(value)

    def _inputs(self, launch: Launch, values: Sequence[Any]) -> list[Value]:
        self._values_shown = values
        return launch.slots_of(values, self._slot)

    def _computed(self, launch: Launch, call: Call, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        if isinstance(launch, FusedLaunch):
            raise UnsupportedError(f"{launch.node.name}: an engine computes operators one by one, no fused kernels")
        return self._engine.execute(launch.operator, call, arguments, launch.copies)

    def _spoilt(self, launch: Launch, results: tuple[Any, ...]) -> tuple[Any, ...]:
        arrays = tuple(map(self._engine.host, results))
        spoilt = super()._spoilt(launch, arrays)
        in_place = bool(launch.operator.mutates)
        return tuple(
            value if now is was and not in_place else self._engine.replaced(value, now, in_place)
            for value, was, now in zip(results, arrays, spoilt, strict=True)
        )

    def _mutated(self, launch: Launch, begun: RecordedLaunch) -> Mapping[int, Value] | None:
        if not launch.operator.mutates or self._values_shown is None:
            return None
        again = launch.slots_of(self._values_shown, self._slot)
        return {value.index: value for value in again if value.index in launch.operator.mutates}

    def _outputs(self, launch: Launch, results: Sequence[Any], call: Call) -> list[Value]:
        STATUS.raised = False  # of a kernel of our own; no engine has such a status
        specs = call.out.items if isinstance(call.out, TupleSpec) else (call.out,)
        return [
            self._slot(i, value, spec.dtype)
            for i, (value, spec) in enumerate(zip(results, specs, strict=True))
            if isinstance(spec, TensorSpec)
        ]

    def _slot(self, index: int, value: Any, dtype: DType) -> Value:
        shape = getattr(value, "shape", None)
        if shape is None:  # a number, or a tuple of them
            return Value.known(np.asarray(self._engine.host(value), dtype.numpy), dtype, index, False)
        host = self._engine.host
        return Value(lambda: np.asarray(host(value), dtype.numpy), dtype, tuple(shape), index=index)
