"""The launches of a program's kernels: everything that stays equal in every run, computed once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from harness.devices import Device
from harness.devices.overflow import STATUS
from harness.dtypes import DType
from harness.framework.ops.base import OPERATORS, Call, Operator
from harness.framework.ops.eager import execute
from harness.graph import Const, Node, OpaqueSpec, Operand, Parameter, ScalarSpec, Spec, TensorSpec, TupleSpec
from harness.recording.operator import Operator as RecordedOperator
from harness.recording.value import Array, Value

_TYPE = OpaqueSpec("Type")


class Launch:
    """One kernel, ready to be called.

    Attributes:
        node: the kernel.
        operator: operator that computes it.
        device: device that it runs on.
        frees: ``id`` of each node whose value nothing needs after this launch.
        state: what its operator keeps between runs.
        recorded: the kernel as a recording knows it; None while nothing is recorded.
        copies: its result must be no view of its arguments, because one of them is updated in place in this program.
    """

    def __init__(self, node: Node, device: Device, operator: Operator | None = None) -> None:
        self.node = node
        self.operator = operator or OPERATORS.get(node.op)
        self.device = device
        self.frees: tuple[int, ...] = ()
        self.copies = False
        self.recorded: RecordedOperator | None = None
        self._layout: tuple[Any, ...] = node.extra.layout
        self._is_flat = all(count is None for count in self._layout)
        self.state: dict[str, Any] = {} if node.extra.stream is None else node.extra.stream
        self._slots = tuple(self._templates())
        constants = [i.value if isinstance(i, Const) else None for i in node.inputs]
        self._constants = tuple(None if isinstance(v, tuple) and n else v for v, n in self._members(constants))
        self._call: Call | None = None
        if not _is_dynamic(node.spec) and not any(_is_dynamic(i.spec) for i in node.inputs):
            self._call = self._call_of([_tensor(i.spec) for i in node.inputs], node.spec)

    def call(self, values: Sequence[Any]) -> Call:
        """The call; where a dimension is dynamic, with the shapes of ``values`` (one for each input of the node)."""
        if self._call is not None:
            return self._call
        call = self._call_of([_actual(i.spec, v) for i, v in zip(self.node.inputs, values, strict=True)], None)
        call.out = self.operator.infer(call)
        return call

    def _call_of(self, specs: Sequence[Spec], out: Spec | None) -> Call:
        grouped = tuple(
            TupleSpec(s) if isinstance(s, tuple) else _TYPE if isinstance(s, DType) else s
            for s, _count in self._members(specs)
        )
        return Call(self.node.op, grouped, self._constants, self.node.attrs, out, self.state)

    def arguments(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """``values`` as in the operator's call: tuples of tensors joined again, without a monad at the end."""
        if self._is_flat:
            return tuple(values[: len(self._layout)])
        return tuple(value for value, _count in self._members(values))

    def _members(self, flat: Sequence[Any]) -> Iterator[tuple[Any, int | None]]:
        at = 0
        for count in self._layout:
            if isinstance(count, tuple):  # a dtype the finished graph does not show
                yield count[0], None
            elif count is None:
                yield flat[at], None
                at += 1
            else:
                yield tuple(flat[at : at + count]), count
                at += count

    def run(self, call: Call, arguments: tuple[Any, ...]) -> tuple[Array, ...]:
        """Computes the results of ``call`` on the device; ``STATUS`` says afterwards whether it saturated."""
        STATUS.raised = False
        operator = self.operator
        in_place = bool(operator.mutates)
        return self.device.run(operator.name, arguments, lambda ready: execute(operator, call, ready), in_place)

    def inputs(self, values: Sequence[Any]) -> list[Value]:
        """A value for each argument that has bytes and that the kernel reads."""
        return [
            slot
            if isinstance(slot, Value)
            else Value.known(np.asarray(values[slot[0]], slot[1].numpy), slot[1], slot[0], False)
            for slot in self._slots
        ]

    def outputs(self, results: Sequence[Array], call: Call) -> list[Value]:
        """A value for each result that is a tensor."""
        specs = call.out.items if isinstance(call.out, TupleSpec) else (call.out,)
        return [
            Value.known(array, spec.dtype, i, False)
            for i, (array, spec) in enumerate(zip(results, specs, strict=True))
            if isinstance(spec, TensorSpec)
        ]

    def slots_of(self, values: Sequence[Any], slot: Callable[[int, Any, DType], Value]) -> list[Value]:
        """As ``inputs``, with values that ``slot`` makes of position, value and dtype."""
        return [each if isinstance(each, Value) else slot(each[0], values[each[0]], each[1]) for each in self._slots]

    def _templates(self) -> Iterator[Value | tuple[int, DType]]:
        """Values of constants as they are; of other arguments their position and dtype."""
        index = 0
        for argument, count in enumerate(self._layout):
            if isinstance(count, tuple):
                continue
            for _ in range(1 if count is None else count):
                operand = self.node.inputs[index]
                dtype = _dtype(operand)
                if dtype is not None and argument not in self.operator.unread and not _crosses(operand):
                    known = isinstance(operand, Const) and argument not in self.operator.mutates
                    yield Value.known(_constant(operand, dtype), dtype, index, True) if known else (index, dtype)
                index += 1


def _crosses(operand: Operand) -> bool:
    """Whether a value comes over a border of control flow: such inputs have no dump file (measured)."""
    return isinstance(operand, Parameter) and not operand.is_weight and not operand.name


def _dtype(operand: Operand) -> DType | None:
    """The dtype of an argument's slot; None for an argument without bytes."""
    spec = operand.spec
    if isinstance(spec, (TensorSpec, ScalarSpec)):
        return spec.dtype
    if isinstance(spec, TupleSpec) and spec.items and isinstance(spec.items[0], ScalarSpec):
        return spec.items[0].dtype
    return None


def _constant(operand: Operand, dtype: DType) -> Array:
    assert isinstance(operand, Const)
    return np.asarray(operand.value, dtype.numpy)


def _actual(spec: Spec, value: Any) -> Spec:
    shape = getattr(value, "shape", None)  # an array's, or that of another engine's value
    return TensorSpec(spec.dtype, tuple(shape)) if isinstance(spec, TensorSpec) and shape is not None else spec


def _tensor(spec: Spec) -> Spec:
    return spec.tensor if isinstance(spec, TensorSpec) else spec


def _is_dynamic(spec: Spec) -> bool:
    if isinstance(spec, TupleSpec):
        return any(_is_dynamic(s) for s in spec.items)
    return isinstance(spec, TensorSpec) and -1 in spec.shape
