"""Facts that a device's dump gives about a kernel beside its name: where it ran, and what it was fused from."""

from __future__ import annotations

from typing import NamedTuple

from harness.devices import Device
from harness.framework.compile.fuse import Fusion
from harness.graph import Graph, Node


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


class NodeFacts:
    """The facts of each kernel of a process, found once.

    Args:
        device: device that the networks run on.
    """

    def __init__(self, device: Device) -> None:
        self._streams = device.streams
        # The object is kept with its id, because an id is unique only while its object lives.
        self._places: dict[int, tuple[Graph, dict[int, int]]] = {}
        self._facts: dict[int, tuple[Node, KernelFacts]] = {}

    def of(self, node: Node) -> KernelFacts:
        """The facts about the kernel ``node``."""
        found = self._facts.get(id(node))
        if found is None:
            found = self._facts[id(node)] = (node, self._found(node))
        return found[1]

    def _found(self, node: Node) -> KernelFacts:
        fusion = node.extra.fusion
        members = tuple(member.name for member in fusion.members) if isinstance(fusion, Fusion) else ()
        stream = self._streams.stream_of(node.op, node.attrs)
        return KernelFacts(stream, self._streams.task_of(self._place(node)), node.extra.alone, members)

    def _place(self, node: Node) -> int:
        """Position in its graph's execution order; 0 for a kernel without a graph."""
        graph = node.extra.graph
        if not isinstance(graph, Graph):
            return 0
        known = self._places.get(id(graph))
        if known is None:
            order = {id(each): at for at, each in enumerate(graph.execution_order)}
            known = self._places[id(graph)] = (graph, order)
        return known[1].get(id(node), 0)
