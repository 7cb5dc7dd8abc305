"""Facts that a device's dump gives about a kernel beside its name: where it ran, and what it was fused from."""

from __future__ import annotations

from typing import NamedTuple

from harness.devices import Device
from harness.recording import Operator


class KernelFacts(NamedTuple):
    """The facts about a kernel.

    Attributes:
        stream, task: numbers of the stream and the task it ran in.
        alone: its name without fusion; None if that is its name.
        members: the operators of a fused kernel.
    """

    stream: int
    task: int
    alone: str | None
    members: tuple[str, ...]

    def as_json(self) -> dict[str, int | str | tuple[str, ...]]:
        """The known facts, by name."""
        facts: dict[str, int | str | tuple[str, ...]] = {"stream": self.stream, "task": self.task}
        if self.alone is not None:
            facts["alone"] = self.alone
        if self.members:
            facts["members"] = self.members
        return facts


def facts_of(operator: Operator, device: Device) -> KernelFacts:
    """The facts about ``operator`` on ``device``."""
    stream = device.streams.stream_of(operator.type, operator.attributes)
    members = tuple(each.name for each in operator.parts)
    return KernelFacts(stream, device.streams.task_of(operator.position), operator.unfused, members)
