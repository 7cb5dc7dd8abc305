"""What the dump of a device says of a kernel beside its name: where it ran, and what it was fused from."""

from __future__ import annotations

from typing import Any

from harness.devices import Device
from harness.framework.compile.fuse import Fusion
from harness.graph import Graph, Node


class NodeFacts:
    """The facts of each kernel of a process, found once.

    Args:
        device: what the networks run on.
    """

    def __init__(self, device: Device) -> None:
        self._streams = device.streams
        # What an id stands for is kept with it: an id is a key only while its object lives.
        self._places: dict[int, tuple[Graph, dict[int, int]]] = {}
        self._facts: dict[int, tuple[Node, dict[str, Any]]] = {}

    def of(self, node: Node) -> dict[str, Any]:
        """``stream`` and ``task``; what the kernel would be called ``alone`` where a device fuses kernels, and which
        ``members`` a fused one has."""
        found = self._facts.get(id(node))
        if found is None:
            found = self._facts[id(node)] = (node, self._found(node))
        return found[1]

    def _found(self, node: Node) -> dict[str, Any]:
        facts: dict[str, Any] = {
            "stream": self._streams.stream_of(node.op, node.attrs),
            "task": self._streams.task_of(self._place(node)),
        }
        if "alone" in node.extra:
            facts["alone"] = node.extra["alone"]
        fusion = node.extra.get("fusion")
        if isinstance(fusion, Fusion):
            facts["members"] = tuple(member.name for member in fusion.members)
        return facts

    def _place(self, node: Node) -> int:
        """Position in its graph's execution order; 0 for a kernel of none."""
        graph = node.extra.get("graph")
        if not isinstance(graph, Graph):
            return 0
        known = self._places.get(id(graph))
        if known is None:
            order = {id(each): at for at, each in enumerate(graph.execution_order)}
            known = self._places[id(graph)] = (graph, order)
        return known[1].get(id(node), 0)
