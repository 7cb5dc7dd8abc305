"""Launches a fused kernel: its members one after the other; nobody sees the values between them."""

from __future__ import annotations

from typing import Any

from harness.devices import Device
from harness.devices.overflow import STATUS
from harness.framework.compile.fuse import Fusion
from harness.framework.ops.base import Call, Operator
from harness.framework.runtime.launch import Launch
from harness.graph import Const, Node, Spec
from harness.recording.value import Array


class FusedLaunch(Launch):
    """One fused kernel. Each member rounds its result as if it were a kernel of its own."""

    def __init__(self, node: Node, device: Device) -> None:
        fusion: Fusion = node.extra.fusion
        self._parts = tuple(Launch(member, device) for member in fusion.members)
        super().__init__(node, device, _Fused(node.spec))

    def run(self, call: Call, arguments: tuple[Any, ...]) -> tuple[Array, ...]:
        """See ``Launch.run``."""
        values = {id(operand): value for operand, value in zip(self.node.inputs, arguments, strict=True)}
        results: tuple[Array, ...] = ()
        saturated = False
        for part in self._parts:
            given = [i.value if isinstance(i, Const) else values[id(i)] for i in part.node.inputs]
            results = part.run(part.call(given), part.arguments(given))
            saturated = saturated or STATUS.raised
            values[id(part.node)] = results[0]
        STATUS.raised = saturated
        return results


class _Fused(Operator):
    """Stands for the members; a dimension known only when they run stays unknown."""

    name = "fusion"
    functional = False

    def __init__(self, spec: Spec) -> None:
        self._spec = spec

    def infer(self, call: Call) -> Spec:
        return self._spec
