"""The parts of a memory plan: parameters, tensors and nodes of one graph, and the state of the planning.

The words are those of the artefacts MindSpore 2.10.0 writes (``*_somas_*.ir``), which were the source of these rules.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "Common", "Workspace", "OutputOnly", "GraphOutput", "GraphInput", "SummaryInput", "Union", "Control", "Unknown"
]
Lifelong = Literal["None", "GraphAll", "GraphStart", "GraphEnd"]
LIFELONG: tuple[Lifelong, ...] = ("None", "GraphAll", "GraphStart", "GraphEnd")


@dataclass(frozen=True, slots=True)
class PlanParameter:
    """Something a node reads that lies outside the planned memory: a weight, a data input, a constant.

    Attributes:
        index: position among the parameters.
        size: bytes, not aligned.
        name: ``fc.weight``, ``inputs0``, ``Default/data-1``.
        output: which output of its source it is.
    """

    index: int
    size: int
    name: str
    output: int = 0


@dataclass(frozen=True, slots=True)
class PlanTensor:
    """An output or a workspace of a node.

    Attributes:
        index: position among the tensors: outputs, then workspaces, node by node.
        aligned: bytes it takes in the planned memory; 0 for what lies elsewhere.
        size: its own bytes.
        offset: its first byte in the planned memory.
        kind: what it is used as.
        lifelong: whether it lives on before or after its own nodes.
        start, end: its source node and its last consumer.
        node: index of its source node.
    """

    index: int
    aligned: int
    size: int
    offset: int
    kind: Kind
    lifelong: Lifelong
    start: int
    end: int
    node: int


@dataclass(frozen=True, slots=True)
class Source:
    """What a node reads: tensor (``T``) or parameter (``P``) ``index``."""

    sort: Literal["T", "P"]
    index: int


@dataclass(frozen=True, slots=True)
class PlanNode:
    """One kernel.

    Attributes:
        index: position in the execution order.
        name: full name with scope.
        inputs: what it reads, in order.
        outputs, workspaces: indices of its tensors.
        stream: stream it runs on (the CPU reports one for each node).
        communication: it is a collective.
    """

    index: int
    name: str
    inputs: tuple[Source, ...]
    outputs: tuple[int, ...]
    workspaces: tuple[int, ...] = ()
    stream: int = 0
    communication: bool = False

    @property
    def op(self) -> str:
        """``MatMul`` of ``Default/fc-Dense/MatMul-op0``."""
        return self.name.rpartition("/")[2].rpartition("-op")[0]


Span = tuple[int, int]
Group = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class State:
    """One graph as it stands at one stage of planning.

    Attributes:
        parameters, tensors, nodes: each in the order of their indices.
        unions: tensors that are one piece of memory, by the order in which they were found.
        contiguous: tensors that must follow one another without a gap.
        merged: pieces ``(first byte, bytes)`` of planned memory in use, highest first.
        total: bytes of the planned memory.
    """

    parameters: tuple[PlanParameter, ...]
    tensors: tuple[PlanTensor, ...]
    nodes: tuple[PlanNode, ...]
    unions: tuple[Group, ...] = ()
    contiguous: tuple[Group, ...] = ()
    merged: tuple[Span, ...] = ()
    total: int = 0

    def consumers(self) -> list[list[int]]:
        """For each tensor the nodes that read it, in order; its own source where none does."""
        found: list[list[int]] = [[] for _ in self.tensors]
        for node in self.nodes:
            for source in node.inputs:
                if source.sort == "T" and found[source.index][-1:] != [node.index]:
                    found[source.index].append(node.index)
        return [readers or [tensor.node] for readers, tensor in zip(found, self.tensors, strict=True)]
