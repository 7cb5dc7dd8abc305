"""The interface of engines that compute a graph's kernels instead of the harness's own numpy kernels, and a run that
uses one.

Values between kernels then belong to the engine. Observers see arrays, which come to the host only when an observer
reads them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np

from harness.dtypes import DType
from harness.errors import UnsupportedError
from harness.framework.ops.base import Call, Operator
from harness.framework.runtime.fused import FusedLaunch
from harness.framework.runtime.launch import Launch
from harness.framework.runtime.observer import Array, Slot
from harness.framework.runtime.run import Run
from harness.graph import Operand, Parameter, TensorSpec, TupleSpec


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


class HostSlot(Slot):
    """A slot whose array comes to the host when it is first read.

    Args:
        value: a value of the engine, or what ``Slot`` takes an array of.
        host: brings it to the host.
    """

    __slots__ = ("_array", "_host", "_value")
    _array: Array | None
    _host: Callable[[Any], Any]
    _value: Any

    def __init__(self, index: int, value: Any, dtype: DType, host: Callable[[Any], Any]) -> None:
        given = {"index": index, "dtype": dtype, "saturated": False, "_value": value, "_host": host, "_array": None}
        for name, each in given.items():
            object.__setattr__(self, name, each)  # the class is frozen

    @property
    def array(self) -> Array:
        """See ``Slot``."""
        array = self._array
        if array is None:
            array = np.asarray(self._host(self._value), self.dtype.numpy)
            object.__setattr__(self, "_array", array)
        return array

    def forget(self) -> None:
        """Reads the value again, because the kernel may have changed it."""
        object.__setattr__(self, "_array", None)


class EngineRun(Run):
    """A step whose kernels an engine computes.

    Args:
        engine: the engine; everything else as for ``Run``.
    """

    def __init__(self, engine: Engine, *given: Any) -> None:
        super().__init__(*given)
        self._engine = engine

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

    def _settled(self, operand: Operand | None) -> Any:
        return self._engine.copied(self.resolve(operand))

    def _inputs(self, launch: Launch, values: Sequence[Any]) -> list[Slot]:
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

    def _outputs(self, launch: Launch, results: Sequence[Any], call: Call, inputs: Sequence[Slot]) -> list[Slot]:
        if launch.operator.mutates:
            for slot in inputs:
                if isinstance(slot, HostSlot):
                    slot.forget()
        specs = call.out.items if isinstance(call.out, TupleSpec) else (call.out,)
        return [
            self._slot(i, value, spec.dtype)
            for i, (value, spec) in enumerate(zip(results, specs, strict=True))
            if isinstance(spec, TensorSpec)
        ]

    def _slot(self, index: int, value: Any, dtype: DType) -> Slot:
        return HostSlot(index, value, dtype, self._engine.host)
