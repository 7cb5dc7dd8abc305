"""Runs one operator of a MindSpore graph again, on an emulated device.

A run of an emulated device is reproduced bit for bit; any other run within the noise floor of its sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from harness import dtypes
from harness.devices import DEVICES, Device
from harness.devices.operators import COMMUNICATION, TRANSFER
from harness.dtypes import DType
from harness.errors import HarnessError
from harness.framework.ops.base import OPERATORS, Operator
from harness.framework.ops.base import Call as Use
from harness.framework.ops.eager import execute
from harness.graph import OpaqueSpec, ScalarSpec, Spec, TensorSpec, TupleSpec, spec_of
from harness.recording.described import Described
from harness.recording.replayer import Call, Facts, Replayed, Replayer

#: operators whose leading tensors are one argument, a tuple
JOINED = frozenset({"AddN", "Concat", "Stack", "Meshgrid"})
#: operators with an argument that final graphs omit: the dtype of the result
TYPED = frozenset({"Cast"})
#: operators that only move elements
MOVES = frozenset({
    "BroadcastTo", "Concat", "ExpandDims", "Flatten", "Gather", "GatherD", "Identity", "Reshape", "ReverseV2", "Slice",
    "Split", "Squeeze", "Stack", "StridedSlice", "Tile", "Transpose", "Unstack",
})  # fmt: skip
#: operators whose results have other ranks' values
_OF_RANKS = COMMUNICATION | TRANSFER


class Emulator(Replayer):
    """Operators by their names in MindSpore, computed by the harness's own kernels."""

    def facts(self, operator: Described) -> Facts | None:
        """See ``Replayer.facts``; None for a name that the harness lacks, and for a collective, which needs others."""
        if operator.type not in OPERATORS or operator.type in _OF_RANKS:
            return None
        known = OPERATORS.get(operator.type)
        return Facts(known.mutates, known.random, operator.type in MOVES)

    def replay(self, call: Call) -> Replayed | None:
        """See ``Replayer.replay``."""
        if call.operator.type in _OF_RANKS:
            return None
        try:
            return _replayed(call)
        except (
            HarnessError, ValueError, TypeError, IndexError, KeyError, AttributeError, ArithmeticError, MemoryError,
        ):  # fmt: skip
            return None  # an operator with inputs it does not accept proves nothing

    def widen(self, call: Call) -> Replayed | None:
        """See ``Replayer.widen``: in float64."""
        floats = {
            slot: each.astype(np.float64)
            for slot, each in call.before.items()
            if isinstance(each, np.ndarray) and each.dtype.kind in "fV"
        }
        if call.operator.type in TYPED:
            return Replayed(tuple(floats.values())[:1]) if floats else None
        outputs = tuple(dtypes.float64.name if dtypes.by_name(n).is_floating else n for n in call.outputs)
        return self.replay(replace(call.changed(floats), outputs=outputs))


def _replayed(call: Call) -> Replayed:
    operator = OPERATORS.get(call.operator.type)
    kinds = [dtypes.by_name(name) for name in call.outputs]
    arguments, constants = _arranged(call, operator, kinds)
    specs = tuple(map(_spec, arguments))
    use = Use(operator.name, specs, tuple(constants), call.operator.attributes, None, {"runs": call.runs})
    use.out = _with_dtypes(operator.infer(use), kinds)
    with np.errstate(all="ignore"):
        results = _device(call.device).run(
            operator.name, tuple(arguments), lambda ready: execute(operator, use, ready), bool(operator.mutates)
        )
    state = {slot: np.array(arguments[slot]) for slot in operator.mutates if slot < len(arguments)}
    return Replayed(tuple(np.array(each) for each in results), state)


def _device(name: str) -> Device:
    return DEVICES.get(name if name in DEVICES else "cpu")


def _arranged(call: Call, operator: Operator, kinds: Sequence[DType]) -> tuple[list[Any], list[Any]]:
    """Arguments and constants, in the order of the call."""
    arguments: list[Any] = []
    constants: list[Any] = []
    for slot, edge in enumerate(call.operator.inputs):
        each = call.before[slot]
        if isinstance(each, np.ndarray) and slot in operator.mutates:
            each = each.copy()
        arguments.append(each)
        constants.append(each if edge.kind == "constant" or not isinstance(each, np.ndarray) else None)
    if operator.name in JOINED:
        count = next((i for i, each in enumerate(arguments) if not isinstance(each, np.ndarray)), len(arguments))
        if operator.name == "Concat" and count == len(arguments):
            count -= 1
        arguments = [tuple(arguments[:count]), *arguments[count:]]
        constants = [None, *constants[count:]]
    if operator.name in TYPED and len(arguments) == 1:
        arguments.append(kinds[0])
        constants.append(kinds[0])
    return arguments, constants


def _spec(each: Any) -> Spec:
    if isinstance(each, np.ndarray):
        return TensorSpec(dtypes.from_numpy(each.dtype), each.shape)
    if isinstance(each, DType):
        return OpaqueSpec("Type")
    if isinstance(each, tuple) and each and all(isinstance(member, np.ndarray) for member in each):
        return TupleSpec(tuple(_spec(member) for member in each))
    if isinstance(each, bool):
        return ScalarSpec(dtypes.bool_)
    return spec_of(each)


def _with_dtypes(out: Spec, kinds: Sequence[DType]) -> Spec:
    """The results' specs with the dumped dtypes, because a device may leave a wider one."""
    if isinstance(out, TupleSpec):
        if len(out.items) != len(kinds):
            return out
        return TupleSpec(tuple(_with_dtypes(item, [kind]) for item, kind in zip(out.items, kinds, strict=True)))
    if isinstance(out, TensorSpec) and len(kinds) == 1:
        return TensorSpec(kinds[0], out.shape)
    return out
