"""Stream and task ids, as file names show them.

Source: the public source of the kernel-by-kernel runtime (compute on stream 0, the world group's collectives on 1,
other groups on streams of their own, Send and Receive on one each); CPU and GPU write 0 (CPU measured). The numbers
above 1 depend on the order in which streams are made and are this emulation's own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.devices.operators import COMMUNICATION, TRANSFER

#: id of an unknown task or stream
UNKNOWN = 65535
COMPUTE, WORLD, SEND, RECEIVE, FIRST_GROUP = range(5)


@dataclass(frozen=True, slots=True)
class Streams:
    """Which streams a device has.

    Attributes:
        separate: collectives and transfers run beside the compute stream 0; otherwise everything is on 0.
        tasks: kernels have task ids of their own (a graph that is sunk as a whole); otherwise the id is 0.
    """

    separate: bool = False
    tasks: bool = False

    def stream_of(self, op: str, attrs: Mapping[str, Any] | None = None, groups: Sequence[str] = ()) -> int:
        """Stream of a kernel.

        Args:
            op: operator name.
            attrs: its attributes; ``group`` names the group of a collective.
            groups: the groups other than the world's, in the order they were made; each has a stream of its own.
        """
        if not self.separate:
            return COMPUTE
        if op in TRANSFER:
            return RECEIVE if op == "Receive" else SEND
        if op not in COMMUNICATION:
            return COMPUTE
        group = str((attrs or {}).get("group", ""))
        return FIRST_GROUP + groups.index(group) if group in groups else WORLD

    def task_of(self, position: int) -> int:
        """Task id of the kernel at ``position`` (from 0) of its graph's execution order."""
        return position + 1 if self.tasks else 0
