"""The values of traced tensors, as far as they are known.

In PyNative mode MindSpore computes operator by operator, also under a gradient: a function may ask a tensor for its
data, decide by it, and print it. Here a gradient outside a graph is traced with the real arguments, so the data of what
was traced so far can be computed on request.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from harness.errors import HarnessError, TraceError
from harness.framework.compile.traced import Traced
from harness.framework.ops.base import OPERATORS, Call
from harness.framework.ops.eager import execute
from harness.graph import Const, Node, Operand, Parameter, Spec, TensorSpec, TupleSpec, spec_of

_THROUGH = frozenset({"Load", "Depend", "CustomBackward"})


class Known:
    """Values of operands.

    Args:
        arguments: the array of each argument, by the ``id`` of its graph parameter.
        before: the name of the memory ``operand`` whose value an operator, or a read, finds there.
    """

    def __init__(self, arguments: Mapping[int, Any], before: Callable[[Node, Operand], Operand]) -> None:
        self._arguments = arguments
        self._before = before
        self._values: dict[int, Any] = {}
        self._kept: list[Operand] = []
        #: what was traced, as long as somebody holds it
        self.seen: list[weakref.ref[Traced]] = []

    def settle(self) -> None:
        """Gives each tensor that is held beyond the trace (by a hook, an attribute, a list) its value, where it has one
        by now: the graph has not run."""
        for reference in self.seen:
            traced = reference()
            if traced is not None and isinstance(traced.spec, TensorSpec):
                with suppress(HarnessError):
                    traced.settle(np.array(self.of(traced.operand)))

    def of(self, operand: Operand) -> Any:
        """The array (number, tuple) of an operand.

        Raises ``TraceError`` for what a random operator drew, or an update changed that does not give what it wrote:
        its value is known only when the graph runs.
        """
        pending = [operand]
        while pending:
            last = pending[-1]
            missing = [i for i in self._needed(last) if id(i) not in self._values]
            if missing:
                pending += missing
                continue
            pending.pop()
            if id(last) not in self._values:
                self._values[id(last)] = self._one(last)
                self._kept.append(last)
        return self._values[id(operand)]

    def _one(self, operand: Operand) -> Any:
        if isinstance(operand, Const):
            return operand.value
        if isinstance(operand, Parameter):
            if not operand.is_weight:
                if id(operand) not in self._arguments:
                    raise TraceError("a variable of a loop changes while the graph runs")
                return self._arguments[id(operand)]
            return operand.handle.asnumpy()
        if operand.op == "TupleGetItem":
            return self._values[id(operand.inputs[0])][operand.inputs[1].value]  # type: ignore[union-attr]
        if operand.op == "MakeTuple":
            return tuple(self._values[id(i)] for i in operand.inputs)
        if operand.op in _THROUGH:
            return self._values[id(self._needed(operand)[0])]
        return self._computed(operand)

    def _needed(self, operand: Operand) -> list[Operand]:
        """The operands that the value of an operand is computed from."""
        if not isinstance(operand, Node):
            return []
        if operand.op == "Load":
            return [self._before(operand, operand.inputs[0])]
        if operand.op in (*_THROUGH, "TupleGetItem"):
            return operand.inputs[:1]
        if operand.extra.effect != "memory":
            return operand.inputs
        taken = operand.inputs[: sum(1 if count is None else count for count in operand.extra.layout)]
        return [self._before(operand, each) for each in taken]

    def _computed(self, node: Node) -> Any:
        operator = OPERATORS.get(node.op)
        values = [self._values[id(i)] for i in self._needed(node)]
        constants = [i.value if isinstance(i, Const) else None for i in node.inputs]
        at, given, specs, plain = 0, list[Any](), list[Spec](), list[Any]()
        for count in node.extra.layout:
            several = slice(at, at + (1 if count is None else count))
            at = several.stop
            members = values[several]
            given.append(members[0] if count is None else tuple(members))
            inner = tuple(_spec(v, i.spec) for v, i in zip(members, node.inputs[several], strict=True))
            specs.append(inner[0] if count is None else TupleSpec(inner))
            plain.append(constants[several][0] if count is None else None)
        for changed in operator.mutates:
            given[changed] = given[changed].copy()
        state: dict[str, Any] = {}
        call = Call(node.op, tuple(specs), tuple(plain), node.attrs, None, state)
        call.out = operator.infer(call)
        results = execute(operator, call, tuple(given))
        if state:
            raise TraceError(f"{node.op} draws random numbers")
        return results if isinstance(node.spec, TupleSpec) else results[0]


def _spec(value: Any, spec: Spec) -> Spec:
    if isinstance(spec, TensorSpec) and isinstance(value, np.ndarray):
        return TensorSpec(spec.dtype, value.shape)
    return spec if not isinstance(value, (int, float, bool)) else spec_of(value)
